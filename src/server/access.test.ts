/** Named callers and rules, as `pressmark serve` applies them. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { connect } from "../client/connect.ts";
import type { Call, Resources } from "../resources.ts";
import { type AuditEntry, auditFolder, readAuditLog } from "./audit-log.ts";
import { type HttpServer, startHttp } from "./start-http.ts";
import { createTokenStore } from "./token-store.ts";

const ownerToken = "0123456789abcdef0123456789abcdef";
const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };

let root: string;
let folder: string;
let env: Record<string, string>;
let server: HttpServer | undefined;
const logged: string[] = [];
const open: { close(): Promise<void> }[] = [];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-who-")));
  folder = join(root, "team");
  env = { HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") };
  write("public/手順.md", "# 手順\nkettle\n");
  write("secrets/key.md", "# Key\nkettle\n");
  write("README.md", "# Team\nkettle\n");
  logged.length = 0;
});

afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
  await server?.close();
  server = undefined;
  rmSync(root, { recursive: true, force: true });
});

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

function configure(text: string, mounts = "  files: { source: file, root: . }\n"): void {
  write("pressmark.yaml", `mounts:\n${mounts}${text}`);
}

async function serve(): Promise<HttpServer> {
  server = await startHttp({
    folders: [],
    config: join(folder, "pressmark.yaml"),
    from: folder,
    env,
    err: { write: (line: string) => Boolean(logged.push(line)) },
    allowedHosts: [],
    version: "1",
    port: 0,
  });
  return server;
}

const tokens = () => createTokenStore(join(root, "state", "pressmark"), join(folder, "pressmark.yaml"));
const createToken = async (caller: string, expires?: number) =>
  (await tokens().create(caller, Date.now(), expires)).token;

async function as(token: string): Promise<Resources> {
  const client = await connect(server!.url, { headers: { Authorization: `Bearer ${token}` } });
  open.push(client);
  return client;
}

async function listed(resources: Resources): Promise<string[]> {
  const { items } = await resources.list({}, call);
  return items
    .map(({ uri }) => decodeURI(uri).replace(`${pathToFileURL(folder).href}/`, ""))
    .filter((uri) => !/^(?:set|ui|pressmark):/.test(uri));
}

const team = `callers:
  aki: { groups: [support] }
  bo: {}
server: { token: "${ownerToken}" }
`;

async function metricsFor(token: string): Promise<number> {
  return (await fetch(new URL("/metrics", server!.url), { headers: { Authorization: `Bearer ${token}` } })).status;
}

function git(...words: readonly string[]): void {
  execFileSync("git", ["-c", "user.name=T", "-c", "user.email=t@example.org", ...words], { cwd: folder });
}

async function readable(resources: Resources, uri: string): Promise<boolean> {
  return resources.read(uri, call).then(
    () => true,
    () => false,
  );
}

describe("a server with named callers and rules", () => {
  it("shows each caller what the rules allow, in lists, reads and searches", async () => {
    configure(`${team}rules:
  - { allow: ["group:support"], mounts: [files], paths: [public] }
`);
    await serve();
    const aki = await as(await createToken("aki"));
    const bo = await as(await createToken("bo"));
    const owner = await as(ownerToken);
    expect([await metricsFor(ownerToken), await metricsFor(await createToken("aki"))]).toEqual([200, 404]);
    expect(await listed(aki)).toEqual(["public/手順.md"]);
    expect(await listed(bo)).toEqual([]);
    expect(await listed(owner)).toEqual(["README.md", "pressmark.yaml", "public/手順.md", "secrets/key.md"]);
    const secret = pathToFileURL(join(folder, "secrets/key.md")).href;
    expect((await owner.read(secret, call)).contents).toHaveLength(1);
    for (const spelling of [secret, secret.replace("secrets", "%73ecrets")])
      await expect(aki.read(spelling, call)).rejects.toMatchObject({ kind: "not-found" });
    await vi.waitFor(
      async () => expect((await owner.search({ text: "kettle", limit: 9 }, call)).hits).toHaveLength(3),
      { timeout: 15_000, interval: 100 },
    );
    expect((await aki.search({ text: "kettle", limit: 9 }, call)).hits.map(({ resource }) => resource.name)).toEqual([
      "手順.md",
    ]);
    // Who sees no mount is offered no tools.
    await expect(bo.search({ text: "kettle", limit: 9 }, call)).rejects.toMatchObject({ kind: "unsupported" });
  });

  it("applies a rule about files to the history of the folder too", async () => {
    git("init", "-q");
    git("add", "-A");
    git("commit", "-qm", "first");
    const mounts = "  files: { source: file, root: . }\n  history: { source: git, root: . }\n";
    const allowed = `${team}rules:\n  - { allow: ["group:support"] }\n`;
    const closed = `${allowed}  - { deny: ["caller:aki"], files: [secrets] }\n`;
    configure(closed, mounts);
    await serve();
    const aki = await as(await createToken("aki"));
    const owner = await as(ownerToken);
    const uris = ["blob/HEAD/README.md", "blob/HEAD/secrets/key.md", "blame/HEAD/secrets/key.md", "commit/HEAD", "log"];
    const of = (resources: Resources) => Promise.all(uris.map((uri) => readable(resources, `git://history/${uri}`)));
    expect(await of(owner)).toEqual([true, true, true, true, true]);
    expect(await of(aki)).toEqual([true, false, false, true, true]);
    expect(await listed(aki)).not.toContain("secrets/key.md");
    const commit = async () => JSON.stringify(await aki.read("git://history/commit/HEAD", call));
    expect(await commit()).toContain("[message not shown]");
    expect(await commit()).not.toContain("secrets");
    for (const [rules, text] of [
      [allowed, "secrets/key.md"],
      [closed, "[message not shown]"],
    ] as const) {
      configure(rules, mounts);
      await vi.waitFor(async () => expect(await commit()).toContain(text), { timeout: 15_000, interval: 100 });
    }
  });

  it("lets a caller enter the mounts over files that a rule allows", async () => {
    configure(`${team}rules:
  - { allow: ["group:support"], files: [public] }
`);
    await serve();
    const aki = await as(await createToken("aki"));
    expect(await listed(aki)).toEqual(["public/手順.md"]);
    await vi.waitFor(async () => expect((await aki.search({ text: "kettle", limit: 9 }, call)).hits).toHaveLength(1), {
      timeout: 15_000,
      interval: 100,
    });
    const { items } = await aki.children(pathToFileURL(folder).href, {}, call);
    expect(items.map(({ name }) => name)).toEqual(["public"]);
  });

  it("follows a changed rule, and ends a listen of a revoked token", async () => {
    configure(`${team}rules:
  - { allow: ["group:support"] }
`);
    await serve();
    const aki = await as(await createToken("aki"));
    expect(await listed(aki)).toContain("secrets/key.md");
    configure(`${team}rules:
  - { allow: ["group:support"] }
  - { deny: [anyone], paths: [secrets] }
`);
    await vi.waitFor(async () => expect(await listed(aki)).not.toContain("secrets/key.md"), {
      timeout: 15_000,
      interval: 50,
    });
    await tokens().revoke("aki");
    await vi.waitFor(async () =>
      expect((await fetch(server!.url, { method: "POST", headers: { Authorization: "Bearer x" } })).status).toBe(401),
    );
    await vi.waitFor(async () => await expect(listed(aki)).rejects.toBeDefined(), { timeout: 15_000, interval: 50 });
  });

  it("tells people and hosts the public URL, and no token where they can sign in", async () => {
    configure(`server: { token: "${ownerToken}", publicUrl: "https://team.example.com/pressmark/" }\n`);
    const { forHosts, invite } = await serve();
    expect(forHosts).toEqual({
      url: "https://team.example.com/pressmark/mcp",
      tokenVariable: "PRESSMARK_TOKEN",
    });
    expect(invite()).toMatch(/^https:\/\/team\.example\.com\/pressmark\/\?code=/);
    await server!.close();
    configure('server: { publicUrl: "https://team.example.com", auth: [{ issuer: "https://id.example.com" }] }\n');
    expect((await serve()).forHosts).toEqual({ url: "https://team.example.com/mcp", tokenVariable: undefined });
  });

  it("refuses a token whose file was removed", async () => {
    configure(`${team}rules: [{ allow: [anyone] }]\n`);
    await serve();
    const aki = await as(await createToken("aki"));
    expect(await listed(aki)).toContain("README.md");
    rmSync(tokens().file);
    await vi.waitFor(async () => await expect(listed(aki)).rejects.toBeDefined(), { timeout: 15_000, interval: 50 });
  });

  it("ends an open stream when its token expires", async () => {
    configure(`${team}rules: [{ allow: [anyone] }]\n`);
    await serve();
    const token = await createToken("aki", Date.now() + 1500);
    const headers = { Authorization: `Bearer ${token}`, Accept: "text/event-stream" };
    const stream = await fetch(new URL("/sse", server!.url), { headers });
    expect(stream.status).toBe(200);
    const reading = (async () => {
      for await (const _piece of stream.body!);
    })();
    await reading.catch(() => undefined);
    expect((await fetch(new URL("/sse", server!.url), { headers })).status).toBe(401);
  });

  it("refuses whoever has no token", async () => {
    configure(`callers: { aki: {} }\n`);
    await serve();
    expect((await fetch(server!.url, { method: "POST" })).status).toBe(401);
    const wellKnown = await fetch(new URL("/.well-known/oauth-protected-resource", server!.url));
    expect([wellKnown.status, wellKnown.headers.get("content-type")]).toEqual([404, "application/json"]);
    expect(await listed(await as(await createToken("aki")))).toContain("README.md");
  });

  it("lets a person sign in on the page with a token", async () => {
    configure(`${team}`);
    await serve();
    const page = await fetch(server!.url.replace("/mcp", "/"), { headers: { Accept: "text/html" } });
    // With "no-referrer" a browser would send the form with "Origin: null", which is refused.
    expect([page.status, page.headers.get("referrer-policy")]).toEqual([401, "same-origin"]);
    const body = new URLSearchParams({ token: await createToken("aki") });
    const origin = new URL(server!.url).origin;
    const refused = await fetch(new URL("/sign-in", origin), {
      method: "POST",
      body: new URLSearchParams({ token: "no" }),
      redirect: "manual",
      headers: { Origin: origin },
    });
    expect(refused.status).toBe(401);
    const entered = await fetch(new URL("/sign-in", origin), {
      method: "POST",
      body,
      redirect: "manual",
      headers: { Origin: origin },
    });
    expect(entered.status).toBe(303);
    const [cookie = ""] = entered.headers.getSetCookie();
    const asked = await fetch(server!.url, {
      method: "POST",
      headers: {
        Cookie: cookie.split(";")[0]!,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        Origin: origin,
      },
      body: "{}",
    });
    expect(asked.status).not.toBe(401);
    const elsewhere = await fetch(new URL("/sign-in", origin), {
      method: "POST",
      body,
      redirect: "manual",
      headers: { "Sec-Fetch-Site": "cross-site" },
    });
    expect(elsewhere.status).not.toBe(303);
  });

  it("records who read what, by which rule, and what was denied", async () => {
    configure(`callers: { aki: {} }
server: { token: "${ownerToken}", audit: true }
rules:
  - { allow: ["caller:aki"] }
  - { deny: ["caller:aki"], paths: [secrets] }
`);
    await serve();
    const aki = await as(await createToken("aki"));
    const uri = (path: string) => pathToFileURL(join(folder, path)).href;
    await aki.read(uri("README.md"), call);
    for (const path of ["secrets/key.md", "nowhere.md"])
      await expect(aki.read(uri(path), call)).rejects.toMatchObject({ kind: "not-found" });
    const host = new Client({ name: "host", version: "1" });
    await host.connect(
      new StreamableHTTPClientTransport(new URL(server!.url), {
        requestInit: { headers: { Authorization: `Bearer ${ownerToken}` } },
      }),
    );
    expect((await host.listPrompts()).prompts.map(({ name }) => name)).toContain("gather");
    await host.close();
    await fetch(new URL("/sign-in", server!.url), {
      method: "POST",
      body: new URLSearchParams({ token: "wrong" }),
      headers: { Origin: new URL(server!.url).origin },
    });
    await server!.close();
    server = undefined;
    const text = "# Team";
    const entries: AuditEntry[] = [];
    const recorded = readAuditLog(auditFolder(join(root, "state", "pressmark"), join(folder, "pressmark.yaml")));
    for await (const entry of recorded) entries.push(entry);
    expect(new Set(entries.map(({ address }) => address))).toEqual(new Set(["127.0.0.1"]));
    expect(entries.map(({ time: _time, address: _address, ...entry }) => entry)).toEqual([
      { what: "read", caller: "aki", outcome: "allowed", uri: uri("README.md"), rule: 1, bytes: 14 },
      { what: "read", caller: "aki", outcome: "denied", uri: uri("secrets/key.md"), rule: 2 },
      { what: "read", caller: "aki", outcome: "missing", uri: uri("nowhere.md"), rule: 1 },
      { what: "sign-in", outcome: "denied" },
    ]);
    expect(JSON.stringify(entries)).not.toContain(text);
  });
});
