/** A server on a network, as `pressmark serve` runs it: behind a proxy, and with callers that are added while it runs. */
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AuditEntry, auditFolder, readAuditLog } from "./audit-log.ts";
import { type HttpServer, startHttp } from "./start-http.ts";
import { createTokenStore } from "./token-store.ts";

const ownerToken = "0123456789abcdef0123456789abcdef";
let root: string;
let file: string;
let server: HttpServer | undefined;
const logged: string[] = [];

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-network-")));
  mkdirSync(join(root, "team"));
  file = join(root, "team", "pressmark.yaml");
  writeFileSync(join(root, "team", "a.md"), "# A\n");
  logged.length = 0;
});

afterEach(async () => {
  await server?.close();
  server = undefined;
  rmSync(root, { recursive: true, force: true });
});

function configure(text: string): void {
  writeFileSync(file, `mounts: { files: { source: file, root: . } }\n${text}`);
}

async function serve(): Promise<HttpServer> {
  const env = { HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") };
  const err = { write: (line: string) => Boolean(logged.push(line)) };
  const options = { folders: [], config: file, from: root, env, err, allowedHosts: [], version: "1", port: 0 };
  return (server = await startHttp(options));
}

const stateFolder = () => join(root, "state", "pressmark");
const createToken = async (caller: string) => (await createTokenStore(stateFolder(), file).create(caller, 0)).token;

async function statusFor(token: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const sent = { Authorization: `Bearer ${token}`, ...headers };
  return (await fetch(new URL("/", server!.url), { headers: sent })).status;
}

async function recorded(): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = [];
  for await (const entry of readAuditLog(auditFolder(stateFolder(), file))) entries.push(entry);
  return entries;
}

describe("a server behind a proxy", () => {
  it("records the address that the proxy names, and sets a cookie for HTTPS alone", async () => {
    configure(
      `server: { token: "${ownerToken}", audit: true, trustProxy: [127.0.0.1], allowedHosts: [docs.example] }\n`,
    );
    await serve();
    const headers = {
      "X-Forwarded-For": "198.51.100.1, 203.0.113.7",
      "X-Forwarded-Proto": "https",
      "X-Forwarded-Host": "docs.example",
    };
    const signIn = (origin: string, more: Readonly<Record<string, string>> = headers) =>
      fetch(new URL("/sign-in", server!.url), {
        method: "POST",
        body: new URLSearchParams({ token: ownerToken }),
        headers: { ...more, Origin: origin },
        redirect: "manual",
      });
    const signedIn = await signIn("https://docs.example");
    expect([signedIn.status, signedIn.headers.get("set-cookie")]).toEqual([
      303,
      expect.stringMatching(/^__Host-pressmark-\d+=[\w-]+; HttpOnly; SameSite=Strict; Path=\/; Secure$/),
    ]);
    expect((await signIn("http://docs.example")).status).toBe(403);
    expect((await signIn("https://evil.example")).status).toBe(403);
    const local = await signIn(new URL(server!.url).origin, {});
    expect(local.headers.get("set-cookie")).toMatch(/^pressmark-\d+=[\w-]+; HttpOnly; SameSite=Strict; Path=\/$/);
    await vi.waitFor(async () =>
      expect((await recorded()).map(({ what, address }) => [what, address])).toEqual([
        ["sign-in", "203.0.113.7"],
        ["sign-in", "127.0.0.1"],
      ]),
    );
  });

  it("makes nobody the owner without a token", async () => {
    configure("server: { trustProxy: [127.0.0.1] }\n");
    expect((await serve()).everyoneIsOwner).toBe(false);
  });

  it("refuses a proxy setting that would trust everyone", async () => {
    for (const value of ["true", "[0.0.0.0/0]", "['::/0']", "['*']", "[proxy.example]"]) {
      configure(`server: { trustProxy: ${value} }\n`);
      await expect(serve()).rejects.toThrow("server.trustProxy");
    }
    for (const value of ["'*'", "'null'", "'https://app.example/path'"]) {
      configure(`server: { allowedOrigins: [${value}] }\n`);
      await expect(serve()).rejects.toThrow("must be an origin");
    }
  });
});

describe("callers that are added while a server runs", () => {
  it("can sign in at once if it requires a token, and before them there is no folder of tokens", async () => {
    configure(`server: { token: "${ownerToken}" }\n`);
    await serve();
    expect(await statusFor("wrong-token-of-someone")).toBe(401);
    expect(existsSync(join(stateFolder(), "tokens"))).toBe(false);
    configure(`callers: { aki: {} }\nserver: { token: "${ownerToken}" }\n`);
    const token = await createToken("aki");
    await vi.waitFor(async () => expect(await statusFor(token)).toBe(200), { timeout: 15_000 });
    expect(
      (await fetch(new URL("/metrics", server!.url), { headers: { Authorization: `Bearer ${token}` } })).status,
    ).toBe(404);
    await createTokenStore(stateFolder(), file).revoke("aki");
    await vi.waitFor(async () => expect(await statusFor(token)).toBe(401), { timeout: 15_000 });
  });

  it("need a restart if it requires none, and the log says so", async () => {
    configure("");
    expect((await serve()).everyoneIsOwner).toBe(true);
    configure("callers: { aki: {} }\n");
    await vi.waitFor(
      () => expect(logged.join("")).toContain("until pressmark serve is started again nobody needs a token"),
      { timeout: 15_000 },
    );
  });
});
