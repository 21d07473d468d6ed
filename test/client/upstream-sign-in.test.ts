/** The built program before a server that requires a sign-in: `pressmark login`, and what a caller of `pressmark serve` passes on. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { freePort } from "../auth/provider.ts";
import {
  type Authority,
  browse,
  type OAuthUpstream,
  resourceServer,
  startAuthority,
  startOAuthUpstream,
} from "./oauth-upstream.ts";

const program = join(import.meta.dirname, "../../bin/pressmark.js");
const call = { caller: { id: "test" }, signal: new AbortController().signal };
const note = "mcp://wiki/notes:%2F%2Fall/a";
const exchanger = { client_id: "pressmark", client_secret: "a-secret-of-the-exchanger" };
const ownerToken = "0123456789abcdef0123456789abcdef";

let authority: Authority;
let upstream: OAuthUpstream;
let folder: string;
let env: NodeJS.ProcessEnv;

beforeAll(async () => {
  const grant_types = ["urn:ietf:params:oauth:grant-type:token-exchange"];
  authority = await startAuthority([{ ...exchanger, redirect_uris: [], response_types: [], grant_types }]);
});
afterAll(() => authority[Symbol.asyncDispose]());
beforeEach(async () => {
  upstream = await startOAuthUpstream(authority.issuer);
  folder = mkdtempSync(join(tmpdir(), "pressmark-sign-in-"));
  env = { ...process.env, XDG_STATE_HOME: join(folder, "state"), XDG_CACHE_HOME: join(folder, "cache") };
  const wiki = { source: "mcp", url: upstream.url, auth: {}, search: false };
  const config = { mounts: { wiki, files: { source: "file", root: "." } }, server: { token: ownerToken } };
  writeFileSync(join(folder, "pressmark.yaml"), JSON.stringify(config));
});
afterEach(async () => {
  await upstream[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

function run(words: readonly string[], heard?: (text: string) => void): Promise<Ran> {
  return new Promise((resolve) => {
    const args = [program, ...words, "--config", "pressmark.yaml"];
    const child = execFile(process.execPath, args, { cwd: folder, env }, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
    if (heard) child.stderr?.on("data", heard);
  });
}

async function login(): Promise<Ran & { readonly page?: Response }> {
  let said = "";
  let page: Promise<Response> | undefined;
  const ran = await run(["login", "wiki", "--no-browser"], (text) => {
    said += text;
    const url = /^http\S+$/m.exec(said)?.[0];
    if (url !== undefined) page ??= browse(url);
  });
  return { ...ran, page: await page };
}

async function serve(port = 0): Promise<AsyncDisposable & { readonly url: string }> {
  const args = [program, "serve", "--config", "pressmark.yaml", "--port", String(port)];
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] });
  let said = "";
  for await (const text of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    said += text as string;
    if (/serves at \S+\s/.test(said)) break;
  }
  const url = new URL("/mcp", /serves at (\S+)/.exec(said)?.[1]).href;
  return {
    url,
    async [Symbol.asyncDispose]() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

describe("pressmark login", { timeout: 60_000 }, () => {
  it("signs in, so that other commands read the mount, and signs out", async () => {
    const before = await run(["read", note]);
    expect(before.err).toContain("run: pressmark login wiki");
    const { code, out, page } = await login();
    expect([code, out]).toEqual([0, `signed in to wiki at ${authority.issuer}\n`]);
    expect(await page?.text()).toBe("Signed in. This window can be closed.\n");
    const [name] = readdirSync(join(folder, "state/pressmark/mcp"));
    expect(statSync(join(folder, "state/pressmark/mcp", name!)).mode & 0o777).toBe(0o600);
    expect((await run(["read", note])).out).toContain("alpha");

    expect((await run(["login", "wiki", "--remove"])).out).toBe("signed out of wiki\n");
    expect(readdirSync(join(folder, "state/pressmark/mcp"))).toEqual([]);
    expect((await run(["login", "wiki", "--remove"])).out).toBe("nobody was signed in to wiki\n");
    expect((await run(["read", note])).code).toBe(before.code);
  });

  it.each([
    ["files", "does not sign in as a person"],
    ["other", 'no mount "other"'],
  ])("refuses the mount %s", async (mount, message) => {
    const { code, err } = await run(["login", mount]);
    expect(code).not.toBe(0);
    expect(err).toContain(message);
  });
});

describe("pressmark serve", { timeout: 60_000 }, () => {
  it("follows a sign-in while it runs, and passes nothing of its callers to the upstream", async () => {
    await using server = await serve();
    const secrets = { token: ownerToken, cookie: "session=a-cookie-of-the-caller", custom: "a-header-of-the-caller" };
    const headers = { Authorization: `Bearer ${secrets.token}`, Cookie: secrets.cookie, "X-Api-Key": secrets.custom };
    for (const era of ["modern", "legacy"] as const) {
      const client = await connect(server.url, { era, headers });
      if (era === "modern") {
        await expect(client.read(note, call)).rejects.toMatchObject({ kind: "not-found" });
        await login();
      }
      await expect
        .poll(() => client.read(note, call).catch(() => undefined), { timeout: 15_000 })
        .toMatchObject({
          contents: [{ body: { text: "alpha" } }],
        });
      await client.list({}, call);
      await client.search({ text: "alpha", limit: 5 }, call).catch(() => undefined);
      await client.close();
    }
    const sent = JSON.stringify(upstream.received);
    expect(upstream.received.some(({ headers: { authorization } }) => authorization?.startsWith("Bearer "))).toBe(true);
    for (const secret of [...Object.values(secrets), "a-cookie", "x-api-key"]) expect(sent).not.toContain(secret);
  });

  it("reads as each of its callers with token exchange, and keeps their tokens to itself", async () => {
    const port = await freePort();
    const publicUrl = `http://127.0.0.1:${port}`;
    const { client_id: clientId, client_secret: clientSecret } = exchanger;
    const credentials = { clientId, clientSecret };
    const auth = { grant: "token_exchange", issuer: authority.issuer, ...credentials };
    const introspection = {
      url: `${authority.issuer}/token/introspection`,
      clientId: resourceServer.client_id,
      clientSecret: resourceServer.client_secret,
    };
    const mounts = { wiki: { source: "mcp", url: upstream.url, search: false, auth } };
    const server = { publicUrl, auth: [{ issuer: authority.issuer, introspection }] };
    writeFileSync(join(folder, "pressmark.yaml"), JSON.stringify({ mounts, server, rules: [{ allow: ["anyone"] }] }));
    await using running = await serve(port);
    const tokens = await Promise.all(["aki", "ben"].map((user) => authority.tokenOf(user, `${publicUrl}/mcp`)));
    for (const token of tokens) {
      const client = await connect(running.url, { headers: { Authorization: `Bearer ${token}` } });
      expect((await client.read(note, call)).contents[0]?.body).toEqual({ text: "alpha" });
      await client.close();
    }
    expect([...upstream.users].sort()).toEqual(["aki", "ben"]);
    for (const token of tokens) expect(JSON.stringify(upstream.received)).not.toContain(token);
  });
});
