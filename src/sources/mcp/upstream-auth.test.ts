/** Signing in to another server, with a real authorization server: as this server, and as the operator. */
import { generateKeyPairSync, randomUUID } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import {
  type Authority,
  browse,
  type OAuthUpstream,
  startAuthority,
  startOAuthUpstream,
} from "../../../test/client/oauth-upstream.ts";
import { createMcpLogin } from "../../server/mcp-login.ts";
import { createRuntime } from "../../server/runtime.ts";
import { refusal } from "../../testing/refusal.ts";
import mcp from "../mcp.ts";

const call = { caller: { id: "aki" }, signal: new AbortController().signal };
const clientSecret = randomUUID();
const keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
const privateKey = keys.privateKey.export({ type: "pkcs8", format: "pem" });
const machine = { grant_types: ["client_credentials"], redirect_uris: [], response_types: [] };

let authority: Authority;
let upstream: OAuthUpstream;
let folder: string;

beforeAll(async () => {
  authority = await startAuthority([
    { ...machine, client_id: "by-secret", client_secret: clientSecret },
    {
      ...machine,
      client_id: "by-key",
      token_endpoint_auth_method: "private_key_jwt",
      jwks: { keys: [{ ...keys.publicKey.export({ format: "jwk" }), use: "sig", alg: "ES256" }] },
    },
  ]);
});
afterAll(() => authority[Symbol.asyncDispose]());

beforeEach(async () => {
  upstream = await startOAuthUpstream(authority.issuer);
  folder = mkdtempSync(join(tmpdir(), "pressmark-upstream-"));
  onTestFinished(async () => {
    await upstream[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
});

const logged: string[] = [];
beforeEach(() => void (logged.length = 0));

const env = () => ({ HOME: folder, XDG_STATE_HOME: join(folder, "state") });
const optionsOf = (auth: object) => mcp.options(z).parse({ url: upstream.url, auth, timeoutMs: 10_000 });

async function open(auth: object) {
  let nowMs = 0;
  const runtime = {
    ...createRuntime({ write: (line: string) => Boolean(logged.push(line)) }),
    env: env(),
    mount: "wiki",
    monotonicMs: () => nowMs,
  };
  const source = await mcp.open(optionsOf(auth), runtime);
  onTestFinished(() => source.close?.());
  const read = async () => (await source.read({ path: "notes:\0\0all/a" }, call))[0]?.body;
  return { read, later: () => void (nowMs += 3_600_000) };
}

const loginOf = (auth: object) =>
  createMcpLogin({ name: "wiki", definition: mcp, options: optionsOf(auth) } as never, {
    env: env(),
    log: () => undefined,
  });

async function login(auth: object = {}) {
  const shown: string[] = [];
  let page: Promise<Response> | undefined;
  const issuer = await loginOf(auth).login((url) => {
    shown.push(url);
    page = browse(url);
  }, AbortSignal.timeout(20_000));
  return { issuer, shown, page: await page };
}

const tokensSent = () => new Set(upstream.received.map(({ headers }) => headers.authorization).filter(Boolean));
const stored = () => {
  const [name] = readdirSync(join(folder, "state", "pressmark", "mcp"));
  return join(folder, "state", "pressmark", "mcp", name!);
};

const bySecret = () => ({
  grant: "client_credentials",
  issuer: authority.issuer,
  clientId: "by-secret",
  clientSecret,
});

describe("as this server", () => {
  it.each([
    ["a secret", bySecret],
    ["a private key", () => ({ ...bySecret(), clientId: "by-key", clientSecret: undefined, privateKey })],
  ])("reads with %s, and renews the token when it is refused", async (_, auth) => {
    const { read, later } = await open(auth());
    expect(await read()).toEqual({ text: "alpha" });
    upstream.refuseTokens();
    later();
    expect(await read()).toEqual({ text: "alpha" });
    expect(tokensSent().size).toBe(2);
  });

  it("requests one token for many requests that are refused together", async () => {
    const { read, later } = await open(bySecret());
    await read();
    upstream.refuseTokens();
    later();
    await Promise.all(Array.from({ length: 20 }, read));
    expect(tokensSent().size).toBe(2);
  });

  it("stops at a server that refuses every token", async () => {
    const { read, later } = await open(bySecret());
    await read();
    upstream.refuseAll = true;
    later();
    for (let reads = 0; reads < 10; reads += 1) await refusal(read(), ["denied"], "a refused token");
    expect(tokensSent().size).toBe(2);
  });

  it("requests the configured scope, whatever the server asks for, and names a scope that is missing", async () => {
    upstream.challenge = upstream.challenge.replace("notes", "admin");
    const { read } = await open({ ...bySecret(), scope: "notes" });
    expect(await read()).toEqual({ text: "alpha" });
    upstream.requiredScope = "admin";
    const { message } = await refusal(read(), ["denied"], "a missing scope");
    expect(message).toContain('"admin"');
  });

  it("sends nothing to an authorization server that only the upstream names", async () => {
    await using other = await startOAuthUpstream("http://127.0.0.1:9");
    upstream.metadata = { ...upstream.metadata, authorization_servers: [new URL(other.url).origin] };
    const { read } = await open(bySecret());
    const { message } = await refusal(read(), ["denied"], "another issuer");
    expect(message).toContain("auth.issuer");
    expect(other.received).toEqual([]);
  });

  it("does not say the secret when it is wrong", async () => {
    const wrong = randomUUID();
    const { read } = await open({ ...bySecret(), clientSecret: wrong });
    const { message } = await refusal(read(), ["denied"], "a wrong secret");
    expect(message).toContain("invalid_client");
    expect(message + logged.join("")).not.toContain(wrong);
  });
});

describe("as the operator", () => {
  it("says what to do before the first sign-in, and reads after it", async () => {
    const { read } = await open({});
    const { message } = await refusal(read(), ["denied"], "not signed in");
    expect(message).toBe("the server requires a sign-in; run: pressmark login wiki");
    const { issuer, shown, page } = await login();
    expect([issuer, page?.status]).toEqual([authority.issuer, 200]);
    expect(new URL(shown[0]!).searchParams.get("resource")).toBe(upstream.url);
    expect(statSync(stored()).mode & 0o777).toBe(0o600);
    const { read: again } = await open({});
    expect(await again()).toEqual({ text: "alpha" });
  });

  it("renews the token once for all requests and processes, and stores the next refresh token", async () => {
    await login();
    const [one, other] = [await open({}), await open({})];
    await Promise.all([one.read(), other.read()]);
    const before = readFileSync(stored(), "utf8");
    upstream.refuseTokens();
    await Promise.all([one, other].flatMap(({ read }) => Array.from({ length: 5 }, read)));
    expect(tokensSent().size).toBe(2);
    expect(readFileSync(stored(), "utf8")).not.toBe(before);
    upstream.refuseTokens();
    one.later();
    expect(await one.read()).toEqual({ text: "alpha" });
  });

  it("says what to do when the sign-in has ended, and asks no more", async () => {
    await login();
    const { read, later } = await open({});
    await read();
    const copy = readFileSync(stored(), "utf8");
    const { refresh_token: token } = (JSON.parse(copy) as { tokens: { refresh_token: string } }).tokens;
    const isActive = async () => (await authority.introspect(token)).active;
    expect(await isActive()).toBe(true);
    expect(await loginOf({}).logout(AbortSignal.timeout(5000))).toBe(true);
    expect(await isActive()).toBe(false);
    expect(await loginOf({}).logout(AbortSignal.timeout(5000))).toBe(false);
    later();
    const { message } = await refusal(read(), ["denied"], "signed out");
    expect(message).toBe("the server requires a sign-in; run: pressmark login wiki");
    expect(logged.join("")).not.toContain(token);
  });

  it("renews only at the issuer that issued the tokens, whatever the upstream names later", async () => {
    await login();
    const { read } = await open({});
    await read();
    await using other = await startOAuthUpstream("http://127.0.0.1:9");
    upstream.metadata = { ...upstream.metadata, authorization_servers: [new URL(other.url).origin] };
    upstream.refuseTokens();
    expect(await read()).toEqual({ text: "alpha" });
    expect(other.received).toEqual([]);
  });

  it.each(["file:///etc/passwd", "calculator:open"])("opens no page with the address %s", async (page) => {
    await using other = await startOAuthUpstream("http://127.0.0.1:9");
    const { origin } = new URL(other.url);
    const endpoints = { token_endpoint: `${origin}/token`, authorization_endpoint: page };
    other.authorizationMetadata = { issuer: origin, response_types_supported: ["code"], ...endpoints };
    upstream.metadata = { ...upstream.metadata, authorization_servers: [origin] };
    const client = { issuer: origin, clientId: "known" };
    const { message } = await refusal(login(client), ["denied"], page);
    expect(message).toContain("not https");
  });

  it("does not sign in at another issuer than the configured one", async () => {
    const { message } = await refusal(login({ issuer: "https://issuer.example" }), ["denied"], "another issuer");
    expect(message).toContain("auth.issuer");
  });

  it.each([
    ["an authorization server", { authorization_servers: ["http://169.254.169.254/"] }, "not https"],
    ["an authorization server with https", { authorization_servers: ["https://10.0.0.1"] }, "private address"],
    ["its own metadata", "https://169.254.169.254/latest/meta-data", "RegistrationRejectedError"],
  ])("does not request %s that the upstream names at a private address", async (_, named, message) => {
    if (typeof named === "string") upstream.challenge = `resource_metadata="${named}"`;
    else upstream.metadata = { ...upstream.metadata, ...named };
    expect((await refusal(login(), ["denied"], "a private address")).message).toContain(message);
  });
});

it.each([
  [{ grant: "client_credentials" }, "grant"],
  [{ clientId: "a" }, "issuer"],
  [{ clientSecret: "a" }, "clientId"],
  [{ issuer: "https://a.example", clientId: "a", clientSecret: "b", privateKey: "c" }, "privateKey"],
])("refuses the options %j", (auth, path) => {
  const result = mcp.options(z).safeParse({ url: "https://a.example/mcp", auth });
  expect(result.error?.issues.map((issue) => issue.path.at(-1))).toContain(path);
});
