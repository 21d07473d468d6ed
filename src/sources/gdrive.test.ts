import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { createRuntime } from "../server/runtime.ts";
import type { Source, Runtime } from "../source.ts";
import { type FakeDrive, startFakeDrive } from "../testing/fakes/gdrive.ts";
import { collectChanges } from "../testing/listen.ts";
import { asking, collect } from "../testing/pages.ts";
import { sourceContract } from "../testing/source-contract.ts";
import { createStoredLogins } from "./gdrive/stored-login.ts";
import gdrive, { type DriveSourceOptions } from "./gdrive.ts";

const call = { caller: { id: "test" }, signal: new AbortController().signal };
const quiet = createRuntime({ write: () => true });
const content = {
  "file/readme": "# Read me\n\nfirst of all\n",
  "file/empty": "",
  "file/Abc-_1": "alpha",
  "file/abc-_1": "beta\r\nwith a second line",
  "file/zz9": "# One\n\nthe needle-in-a-haystack is here\n\n# Two\n",
};

let fake: FakeDrive;
const opened: Source[] = [];
beforeEach(async () => {
  fake = await startFakeDrive();
});
afterEach(async () => {
  for (const source of opened.splice(0)) await source.close?.();
  await fake.close();
});

async function open(options: Partial<DriveSourceOptions> = {}, runtime: Runtime = quiet): Promise<Source> {
  const parsed = gdrive.options(z).parse({ anonymous: true, keep: false, rootUrl: fake.rootUrl });
  const source = await gdrive.open({ ...parsed, pollMs: 20, ...options }, runtime);
  opened.push(source);
  return source;
}

const textAt = async (source: Source, path: string, query?: Record<string, string>) => {
  const parts = await source.read(query ? { path, query } : { path }, call);
  return parts.map(({ body }) => ("text" in body ? body.text : `${body.bytes.length} bytes`));
};
const childrenOf = async (source: Source, path: string, limit = 100) =>
  (await collect((cursor) => source.children!({ path }, asking(limit, cursor), call))).map((entry) => entry.path);
const listed = async (source: Source) =>
  (await collect((cursor) => source.list(asking(2, cursor), call))).map(({ path }) => path);

let files = 0;
sourceContract("gdrive", {
  abilities: ["stat", "children", "templates", "complete", "watch"],
  content,
  async open() {
    for (const [path, text] of Object.entries(content)) {
      const id = path.slice("file/".length);
      if (text.startsWith("#")) fake.document(id, text, { name: `Title of ${id}` });
      else fake.put(id, { content: text, name: `${id}.txt` });
    }
    return open();
  },
  remove: (path) => fake.remove(path.slice("file/".length)),
  change() {
    files += 1;
    fake.put(`watched${files}`, { content: "new" });
    return [{ kind: "appeared", path: `file/watched${files}` }];
  },
  expansions: [
    { at: { path: "file/abc-_1", query: { lines: "2-2" } }, text: "with a second line" },
    { at: { path: "file/zz9", query: { format: "text", lines: "1-1" } }, text: "# One\n" },
  ],
  completions: [
    { template: "file/{id}{?format,sheet,lines,bytes,as}", variable: "id", value: "title of z", expected: "zz9" },
    { template: "file/{id}{?format,sheet,lines,bytes,as}", variable: "format", value: "mark", expected: "markdown" },
    { template: "search{?q}", variable: "q", value: "title of r", expected: "Title of readme" },
  ],
});

describe("folders", () => {
  it("are directories, reached from My Drive and from each shared drive", async () => {
    fake.folder("plans", "Plans");
    fake.document("doc1", "one", { name: "One", parent: "plans" });
    fake.addDrive("team-1", "The team");
    fake.document("doc2", "two", { name: "Two", driveId: "team-1", parent: "team-1" });
    const source = await open();
    expect(await childrenOf(source, "")).toEqual(["file", "folder"]);
    expect(await childrenOf(source, "folder")).toEqual(["folder/root-folder-0", "folder/team-1"]);
    expect(await childrenOf(source, "folder/root-folder-0")).toEqual(["folder/plans"]);
    expect(await childrenOf(source, "folder/plans", 1)).toEqual(["file/doc1"]);
    expect(await childrenOf(source, "folder/team-1")).toEqual(["file/doc2"]);
    expect(await source.stat!({ path: "folder/plans" }, call)).toMatchObject({
      title: "Plans",
      mimeType: "inode/directory",
    });
    await expect(source.read({ path: "folder/plans" }, call)).rejects.toMatchObject({ kind: "directory" });
    expect(await listed(source)).toEqual(["file/doc1", "file/doc2"]);
  });

  it("contain the targets of their shortcuts, once, and no cycle", async () => {
    fake.folder("a", "A");
    fake.folder("b", "B", { parent: "a" });
    const shortcut = "application/vnd.google-apps.shortcut";
    fake.document("doc", "text", { parent: "b" });
    fake.put("s1", { mimeType: shortcut, target: "doc", parent: "a" });
    fake.put("s2", { mimeType: shortcut, target: "doc", parent: "b" });
    fake.put("s3", { mimeType: shortcut, target: "a", parent: "b" });
    fake.put("s4", { mimeType: shortcut, target: "b", parent: "root-folder-0" });
    fake.put("s5", { mimeType: shortcut, target: "not-ours", parent: "a" });
    fake.put("not-ours", { content: "x", owner: "someone@example.org" });
    const source = await open();
    expect(await childrenOf(source, "folder/a")).toEqual(["file/doc", "folder/b"]);
    expect(await childrenOf(source, "folder/b")).toEqual(["file/doc"]);
    expect(await childrenOf(source, "folder/root-folder-0")).toEqual(["folder/a", "folder/b"]);
    expect(await listed(source)).toEqual(["file/doc"]);
    expect(await textAt(source, "file/s1")).toEqual(["text"]);
    expect(await source.stat!({ path: "file/s1" }, call)).toMatchObject({
      path: "file/s1",
      reveals: { path: "file/doc" },
    });
    await expect(source.read({ path: "file/s5" }, call)).rejects.toMatchObject({ kind: "not-found" });
    const heard = collectChanges(await source.watch!(call));
    fake.put("s6", { mimeType: shortcut, target: "doc", parent: "root-folder-0" });
    await heard.until(
      (change) => change.kind === "appeared" && change.path === "folder/root-folder-0/s6",
      "where it is",
    );
    expect(heard.heard).toHaveLength(1);
  });

  it("limit what is served if configured, also when files move in and out", async () => {
    fake.folder("in", "In");
    fake.folder("deep", "Deep", { parent: "in" });
    fake.document("doc1", "one", { parent: "deep" });
    fake.document("doc2", "two");
    const source = await open({ folders: ["in"] });
    expect(await listed(source)).toEqual(["file/doc1"]);
    expect(await childrenOf(source, "folder")).toEqual(["folder/in"]);
    for (const path of ["file/doc2", "folder/root-folder-0"])
      for (const request of [() => source.read({ path }, call), () => source.stat!({ path }, call)])
        await expect(request()).rejects.toMatchObject({ kind: "not-found" });
    const heard = collectChanges(await source.watch!(call));
    fake.put("doc2", { parent: "deep" });
    await heard.until((change) => change.kind === "appeared" && change.path === "file/doc2", "that it moved in");
    fake.put("deep", { parent: "root-folder-0" });
    await heard.until((change) => change.kind === "gone" && change.path === "file/doc1", "that it moved out");
    expect(await listed(source)).toEqual([]);
  });
});

describe("a document", () => {
  it("keeps its address when it is renamed or moved", async () => {
    fake.folder("f", "F");
    fake.document("doc", "# Plan\n", { name: "Draft" });
    const source = await open();
    expect(await source.stat!({ path: "file/doc" }, call)).toMatchObject({ title: "Draft" });
    const heard = collectChanges(await source.watch!(call));
    fake.put("doc", { name: "Final", parent: "f" });
    await heard.until((change) => change.kind === "changed" && change.path === "file/doc", "that it changed");
    await heard.until((change) => change.kind === "appeared" && change.path === "folder/f/doc", "where it is now");
    await heard.until((change) => change.kind === "gone" && change.path === "folder/root-folder-0/doc", "where it was");
    expect(await source.stat!({ path: "file/doc" }, call)).toMatchObject({ title: "Final" });
    expect((await source.list({ limit: 9 }, call)).items).toMatchObject([{ path: "file/doc", title: "Final" }]);
    expect(heard.heard).not.toContainEqual({ kind: "gone", path: "file/doc" });
  });

  it("appears, changes and disappears while it is watched", async () => {
    fake.put("old", { content: "1" });
    const source = await open();
    const first = collectChanges(await source.watch!(call));
    const second = collectChanges(await source.watch!(call));
    fake.put("new", { content: "1" });
    fake.put("old", { content: "2" });
    for (const heard of [first, second]) {
      await heard.until((change) => change.kind === "appeared" && change.path === "file/new", "what appeared");
      await heard.until((change) => change.kind === "changed" && change.path === "file/old", "what changed");
    }
    const before = (await source.stat!({ path: "file/old" }, call)).version;
    fake.put("old", { content: "3" });
    expect((await source.stat!({ path: "file/old" }, call)).version).not.toBe(before);
    fake.trash("new");
    await first.until((change) => change.kind === "gone" && change.path === "file/new", "what is gone");
    await expect(source.stat!({ path: "file/new" }, call)).rejects.toMatchObject({ kind: "not-found" });
  });
});

describe("the account", () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-gdrive-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("can be a service account with its own key", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const email = "reader@example.iam.gserviceaccount.com";
    const keyFile = join(folder, "key.json");
    const key = privateKey.export({ type: "pkcs8", format: "pem" });
    writeFileSync(
      keyFile,
      JSON.stringify({ type: "service_account", client_email: email, private_key: key, private_key_id: "1" }),
    );
    fake.needsToken = true;
    fake.document("own", "x", { owner: email });
    fake.document("shared", "x", { permissions: [{ type: "user", emailAddress: email }] });
    fake.document("not-shared", "x");
    expect(await listed(await open({ anonymous: false, keyFile }))).toEqual(["file/own", "file/shared"]);
  });

  it("stays the same while a mount is open, whoever else signs in, and each has its own cache", async () => {
    vi.stubEnv("XDG_STATE_HOME", folder);
    vi.stubEnv("XDG_CACHE_HOME", folder);
    vi.stubEnv("HOME", folder);
    // Without a keychain.
    vi.stubEnv("PATH", "");
    try {
      const logins = createStoredLogins(process.env);
      const login = { clientId: "client", refreshToken: "refresh", rootUrl: fake.rootUrl };
      const stored = () => readdirSync(join(folder, "pressmark", "gdrive")).filter((name) => name.endsWith(".sqlite"));
      await logins.keep({ ...login, email: "one@example.org" });
      const first = await open({ anonymous: false, keep: true });
      await logins.keep({ ...login, email: "two@example.org" });
      await logins.forget("one@example.org");
      await expect(first.list({ limit: 1 }, call)).rejects.toMatchObject({
        message: expect.stringContaining("one@example.org") as string,
      });
      expect(stored()).toHaveLength(1);
      await open({ anonymous: false, keep: true });
      expect(stored()).toHaveLength(2);
      for (const source of opened.splice(0)) await source.close?.();
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("sends credentials to Google and to this machine, and nowhere else", async () => {
    for (const rootUrl of [
      "https://evil.example/",
      "http://www.googleapis.com/",
      "https://www.googleapis.com.evil.example/",
      "https://evilgoogleapis.com/",
    ])
      await expect(open({ anonymous: false, rootUrl }), rootUrl).rejects.toMatchObject({ kind: "invalid" });
    await open({ anonymous: false, rootUrl: "https://www.googleapis.com/" });
  });
});

it("opens without a request, even if Drive cannot be reached", async () => {
  const source = await open({ rootUrl: "http://127.0.0.1:1/" });
  expect(fake.asked).toEqual([]);
  await source.close?.();
});

it("reports soon that Drive is unavailable, immediately if known, and continues by itself when it is back", async () => {
  fake.document("a", "x");
  const back = Promise.withResolvers<void>();
  let waits = 0;
  const wait = async (): Promise<void> => ((waits += 1) > 2 ? back.promise : undefined);
  const source = await open({}, { ...quiet, wait });
  fake.fail(503, { times: 3 });
  const away = { kind: "unavailable", message: expect.stringContaining("503") as string };
  await expect(source.list({ limit: 9 }, call)).rejects.toMatchObject(away);
  await expect(source.list({ limit: 9 }, call)).rejects.toMatchObject(away);
  expect(fake.asked).toHaveLength(3);
  back.resolve();
  while (!fake.asked.some((line) => line.startsWith("GET /drive/v3/changes?")))
    await new Promise((resolve) => setImmediate(resolve));
  expect(await listed(source)).toEqual(["file/a"]);
});

it("stores its state for its owner only, and continues from it after a start", async () => {
  const cache = mkdtempSync(join(tmpdir(), "pressmark-gdrive-"));
  vi.stubEnv("XDG_CACHE_HOME", cache);
  try {
    fake.document("a", "x");
    const first = await open({ keep: true });
    expect(await listed(first)).toEqual(["file/a"]);
    await first.close?.();
    fake.document("b", "x");
    const before = fake.asked.length;
    expect(await listed(await open({ keep: true }))).toEqual(["file/a", "file/b"]);
    expect(fake.asked.slice(before).filter((line) => line.startsWith("GET /drive/v3/files"))).toEqual([]);
    const stored = readdirSync(join(cache, "pressmark", "gdrive"));
    expect(stored.filter((name) => name.endsWith(".sqlite"))).toHaveLength(1);
    for (const name of stored) expect(statSync(join(cache, "pressmark", "gdrive", name)).mode & 0o077, name).toBe(0);
    for (const source of opened.splice(0)) await source.close?.();

    const file = join(
      cache,
      "pressmark",
      "gdrive",
      stored.find((name) => name.endsWith(".sqlite"))!,
    );
    const reopened = async () => {
      const source = await open({ keep: true });
      return listed(source).finally(() => source.close?.());
    };
    const whole = readFileSync(file);
    writeFileSync(file, "no database at all".repeat(1000));
    expect(await reopened(), "after it was replaced").toEqual(["file/a", "file/b"]);
    // All but the schema.
    writeFileSync(file, Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096, 0xee)]));
    await expect(reopened(), "while it is broken").rejects.toMatchObject({ kind: "unavailable" });
    expect(await reopened(), "after it was broken").toEqual(["file/a", "file/b"]);
  } finally {
    vi.unstubAllEnvs();
    rmSync(cache, { recursive: true, force: true });
  }
});
