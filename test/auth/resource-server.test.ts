/** `serve` as an OAuth resource server, beside a real authorization server in a process of its own. */
import { join } from "node:path";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { type AuditEntry, auditFolder, readAuditLog } from "../../src/server/audit-log.ts";
import { secret, startProvider, type TestProvider } from "./provider.ts";
import {
  listMessage,
  type Message,
  publicUrl,
  resource,
  type ServedSettings,
  serveWith,
  type TestServer,
} from "./served.ts";

const opaqueResource = "urn:opaque";
const metadataUrl = `${publicUrl}/.well-known/oauth-protected-resource/mcp`;

let provider: TestProvider;
let server: TestServer | undefined;

beforeAll(async () => {
  provider = await startProvider(resource, opaqueResource);
});

afterAll(() => provider.stop());

afterEach(async () => {
  await server?.remove();
  server = undefined;
});

async function serve(settings: ServedSettings = {}): Promise<void> {
  await server?.remove();
  server = await serveWith(provider, settings);
}

const ask = (token?: string, message?: Message) => server!.ask(token, message);
const logged = () => server!.logged.join("");

/** How often the file is listed. */
async function count(token: string): Promise<number> {
  const { result } = (await (await ask(token)).json()) as { result: { resources: { uri: string }[] } };
  return result.resources.filter(({ uri }) => uri.endsWith("/a.md")).length;
}

/** The status of the response to a plain POST. */
async function post(token: string, path: string, body: unknown): Promise<number> {
  const headers = { "Content-Type": "application/json", Accept: "application/json", Authorization: `Bearer ${token}` };
  const response = await fetch(new URL(path, server!.url), { method: "POST", headers, body: JSON.stringify(body) });
  return response.status;
}

const nowSeconds = () => Math.floor(Date.now() / 1000);
const lines = () => server!.logged.filter((line) => line.includes("refused"));

describe("a token of the issuer", () => {
  it("is accepted, also again", async () => {
    await serve();
    const token = await provider.token();
    expect((await ask(token)).status).toBe(200);
    expect((await ask(token)).status).toBe(200);
  });

  it("is accepted in the form of other issuers only if the config says so", async () => {
    await serve();
    const token = await provider.sign({ jti: undefined, client_id: undefined }, { typ: "JWT" });
    expect((await ask(token)).status).toBe(401);
    expect(logged()).toContain("set its tokenType to jwt");
    await serve({ issuer: { tokenType: "jwt" } });
    expect((await ask(token)).status).toBe(200);
  });

  it("gives its holder what rules allow, by group, scope, claim and configured caller", async () => {
    const rules = [{ allow: ["group:bots"], paths: ["a.md"] }];
    await serve({ config: { rules } });
    expect(await count(await provider.token())).toBe(1);
    expect(await count(await provider.sign({ groups: ["people"] }))).toBe(0);
    for (const [subject, claims] of [
      ["scope:mcp:write", { scope: "mcp:read mcp:write" }],
      ["claim:dept=tea", { dept: "tea" }],
      ["caller:aki", { sub: "aki-at-the-issuer" }],
    ] as const) {
      await serve({
        issuer: { callers: { aki: "aki-at-the-issuer" } },
        config: { callers: { aki: {} }, rules: [{ allow: [subject] }] },
      });
      expect(await count(await provider.sign({ scope: "x", ...claims }))).toBe(1);
      expect(await count(await provider.sign({ scope: "x" }))).toBe(0);
    }
  });

  it("does not make its holder a configured caller or the owner by the name in it", async () => {
    await serve({ config: { callers: { aki: { owner: true } }, rules: [{ allow: ["caller:aki"] }] } });
    for (const sub of ["aki", "owner", "local", `${provider.issuer}#aki`]) {
      const response = await ask(await provider.sign({ sub, owner: true }));
      expect(await response.text()).not.toContain("a.md");
    }
  });
});

describe("a token that is not valid", () => {
  const day = 86_400;
  const bad: Readonly<Record<string, readonly [make: () => Promise<string> | string, reason: string]>> = {
    expired: [() => provider.sign({ exp: nowSeconds() - 60 }), "the token has expired"],
    "from a clock that is a day behind": [
      () => provider.sign({ iat: nowSeconds() - day, exp: nowSeconds() - day + 300 }),
      "the token has expired",
    ],
    "from a clock that is a day ahead": [
      () => provider.sign({ iat: nowSeconds() + day, nbf: nowSeconds() + day, exp: nowSeconds() + day + 300 }),
      "the token is not valid yet",
    ],
    "for another server": [() => provider.sign({ aud: "https://other.example/mcp" }), "the token has another audience"],
    "for another server, from the issuer itself": [
      () => provider.token({ resource: "https://other.example/mcp" }),
      "the token has another audience",
    ],
    "for nobody": [() => provider.sign({ aud: undefined }), "the token lacks the claim aud"],
    "of another issuer": [
      () => provider.sign({ iss: "https://evil.example" }),
      "the token has an issuer that is not accepted",
    ],
    "without expiry": [() => provider.sign({ exp: undefined }), "the token lacks the claim exp"],
    "bound to a key": [() => provider.sign({ cnf: { jkt: "x" } }), "the token is bound to a key"],
    "an ID token": [() => provider.sign({}, { typ: "JWT" }), "the token is not an access token by its type"],
    "of an unknown key": [() => provider.sign({}, { kid: "unknown" }), "the token is signed with an unknown key"],
    "with another signature": [
      async () => (await provider.sign()).replace(/\.[^.]+$/, `.${Buffer.alloc(256, 1).toString("base64url")}`),
      "the signature of the token is not valid",
    ],
    "signed with a key that it brings along": [
      async () => {
        const { privateKey, publicKey } = await generateKeyPair("RS256");
        return new SignJWT({ iss: provider.issuer, aud: resource, sub: "x" })
          .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid: "first", jwk: await exportJWK(publicKey) })
          .setExpirationTime("1h")
          .sign(privateKey);
      },
      "the signature of the token is not valid",
    ],
    "not signed": [
      async () => new UnsecuredJWT({ iss: provider.issuer, aud: resource, sub: "x" }).setExpirationTime("1h").encode(),
      "signed with an algorithm that is not accepted",
    ],
    "signed with the public key as a secret": [
      () =>
        new SignJWT({ iss: provider.issuer, aud: resource, sub: "x" })
          .setProtectedHeader({ alg: "HS256", typ: "at+jwt", kid: "first" })
          .setExpirationTime("1h")
          .sign(new TextEncoder().encode(provider.publicKeyPem)),
      "signed with an algorithm that is not accepted",
    ],
    garbage: [() => "garbage", "the token is unknown, or not a JWT"],
    "of three parts of garbage": [() => "a.b.c", "the token is unknown, or not a JWT"],
    huge: [() => `${"x".repeat(12_500)}`, "the token is too long"],
    "of this server, but unknown": [() => "pmk_0123456789abcdef", "the token was revoked, has expired or is unknown"],
  };

  it.each(Object.keys(bad))("%s: gets a 401 that says why, and one line in the log without the token", async (kind) => {
    const [make, reason] = bad[kind]!;
    await serve({ server: { scopes: { read: ["mcp:read"] } } });
    const token = await make();
    const responses = [await ask(token), await ask(token)];
    expect(responses.map(({ status }) => status)).toEqual([401, 401]);
    const challenge = responses[0]!.headers.get("WWW-Authenticate") ?? "";
    expect(challenge).toMatch(/^Bearer realm="pressmark", error="invalid_token", error_description="the [^"]+"/);
    expect(challenge).toContain(`resource_metadata="${metadataUrl}", scope="mcp:read"`);
    expect(lines()).toHaveLength(1);
    expect(lines()[0]).toContain(reason);
    const shown = logged() + challenge + (await responses[0]!.text());
    for (const part of token.split(".")) if (part.length > 8) expect(shown).not.toContain(part);
  });

  it("floods of unknown keys cost one fetch", async () => {
    await serve();
    const before = await provider.keyFetches();
    const tokens = await Promise.all(
      Array.from({ length: 200 }, (_, index) => provider.sign({}, { kid: `k${index}` })),
    );
    const statuses = await Promise.all(tokens.map(async (token) => (await ask(token)).status));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect((await provider.keyFetches()) - before).toBe(1);
  });

  it("is in the audit log as a denied sign-in", async () => {
    await serve({ server: { audit: true } });
    await ask(await provider.sign({ aud: "https://other.example/mcp" }));
    await ask(await provider.token());
    await server!.close();
    const entries: AuditEntry[] = [];
    const folder = auditFolder(join(server!.root, "state", "pressmark"), server!.config);
    for await (const entry of readAuditLog(folder)) if (entry.what === "sign-in") entries.push(entry);
    expect(entries).toMatchObject([
      { outcome: "denied", detail: "the token has another audience" },
      { outcome: "allowed", caller: `${provider.issuer}#nightly` },
    ]);
  });
});

/** The tokens of `nightly` have no subject. */
const asked = () => ({
  nameClaim: "client_id",
  introspection: { url: `${provider.issuer}/token/introspection`, clientId: "pressmark", clientSecret: secret },
});

describe("a token that is not a JWT", () => {
  it("is accepted if the issuer says so, and refused if it is unknown, revoked or for another server", async () => {
    await serve({ issuer: { ...asked(), audience: opaqueResource } });
    const token = await provider.token({ resource: opaqueResource });
    expect(token).not.toContain(".");
    expect((await ask(token)).status).toBe(200);
    expect((await ask("unknown-token")).status).toBe(401);
    const revoked = await provider.token({ resource: opaqueResource });
    await provider.revoke(revoked);
    expect((await ask(revoked)).status).toBe(401);
    await serve({ issuer: asked() });
    const refused = await ask(token);
    expect(refused.status).toBe(401);
    expect(logged()).toContain("the token has another audience");
  });

  it("is a 503, and not refused, while the issuer does not answer", async () => {
    const { introspection } = asked();
    await serve({ issuer: { introspection: { ...introspection, url: "http://127.0.0.1:9/introspection" } } });
    const response = await ask("some-token");
    expect(response.status).toBe(503);
    expect(response.headers.get("Retry-After")).toBe("5");
    expect(lines()).toHaveLength(1);
  });
});

describe("without a token", () => {
  it("the metadata is JSON at both places, and other well-known paths are JSON that says there is nothing", async () => {
    await serve({ server: { scopes: { read: ["mcp:read"], write: ["mcp:write"] } } });
    for (const path of ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
      const response = await fetch(new URL(path, server!.url));
      expect(response.headers.get("Content-Type")).toBe("application/json");
      expect(await response.json()).toEqual({
        resource,
        authorization_servers: [provider.issuer],
        scopes_supported: ["mcp:read"],
        bearer_methods_supported: ["header"],
        resource_name: "Pressmark",
      });
    }
    const other = await fetch(new URL("/.well-known/oauth-authorization-server", server!.url));
    expect([other.status, other.headers.get("Content-Type")]).toEqual([404, "application/json"]);
  });

  it("a request gets a challenge with the metadata and the scopes, without an error", async () => {
    await serve({ server: { scopes: { read: ["mcp:read"] } } });
    const response = await ask();
    expect(response.status).toBe(401);
    expect(response.headers.get("WWW-Authenticate")).toBe(
      `Bearer realm="pressmark", resource_metadata="${metadataUrl}", scope="mcp:read"`,
    );
  });
});

describe("scopes", () => {
  const scopes = { read: ["mcp:read"], write: ["mcp:write"], includes: { "mcp:write": ["mcp:read"] } };
  const save = {
    ...listMessage,
    method: "tools/call",
    params: { name: "save_set", arguments: { name: "s", uris: ["x:y"] } },
  };

  it("that are missing give a 403 that names all that the operation needs", async () => {
    await serve({ server: { scopes, tools: ["save_set"] } });
    const nothing = await ask(await provider.sign({ scope: "other" }));
    expect(nothing.status).toBe(403);
    expect(nothing.headers.get("WWW-Authenticate")).toBe(
      `Bearer realm="pressmark", error="insufficient_scope", error_description="the token lacks a scope; needed: mcp:read", resource_metadata="${metadataUrl}", scope="mcp:read"`,
    );
    const reading = await provider.sign({ scope: "mcp:read" });
    expect((await ask(reading)).status).toBe(200);
    const refused = await ask(reading, save);
    expect(refused.status).toBe(403);
    expect(refused.headers.get("WWW-Authenticate")).toContain('scope="mcp:read mcp:write"');
  });

  it("are needed for actions too, however they are called", async () => {
    const mounts = { docs: { source: "file", root: "." }, results: { source: "analysis", path: "results.db" } };
    await serve({ server: { scopes }, config: { mounts } });
    const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "store_analysis", arguments: {} } };
    const [reading, writing] = [await provider.sign(), await provider.sign({ scope: "mcp:write" })];
    for (const [path, body] of [
      ["/actions/results/store_analysis", {}],
      ["/actions/results/store_analysis", listMessage],
      ["/mcp", [listMessage, call]],
    ] as const) {
      expect(await post(reading, path, body)).toBe(403);
      expect(await post(writing, path, body)).not.toBe(403);
    }
  });

  it("include others as configured", async () => {
    await serve({ server: { scopes, tools: ["save_set"] } });
    const writing = await provider.sign({ scope: "mcp:write" });
    expect((await ask(writing)).status).toBe(200);
    expect((await ask(writing, save)).status).toBe(200);
  });
});
