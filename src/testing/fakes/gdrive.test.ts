import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { project } from "./gdrive/fields.ts";
import { parseDriveQuery, type QueriedFile } from "./gdrive/query.ts";
import { type FakeDrive, startFakeDrive } from "./gdrive.ts";

let fake: FakeDrive;
beforeEach(async () => {
  fake = await startFakeDrive();
});
afterEach(() => fake.close());

type Said = Record<string, unknown> & {
  readonly files?: Said[];
  readonly changes?: Said[];
  readonly nextPageToken?: string;
  readonly newStartPageToken?: string;
  readonly error?: { readonly errors: readonly { readonly reason: string }[] };
};

async function request(path: string, query: Record<string, string> = {}, init: RequestInit = {}) {
  const response = await fetch(`${fake.rootUrl}drive/v3/${path}?${new URLSearchParams(query)}`, init);
  const text = await response.text();
  return { status: response.status, text, json: (text.startsWith("{") ? JSON.parse(text) : {}) as Said };
}

const everywhere = { supportsAllDrives: "true", includeItemsFromAllDrives: "true" };
const startToken = async (query: Record<string, string> = {}) =>
  String((await request("changes/startPageToken", query)).json["startPageToken"]);

describe("fields", () => {
  it.each([
    ["a", { a: { b: 1, c: 2 } }],
    ["a(b)", { a: { b: 1 } }],
    ["a/b,e", { a: { b: 1 }, e: 5 }],
    ["d(x)", { d: [{ x: 1 }, { x: 2 }] }],
    [
      "*",
      {
        a: { b: 1, c: 2 },
        d: [
          { x: 1, y: 1 },
          { x: 2, y: 2 },
        ],
        e: 5,
      },
    ],
    ["a(*)", { a: { b: 1, c: 2 } }],
    ["a(b", undefined],
    ["a)", undefined],
    ["", undefined],
  ])("%s selects what it names", (fields, expected) => {
    const value = {
      a: { b: 1, c: 2 },
      d: [
        { x: 1, y: 1 },
        { x: 2, y: 2 },
      ],
      e: 5,
    };
    expect(project(value, fields)).toEqual(expected);
  });

  it("that are not requested are not returned", async () => {
    fake.document("d", "x");
    expect((await request("files/d")).json).toEqual({
      kind: "drive#file",
      id: "d",
      name: "d",
      mimeType: "application/vnd.google-apps.document",
    });
    expect((await request("files/d", { fields: "version,size" })).json).toEqual({ version: "1" });
    expect((await request("files/d", { fields: "version(" })).status).toBe(400);
  });
});

describe("a query", () => {
  const file: QueriedFile = {
    name: "Annual Plan",
    mimeType: "text/plain",
    text: "it's here",
    trashed: false,
    modifiedTime: "2026-01-02T00:00:00Z",
    parents: ["p"],
    owners: ["me@example.org"],
  };
  it.each([
    ["trashed = false", true],
    ["trashed = true", false],
    ["name contains 'pla'", true],
    ["name contains 'lan'", false],
    ["fullText contains 'it\\'s'", true],
    ["'p' in parents and 'me' in owners", true],
    ["'p' in parents and not 'me' in owners", false],
    ["not (trashed = true or mimeType = 'text/plain')", false],
    ["mimeType != 'text/html' and modifiedTime > '2026-01-01'", true],
    ["name", undefined],
    ["name contains", undefined],
    ["name contains 'x' name", undefined],
    ["name ~ 'x'", undefined],
    ["(trashed = false", undefined],
    ["name contains 'x", undefined],
  ])("%s", (q, expected) => {
    expect(parseDriveQuery(q, "me@example.org")?.(file)).toBe(expected);
  });
});

describe("lists", () => {
  it("continue by opaque tokens that expire", async () => {
    for (const id of ["a", "b", "c"]) fake.put(id, { content: id });
    const first = (await request("files", { pageSize: "2", fields: "files(id),nextPageToken" })).json;
    const rest = (
      await request("files", { pageSize: "2", pageToken: first.nextPageToken!, fields: "files(id),nextPageToken" })
    ).json;
    expect([first.files, rest.files]).toEqual([[{ id: "c" }, { id: "b" }], [{ id: "a" }]]);
    expect(rest.nextPageToken).toBeUndefined();
    fake.expireLists();
    expect((await request("files", { pageToken: first.nextPageToken! })).status).toBe(400);
    expect((await request("files", { pageSize: "1001" })).status).toBe(400);
    expect((await request("files", { q: "nonsense" })).status).toBe(400);
  });

  it("contain files of shared drives only on request", async () => {
    fake.addDrive("team", "Team");
    fake.put("t", { content: "x", driveId: "team" });
    fake.put("m", { content: "x" });
    const ids = async (query: Record<string, string>) =>
      (await request("files", query)).json.files?.map(({ id }) => id);
    expect(await ids({})).toEqual(["m"]);
    expect(await ids({ corpora: "drive", driveId: "team" })).toEqual([]);
    expect(await ids({ corpora: "drive", driveId: "team", ...everywhere })).toEqual(["t"]);
    expect(await ids({ corpora: "allDrives", ...everywhere })).toEqual(["t", "m"]);
    expect((await request("files", { corpora: "drive", driveId: "none", ...everywhere })).status).toBe(404);
    expect((await request("files/t")).status).toBe(404);
    expect((await request("files/t", { supportsAllDrives: "true" })).status).toBe(200);
  });

  it("and changes contain files shared with an account from a drive that it is not a member of", async () => {
    const permissions = [{ type: "user", emailAddress: fake.owner }] as const;
    fake.addDrive("foreign", "Foreign", ["x@example.org"]);
    const pageToken = await startToken();
    fake.put("shared", { content: "x", driveId: "foreign", permissions });
    const listed = await request("files", { fields: "files(id,driveId)", ...everywhere });
    expect(listed.json.files).toEqual([{ id: "shared", driveId: "foreign" }]);
    const reported = { pageToken, fields: "changes(fileId,removed)", includeCorpusRemovals: "true", ...everywhere };
    expect((await request("changes", reported)).json.changes).toEqual([{ fileId: "shared", removed: false }]);
    fake.put("shared", { permissions: [] });
    expect((await request("changes", reported)).json.changes).toEqual([{ fileId: "shared", removed: true }]);
  });

  it("are separate for each account", async () => {
    fake.put("mine", { content: "x" });
    fake.put("theirs", { content: "x", owner: "other@example.org" });
    fake.put("shared", {
      content: "x",
      owner: "other@example.org",
      permissions: [{ type: "user", emailAddress: fake.owner }],
    });
    expect((await request("files")).json.files?.map(({ id }) => id)).toEqual(["shared", "mine"]);
    expect((await request("files/theirs")).json.error?.errors[0]?.reason).toBe("notFound");
    expect((await request("files/shared", { fields: "permissions" })).json).toEqual({});
    expect((await request("files/mine", { fields: "permissions" })).json).toEqual({
      permissions: [{ type: "user", emailAddress: fake.owner }],
    });
    expect((await request("files/shared/permissions")).status).toBe(403);
  });
});

describe("changes", () => {
  it("report each file once, in its current state, and versions only grow", async () => {
    const pageToken = await startToken();
    fake.put("a", { content: "1" });
    fake.put("a", { content: "2" });
    fake.put("b", { content: "1" });
    fake.remove("b");
    fake.put("a", { name: "renamed" });
    const { json } = await request("changes", {
      pageToken,
      fields: "changes(fileId,removed,file(name,version)),newStartPageToken",
    });
    expect(json.changes).toEqual([
      { fileId: "b", removed: true },
      { fileId: "a", removed: false, file: { name: "renamed", version: "3" } },
    ]);
    expect((await request("changes", { pageToken: json.newStartPageToken! })).json.changes).toEqual([]);
    // Tokens of changes do not expire.
    expect((await request("changes", { pageToken })).json.changes).toHaveLength(2);
    expect((await request("changes", { pageToken: "made-up" })).status).toBe(400);
  });

  it("come page by page, and each shared drive has its own", async () => {
    fake.addDrive("team", "Team");
    const [own, team] = [await startToken(), await startToken({ driveId: "team" })];
    for (const id of ["a", "b", "c"]) fake.put(id, { content: id });
    fake.put("t", { content: "x", driveId: "team" });
    const first = (await request("changes", { pageToken: own, pageSize: "2" })).json;
    expect([first.changes?.length, first.newStartPageToken]).toEqual([2, undefined]);
    expect(
      (await request("changes", { pageToken: first.nextPageToken! })).json.changes?.map(({ fileId }) => fileId),
    ).toEqual(["c"]);
    expect(
      (await request("changes", { pageToken: team, driveId: "team" })).json.changes?.map(({ fileId }) => fileId),
    ).toEqual(["t"]);
    expect((await request("changes", { pageToken: own, driveId: "team" })).status).toBe(400);
    fake.put("t", { driveId: undefined, parent: "x" });
    const left = (await request("changes", { pageToken: team, driveId: "team" })).json.changes;
    expect(left).toMatchObject([{ fileId: "t", removed: true }]);
  });
});

describe("content", () => {
  it("is read completely, by ranges, and exported up to a limit", async () => {
    fake.put("n", { content: "0123456789" });
    fake.document("d", "# Larger than ten");
    expect((await request("files/n", { alt: "media" }, { headers: { Range: "bytes=2-4" } })).text).toBe("234");
    expect((await request("files/n", { alt: "media" }, { headers: { Range: "bytes=10-" } })).status).toBe(416);
    expect((await request("files/n", { fields: "size,md5Checksum" })).json).toEqual({
      size: "10",
      md5Checksum: createHash("md5").update("0123456789").digest("hex"),
    });
    expect((await request("files/d/export", { mimeType: "text/markdown" })).text).toBe("# Larger than ten");
    expect((await request("files/d/export", { mimeType: "image/png" })).status).toBe(400);
    expect((await request("files/d", { alt: "media" })).json.error?.errors[0]?.reason).toBe("fileNotDownloadable");
    fake.exportLimit = 10;
    const refused = await request("files/d/export", { mimeType: "text/markdown" });
    expect([refused.status, refused.json.error?.errors[0]?.reason]).toEqual([403, "exportSizeLimitExceeded"]);
    const { name } = (await request("files/d/download", { mimeType: "text/markdown" }, { method: "POST" })).json;
    expect((await request(`operations/${name}`)).json["done"]).toBe(false);
    const { response } = (await request(`operations/${name}`)).json as { response?: { downloadUri: string } };
    expect(await (await fetch(response!.downloadUri)).text()).toBe("# Larger than ten");
  });

  it("that may not be downloaded is denied", async () => {
    fake.put("n", { content: "x", canDownload: false });
    expect((await request("files/n", { alt: "media" })).json.error?.errors[0]?.reason).toBe("cannotDownloadFile");
    expect((await request("files/n", { fields: "capabilities(canDownload)" })).json).toEqual({
      capabilities: { canDownload: false },
    });
  });
});

it("fails on request, as often and where configured", async () => {
  fake.put("a", { content: "x" });
  fake.fail([403, "userRateLimitExceeded"], { times: 2, where: "/files" });
  expect((await request("about")).status).toBe(200);
  expect((await request("files/a")).json.error?.errors[0]?.reason).toBe("userRateLimitExceeded");
  expect((await request("files/a")).status).toBe(403);
  expect((await request("files/a")).status).toBe(200);
});

describe("calls", () => {
  it("report that a channel is open, then that something changed; some are lost, doubled or late", async () => {
    const heard: string[] = [];
    const server = createServer(({ headers }, response) => {
      heard.push(`${String(headers["x-goog-resource-state"])} ${String(headers["x-goog-channel-token"])}`);
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const body = JSON.stringify({ id: "c1", token: "t1", type: "web_hook", address });
    const opened = await request("changes/watch", { pageToken: await startToken() }, { method: "POST", body });
    expect(opened.json).toMatchObject({ id: "c1", resourceId: expect.any(String) as string });
    fake.put("a", { content: "1" });
    await fake.webhooks.settled();
    expect(heard).toEqual(["sync t1", "change t1"]);
    fake.webhooks.treat("drop");
    fake.put("a", { content: "2" });
    fake.webhooks.treat("twice");
    fake.put("a", { content: "3" });
    await fake.webhooks.settled();
    expect(heard).toHaveLength(4);
    const stop = { method: "POST", body: JSON.stringify({ id: "c1", resourceId: opened.json["resourceId"] }) };
    expect((await request("channels/stop", {}, stop)).status).toBe(204);
    expect((await request("channels/stop", {}, stop)).status).toBe(404);
    fake.put("a", { content: "4" });
    await fake.webhooks.settled();
    expect(heard).toHaveLength(4);
    server.close();
    server.closeAllConnections();
  });
});

const agree = async (query: Record<string, string>) =>
  fetch(`${fake.rootUrl}o/oauth2/v2/auth?${new URLSearchParams(query)}`, { redirect: "manual" });
const token = async (form: Record<string, string>) =>
  fetch(`${fake.rootUrl}token`, { method: "POST", body: new URLSearchParams(form) });

describe("signing in", () => {
  const verifier = "a-verifier-that-is-long-enough-to-be-one";
  const requested = {
    client_id: "c",
    redirect_uri: "http://127.0.0.1:9/",
    state: "s",
    code_challenge_method: "S256",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
  };
  it("accepts a code once, with the matching verifier, and returns revocable tokens", async () => {
    const to = new URL((await agree(requested)).headers.get("Location")!);
    expect(to.searchParams.get("state")).toBe("s");
    const form = {
      grant_type: "authorization_code",
      code: to.searchParams.get("code")!,
      redirect_uri: requested.redirect_uri,
      client_id: "c",
    };
    expect((await token({ ...form, code_verifier: "another" })).status).toBe(400);
    expect((await token({ ...form, code_verifier: verifier })).status).toBe(400);
    const code = new URL((await agree(requested)).headers.get("Location")!).searchParams.get("code")!;
    const given = (await (await token({ ...form, code, code_verifier: verifier })).json()) as Record<string, string>;
    fake.needsToken = true;
    const about = (access: string) => request("about", {}, { headers: { Authorization: `Bearer ${access}` } });
    expect((await about(given["access_token"]!)).status).toBe(200);
    expect((await about("made-up")).status).toBe(401);
    expect((await request("about")).status).toBe(401);
    const refresh = { grant_type: "refresh_token", refresh_token: given["refresh_token"]! };
    expect((await token(refresh)).status).toBe(200);
    const revoked = await fetch(`${fake.rootUrl}revoke`, {
      method: "POST",
      body: new URLSearchParams({ token: given["refresh_token"]! }),
    });
    expect(revoked.status).toBe(200);
    expect((await token(refresh)).status).toBe(400);
  });

  it("redirects only to this machine, and not without a challenge", async () => {
    expect((await agree({ ...requested, redirect_uri: "https://evil.example/" })).status).toBe(400);
    expect((await agree({ ...requested, code_challenge: "" })).status).toBe(400);
  });
});
