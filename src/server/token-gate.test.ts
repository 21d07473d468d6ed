import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { connect as connectSocket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { connect } from "../client/connect.ts";
import { wait } from "../lib/wait.ts";
import type { SharedDatabase } from "../state/database.ts";
import { createTestStore } from "../state/test-store.ts";
import { serveFake } from "../transport/test-server.ts";
import { createAdmissions } from "./admissions.ts";
import { createBrowserRecords } from "./browser-records.ts";
import { type HttpServer, startHttp } from "./start-http.ts";
import { createSharedTokenStore } from "./shared-token-store.ts";
import { createTokenGate } from "./token-gate.ts";

const token = "0123456789abcdef0123456789abcdef";
const bearer = { Authorization: `Bearer ${token}` };
let root: string;
let server: HttpServer;

beforeAll(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-token-")));
  writeFileSync(join(root, "a.md"), "# A\n");
  const pickerFolder = mkdtempSync(join(root, ".picker-"));
  writeFileSync(join(pickerFolder, "index.html"), "<p>page</p>");
  writeFileSync(join(pickerFolder, "index.html.gz"), gzipSync("<p>page</p>"));
  server = await startHttp({
    folders: [],
    from: root,
    env: {
      XDG_STATE_HOME: join(root, ".state"),
      XDG_CACHE_HOME: join(root, ".cache"),
      HOME: root,
      PRESSMARK_TOKEN: token,
    },
    err: { write: () => true },
    allowedHosts: [],
    version: "1",
    port: 0,
    pickerFolder,
  });
});

afterAll(async () => {
  await server?.close();
  rmSync(root, { recursive: true, force: true });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

function ask(path: string, headers: Readonly<Record<string, string>> = {}, method = "GET", body = ""): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(server.url);
    request({ hostname, port, path, method, headers }, (response) => {
      let said = "";
      response.on("data", (piece: Buffer) => (said += String(piece)));
      response.on("end", () => resolve({ status: response.statusCode, headers: response.headers, body: said }));
    })
      .on("error", reject)
      .end(body);
  });
}

/** Sends a raw request, which a client library might change. */
function askRaw(lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const { port, host } = new URL(server.url);
    let said = "";
    const socket = connectSocket(Number(port), "127.0.0.1", () =>
      socket.end([...lines.map((line) => line.replace("HOST", host)), "Connection: close", "", ""].join("\r\n")),
    );
    socket.on("data", (piece) => (said += String(piece)));
    socket.on("close", () => resolve(said));
    socket.on("error", reject);
  });
}

async function cookieOf(address: string): Promise<string> {
  const { pathname, search } = new URL(address);
  const { status, headers } = await ask(pathname + search);
  expect(status).toBe(303);
  return String(headers["set-cookie"]).split(";")[0] ?? "";
}

describe("a server with a token", () => {
  it("admits nobody without it, on any path, and explains how", async () => {
    const list = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {} });
    for (const [path, method] of [
      ["/mcp", "POST"],
      ["/mcp", "GET"],
      ["/mcp", "DELETE"],
      ["/sse", "GET"],
      ["/messages?sessionId=1", "POST"],
      ["/", "GET"],
      ["/", "HEAD"],
      ["/picker/icon.svg", "GET"],
      ["/metrics", "GET"],
      ["/actions/a/b", "POST"],
      ["/nowhere", "GET"],
    ] as const) {
      const { status, headers } = await ask(
        path,
        { "Content-Type": "application/json" },
        method,
        method === "POST" ? list : "",
      );
      expect([status, headers["www-authenticate"]], `${method} ${path}`).toEqual([401, 'Bearer realm="pressmark"']);
    }
  });

  it("admits every caller who sends it, on all transports", async () => {
    for (const era of ["modern", "legacy"] as const) {
      const pressmark = await connect(server.url, { era, headers: bearer });
      const { items } = await pressmark.list({}, { caller: { id: "me" }, signal: new AbortController().signal });
      expect(items.map(({ name }) => name)).toContain("a.md");
      await pressmark.close();
    }
    const stream = request(new URL("/sse", server.url), { headers: bearer }).end();
    const [{ headers }] = (await once(stream, "response")) as [IncomingMessage];
    expect(headers["content-type"]).toBe("text/event-stream");
    stream.destroy();
    await expect(connect(server.url, { headers: { Authorization: `Bearer ${token}0` } })).rejects.toMatchObject({
      kind: "denied",
    });
  });

  it("takes the token from the header alone, and only whole", async () => {
    for (const said of [
      token,
      `Basic ${token}`,
      `Bearer${token}`,
      "Bearer ",
      `Bearer ${token.slice(1)}`,
      `Bearer ${token}, Bearer x`,
      `Bearer ${token} x`,
      `Bearer "${token}"`,
      `Bearer ${token.toUpperCase()}`,
    ])
      expect((await ask("/", { Authorization: said })).status, said).toBe(401);
    for (const path of [`/?token=${token}`, `/?access_token=${token}`, `/?code=${token}`])
      expect((await ask(path)).status, path).toBe(401);
    expect((await ask("/", { Cookie: `token=${token}; Authorization=${token}` })).status).toBe(401);
    expect((await ask("/", { Authorization: `bearer ${token}` })).body).toBe("<p>page</p>");
  });

  it("refuses headers that are repeated or folded", async () => {
    const [begin, good, bad] = [
      ["GET / HTTP/1.1", "Host: HOST"],
      `Authorization: Bearer ${token}`,
      "Authorization: Bearer x",
    ];
    expect(await askRaw([...begin, good])).toMatch(/^HTTP\/1.1 200/);
    for (const lines of [
      [good, bad],
      [bad, good],
      [good, good],
      ["Authorization: Bearer", ` ${token}`, bad],
    ])
      expect(await askRaw([...begin, ...lines]), lines.join()).toMatch(/^HTTP\/1.1 40[01]/);
  });

  it("still refuses other names and the pages of others, token or not", async () => {
    expect((await ask("/", { ...bearer, Host: "evil.example" })).status).toBe(403);
    expect((await ask("/", { ...bearer, Origin: "https://evil.example" })).status).toBe(403);
  });
});

describe("a one-time code", () => {
  it("becomes a cookie that scripts cannot read and other sites cannot send, and leaves the address", async () => {
    const { pathname, search, searchParams } = new URL(server.invite());
    expect(searchParams.get("code")).toMatch(/^[\w-]{22}$/);
    const { status, headers } = await ask(pathname + search);
    expect([status, headers["location"], headers["cache-control"]]).toEqual([303, "/", "no-store"]);
    const { port } = new URL(server.url);
    expect(headers["set-cookie"]).toEqual([
      expect.stringMatching(new RegExp(`^pressmark-${port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`)),
    ]);
    expect(String(headers["set-cookie"])).not.toContain(token);
    const cookie = String(headers["set-cookie"]).split(";")[0] ?? "";
    expect((await ask("/", { Cookie: `other=1; ${cookie}; more=2` })).body).toBe("<p>page</p>");
  });

  it("is good once: who comes second reads what to do, and who was let in before is let in again", async () => {
    const address = server.invite();
    const cookie = await cookieOf(address);
    const { pathname, search } = new URL(address);
    const second = await ask(pathname + search, { Accept: "text/html" });
    expect(second.status).toBe(401);
    expect(second.headers["set-cookie"]).toBeUndefined();
    expect(second.body).toContain("was already used, or has expired");
    expect(second.body).toContain(`kill -USR2 ${process.pid}`);
    expect(await ask(pathname + search, { Cookie: cookie })).toMatchObject({ status: 303, headers: { location: "/" } });
  });

  it("is not used up by those who only look, nor good anywhere but at the page", async () => {
    const address = server.invite();
    const { search } = new URL(address);
    expect((await ask(`/${search}`, {}, "HEAD")).status).toBe(401);
    expect((await ask(`/mcp${search}`)).status).toBe(401);
    expect(await cookieOf(address)).not.toBe("");
  });

  it("expires", async () => {
    let now = 0;
    const { gate, newCode } = createTokenGate({
      admissions: createAdmissions({
        ownerToken: token,
        callers: [],
        runtime: { now: Date.now, log: () => undefined },
      }),
      pid: 1,
      monotonicMs: () => now,
    });
    const { listening } = await serveFake({}, { gate });
    const status = async (code: string) =>
      (await fetch(new URL(`/?code=${code}`, listening.url), { redirect: "manual" })).status;
    const [first, second] = [newCode(), newCode()];
    now = 10 * 60_000;
    expect(await status(first)).toBe(303);
    now += 1;
    expect(await status(second)).toBe(401);
  });

  it("has the page of a browser without a way in say what to do", async () => {
    const { status, headers, body } = await ask("/", { Accept: "text/html,*/*" });
    expect(status).toBe(401);
    expect(headers["content-security-policy"]).toContain("default-src 'none'");
    expect(body).toContain("pressmark serve");
    expect(body).not.toContain(token);
    const japanese = await ask("/", { Accept: "text/html", "Accept-Language": "ja,en;q=0.8" });
    expect(japanese.body).toContain('<html lang="ja">');
    expect(japanese.body).toContain("トークンでサインイン");
  });
});

describe("the cookie", () => {
  it("opens the protocol to a page of our own and to no other of this machine", async () => {
    const cookie = await cookieOf(server.invite());
    const { host, port } = new URL(server.url);
    const status = async (headers: Readonly<Record<string, string>>) =>
      (await ask("/mcp", { Cookie: cookie, "Content-Type": "application/json", ...headers }, "POST", "{")).status;
    expect(await status({})).toBe(400);
    expect(await status({ Origin: `http://${host}`, "Sec-Fetch-Site": "same-origin" })).toBe(400);
    expect(await status({ Origin: "http://127.0.0.1:1" })).toBe(401);
    expect(await status({ Origin: `http://localhost:${port}` })).toBe(401);
    expect(await status({ "Sec-Fetch-Site": "same-site" })).toBe(403);
    expect(await status({ "Sec-Fetch-Site": "cross-site" })).toBe(403);
    expect(await status({ Origin: "https://evil.example" })).toBe(403);
  });

  it("of another name, another server, or made up, opens nothing", async () => {
    const [name = "", value = ""] = (await cookieOf(server.invite())).split("=");
    for (const cookie of [
      `pressmark=${value}`,
      `pressmark-1=${value}`,
      `${name.toUpperCase()}=${value}`,
      `${name}=${value}x`,
      `${name}=`,
      `${name}`,
      `x${name}=${value}`,
      `${name}="${value}"`,
      `a="; ${name}=x`,
    ])
      expect((await ask("/", { Cookie: cookie })).status, cookie).toBe(401);
    expect((await ask("/", { Cookie: `${name}=wrong; ${name}=${value}` })).status).toBe(200);
  });
});

/** Each gate is that of another instance. */
async function startTwo() {
  const store = createTestStore();
  const shared = createBrowserRecords({ store, database: { schema: "team" } as SharedDatabase });
  const clock = { ms: 0 };
  const tokens = createSharedTokenStore(store, { monotonicMs: () => clock.ms, wait, log: () => undefined });
  await tokens.load();
  const admissions = createAdmissions({
    ownerToken: token,
    callers: [{ name: "aki", groups: [] }],
    store: tokens,
    runtime: { now: Date.now, log: () => undefined },
  });
  const gates = [1, 2].map((pid) => createTokenGate({ admissions, shared, pid, monotonicMs: () => clock.ms }));
  const urls: URL[] = [];
  for (const { gate } of gates) {
    const { listening } = await serveFake({}, { gate, elsewhere: (_, response) => Boolean(response.end("page")) });
    urls.push(new URL("/", listening.url));
  }
  const open = (at: number, path: string, init: RequestInit = {}) =>
    fetch(new URL(path, urls[at]), { redirect: "manual", ...init });
  return { store, tokens, admissions, gates, open, clock };
}

const cookieIn = ({ headers }: Response) => (headers.get("set-cookie") ?? "").split(";")[0]!;

describe("browsers of two instances", () => {
  it("open with a code of either, once, and are known to both", async () => {
    const { store, gates, open } = await startTwo();
    const code = gates[0]!.newCode();
    await vi.waitUntil(async () => (await store.list("codes")).length === 1);
    const statuses = await Promise.all([0, 1, 0, 1].map(async (at) => open(at, `/?code=${code}`)));
    const welcomed = statuses.filter(({ status }) => status === 303);
    expect(welcomed).toHaveLength(1);
    const cookie = cookieIn(welcomed[0]!);
    expect(cookie).toMatch(/^pressmark-team=/);
    for (const at of [0, 1, 0]) expect((await open(at, "/", { headers: { cookie } })).status).toBe(200);
    expect((await open(1, "/", { headers: { cookie: `${cookie}x` } })).status).toBe(401);
    expect(JSON.stringify(await store.list("visits"))).not.toContain(cookie.split("=")[1]);
  });

  it("sign in with a token at one, and are told to try again while the store is away", async () => {
    const { store, open } = await startTwo();
    const signedIn = await open(0, "/sign-in", { method: "POST", body: new URLSearchParams({ token }) });
    const headers = { cookie: cookieIn(signedIn) };
    store.takeAway(true);
    expect((await open(0, "/", { headers })).status).toBe(200);
    const refused = await open(1, "/", { headers });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    expect((await open(1, "/sign-in", { method: "POST", body: new URLSearchParams({ token }) })).status).toBe(503);
    store.takeAway(false);
    expect((await open(1, "/", { headers })).status).toBe(200);
  });

  it("sign in again after their record has expired, also at the instance where they signed in", async () => {
    const { store, open, clock } = await startTwo();
    const signedIn = await open(0, "/sign-in", { method: "POST", body: new URLSearchParams({ token }) });
    const headers = { cookie: cookieIn(signedIn) };
    for (const at of [0, 1]) expect((await open(at, "/", { headers })).status).toBe(200);
    clock.ms += 3_600_000;
    store.takeAway(true);
    for (const at of [0, 1]) expect((await open(at, "/", { headers })).status).toBe(200);
    store.takeAway(false);
    // As after 24 hours.
    for (const { key } of await store.list("visits")) await store.remove("visits", key);
    clock.ms += 3_600_000;
    for (const at of [0, 1]) expect((await open(at, "/", { headers })).status).toBe(401);
  });

  it("are told to try again while the stored tokens cannot be confirmed, and are known afterwards", async () => {
    const { tokens, admissions, open, clock } = await startTwo();
    const { token: own } = await tokens.create("aki", Date.now());
    const signInAt = (at: number) =>
      open(at, "/sign-in", { method: "POST", body: new URLSearchParams({ token: own }) });
    const headers = { cookie: cookieIn(await signInAt(0)) };
    const statuses = () => Promise.all([0, 1].map(async (at) => (await open(at, "/", { headers })).status));
    clock.ms += 10_000;
    expect(await statuses()).toEqual([503, 503]);
    expect((await signInAt(1)).status).toBe(503);
    await tokens.load();
    expect(await statuses()).toEqual([200, 200]);
    await tokens.revoke("aki");
    admissions.reload();
    expect(await statuses()).toEqual([401, 401]);
  });
});
