import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import { decodeProtectedHeader, decodeJwt } from "jose";
import { describe, expect, it } from "vitest";
import { createOAuthStore } from "./oauth-store.ts";
import { openBuiltin } from "./open-builtin.ts";
import { hashPassword } from "./password.ts";
import {
  connectClient,
  createRequest,
  exchange,
  redirectUri,
  register,
  signInAndAllow,
  startBuiltin,
  tokenOfAki,
} from "./test-builtin.ts";

const never = new AbortController().signal;

describe("the embedded authorization server", () => {
  it("describes itself to MCP clients", async () => {
    await using builtin = await startBuiltin();
    const { url } = builtin;
    for (const path of ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]) {
      const metadata = await fetch(`${url}${path}`).then((response) => response.json());
      expect(metadata).toMatchObject({
        issuer: url,
        authorization_endpoint: `${url}/oauth/authorize`,
        token_endpoint: `${url}/oauth/token`,
        registration_endpoint: `${url}/oauth/register`,
        revocation_endpoint: `${url}/oauth/revoke`,
        jwks_uri: `${url}/oauth/jwks`,
        scopes_supported: ["pressmark", "offline_access", "openid"],
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
        client_id_metadata_document_supported: true,
        authorization_response_iss_parameter_supported: true,
      });
    }
    const { keys } = (await fetch(`${url}/oauth/jwks`).then((response) => response.json())) as { keys: object[] };
    expect(keys).toEqual([expect.objectContaining({ kty: "EC", alg: "ES256" })]);
    expect(keys[0]).not.toHaveProperty("d");
  });

  it("takes its URLs from the public URL, with its path, and not from Host", async () => {
    const url = "https://team.example/pressmark";
    await using builtin = await startBuiltin({ publicUrl: url });
    const asked = request(`${builtin.origin}/.well-known/oauth-authorization-server/pressmark`, {
      headers: { host: "evil.example", "x-forwarded-host": "evil.example", "x-forwarded-proto": "http" },
    }).end();
    const [response] = await once(asked, "response");
    const text = (await response.toArray()).join("");
    expect(text).not.toContain("evil.example");
    expect(JSON.parse(text)).toMatchObject({ issuer: url, token_endpoint: `${url}/oauth/token` });
    const { accessToken, client } = await connectClient(builtin);
    expect(await builtin.verifier.verify(accessToken, never)).toMatchObject({ caller: "aki", issuer: url });
    builtin.forgetCookies();
    const begun = await builtin.browse(createRequest(builtin, client).address);
    expect(begun.headers.get("location")).toMatch(/^\/pressmark\/oauth\/sign-in\//);
    for (const cookie of begun.headers.getSetCookie()) {
      expect(cookie).toMatch(/; path=\/pressmark\/oauth\//);
      expect(cookie).toMatch(/; secure; httponly; samesite=lax|; samesite=lax; secure; httponly/i);
    }
  });

  it("gives a client a token for the caller who signed in and allowed it", async () => {
    await using builtin = await startBuiltin();
    const { status, body, accessToken, client } = await connectClient(builtin);
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: "Bearer", expires_in: 3600, scope: "pressmark" });
    expect(decodeProtectedHeader(accessToken)).toMatchObject({ typ: "at+jwt", alg: "ES256" });
    expect(decodeJwt(accessToken)).toMatchObject({ iss: builtin.url, aud: builtin.resource, client_id: client });
    expect(await builtin.verifier.verify(accessToken, never)).toMatchObject({
      caller: "aki",
      owner: false,
      scopes: ["pressmark"],
      expiresMs: (decodeJwt(accessToken).exp ?? 0) * 1000,
    });
    expect([builtin.signedIn, builtin.allowed]).toEqual([["aki"], [["aki", client]]]);
  });

  it("grants configured scopes: those for reading to everyone, others if they are asked for", async () => {
    await using builtin = await startBuiltin({ scopes: { read: ["mcp:read"], write: ["mcp:write"] } });
    const client = String((await register(builtin)).body["client_id"]);
    const pages: string[] = [];
    const scopesFor = async (scope: string | undefined) => {
      const { verifier, address } = createRequest(builtin, client, { scope });
      const called = await signInAndAllow(builtin, address, { seen: (page) => pages.push(page) });
      const form = { code: called.searchParams.get("code") ?? "", code_verifier: verifier, redirect_uri: redirectUri };
      const { body } = await exchange(builtin, { grant_type: "authorization_code", client_id: client, ...form });
      return (await builtin.verifier.verify(String(body["access_token"]), never)).scopes;
    };
    expect(await scopesFor(undefined)).toEqual(["mcp:read"]);
    expect(await scopesFor("admin")).toEqual(["mcp:read"]);
    expect(pages.join("")).not.toContain("use the scope");
    expect(await scopesFor("mcp:read mcp:write")).toEqual(["mcp:read", "mcp:write"]);
    expect(pages.at(-1)).toContain("use the scope “mcp:write”");
  });

  it("lets the owner and callers sign in with a password", { timeout: 60_000 }, async () => {
    await using builtin = await startBuiltin();
    const hash = await hashPassword(" correct horse ");
    await builtin.store.change((state) => Object.assign(state.passwords, { owner: hash, bo: hash, gone: hash }));
    for (const [name, expected] of [
      ["owner", { owner: true, caller: undefined }],
      ["bo", { owner: false, caller: "bo" }],
    ] as const) {
      builtin.forgetCookies();
      const { accessToken } = await connectClient(builtin, " correct horse ", name);
      expect(await builtin.verifier.verify(accessToken, never)).toMatchObject(expected);
    }
    builtin.forgetCookies();
    await expect(connectClient(builtin, " correct horse ", "gone")).rejects.toThrow("This name and password are not");
  });

  it("remembers what a caller allowed a hosted client, and asks for a local program each time", async () => {
    await using builtin = await startBuiltin();
    const hosted = String((await register(builtin)).body["client_id"]);
    const local = "http://127.0.0.1:1234/cb";
    const { body } = await register(builtin, { redirect_uris: ["http://127.0.0.1/cb"] });
    const program = { id: String(body["client_id"]), redirect_uri: local };
    const asks = async (client: string, changes = {}) => {
      const { address } = createRequest(builtin, client, changes);
      const first = await builtin.browse(address);
      return new URL(first.headers.get("location")!, builtin.url).href.startsWith(builtin.url) ? address : undefined;
    };
    await signInAndAllow(builtin, createRequest(builtin, hosted).address);
    expect(await asks(hosted)).toBeUndefined();
    builtin.forgetCookies();
    await signInAndAllow(builtin, createRequest(builtin, hosted).address, { consent: "must not be asked" });
    for (const _time of [1, 2]) {
      const address = await asks(program.id, { redirect_uri: local });
      expect((await signInAndAllow(builtin, address!)).href).toContain("http://127.0.0.1:1234/cb?code=");
    }
    expect(Object.values(builtin.store.read().grants)).toHaveLength(2);
  });

  it("sends a denied client back with an error, and issues nothing", async () => {
    await using builtin = await startBuiltin();
    const client = String((await register(builtin)).body["client_id"]);
    const called = await signInAndAllow(builtin, createRequest(builtin, client).address, { consent: "deny" });
    expect(Object.fromEntries(called.searchParams)).toMatchObject({
      error: "access_denied",
      state: "state-1",
      iss: builtin.url,
    });
    expect(builtin.store.read().grants).toEqual({});
  });

  it("lets a person on the consent page sign in as someone else", { timeout: 60_000 }, async () => {
    await using builtin = await startBuiltin();
    const hash = await hashPassword("correct horse");
    await builtin.store.change((state) => Object.assign(state.passwords, { bo: hash }));
    const client = String((await register(builtin)).body["client_id"]);
    const { address } = createRequest(builtin, client);
    const next = async (response: Response) => new URL(response.headers.get("location")!, builtin.url).href;
    const signIn = await next(await builtin.browse(address));
    const resumed = await next(await builtin.browse(signIn, { form: { action: "sign-in", secret: tokenOfAki } }));
    const consent = await next(await builtin.browse(resumed));
    expect(await (await builtin.browse(consent)).text()).toContain("aki");
    const again = await next(await builtin.browse(consent, { form: { action: "switch" } }));
    const called = await signInAndAllow(builtin, again, { name: "bo", secret: "correct horse" });
    expect(called.searchParams.get("code")).toBeTruthy();
    expect(Object.values(builtin.store.read().grants)).toMatchObject([{ account: "bo" }]);
  });

  it("keeps grants, clients and keys over a restart, and rotates refresh tokens", async () => {
    await using builtin = await startBuiltin();
    const { client, accessToken, refreshToken } = await connectClient(builtin);
    await builtin.restart();
    expect(await builtin.verifier.verify(accessToken, never)).toMatchObject({ caller: "aki" });
    const refreshed = await exchange(builtin, {
      grant_type: "refresh_token",
      client_id: client,
      refresh_token: refreshToken,
      resource: builtin.resource,
    });
    expect(refreshed.status).toBe(200);
    expect(refreshed.body["refresh_token"]).not.toBe(refreshToken);
    expect(await builtin.verifier.verify(String(refreshed.body["access_token"]), never)).toMatchObject({
      caller: "aki",
    });
  });

  it("refuses an access token after an hour, and lets the client refresh it for sixty days", async () => {
    let later = 0;
    await using builtin = await startBuiltin({ now: () => Date.now() + later });
    const { client, accessToken, refreshToken } = await connectClient(builtin);
    later = 3601_000;
    await expect(builtin.verifier.verify(accessToken, never)).rejects.toMatchObject({ reason: "ERR_JWT_EXPIRED" });
    const refresh = (token: unknown) =>
      exchange(builtin, { grant_type: "refresh_token", client_id: client, refresh_token: String(token) });
    const { status, body } = await refresh(refreshToken);
    expect(status).toBe(200);
    later += 61 * 86_400_000;
    await builtin.store.change(() => undefined);
    expect(await refresh(body["refresh_token"])).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  it.each(["none", "HS256", "ES256"])("refuses a token that it did not sign (%s)", async (alg) => {
    await using builtin = await startBuiltin();
    const { accessToken } = await connectClient(builtin);
    const [, payload = ""] = accessToken.split(".");
    const header = { ...decodeProtectedHeader(accessToken), alg };
    const unsigned = `${Buffer.from(JSON.stringify(header)).toString("base64url")}.${payload}`;
    const [key] = builtin.store.read().keys;
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const signature = {
      none: () => "",
      HS256: () =>
        createHmac("sha256", JSON.stringify({ ...key, d: undefined }))
          .update(unsigned)
          .digest("base64url"),
      ES256: () =>
        sign("sha256", Buffer.from(unsigned), { key: privateKey, dsaEncoding: "ieee-p1363" }).toString("base64url"),
    }[alg]!();
    const refusal = { name: "TokenRefusal", message: "the token is not valid" };
    await expect(builtin.verifier.verify(`${unsigned}.${signature}`, never)).rejects.toMatchObject(refusal);
    await expect(builtin.verifier.verify("pmk_x", never)).rejects.toMatchObject(refusal);
    await builtin.verifier.verify(accessToken, never);
  });

  it("ends a client with its caller, and when another process revokes it", async () => {
    await using builtin = await startBuiltin();
    const { client, accessToken, refreshToken } = await connectClient(builtin);
    const refresh = () =>
      exchange(builtin, { grant_type: "refresh_token", client_id: client, refresh_token: refreshToken });
    const { callers } = builtin;
    builtin.callers = [];
    // The browser is still signed in as this caller.
    const begun = await builtin.browse(createRequest(builtin, client).address);
    const page = await builtin.browse(new URL(begun.headers.get("location")!, builtin.url).href);
    expect(await page.text()).toContain("<h1>Sign in</h1>");
    await expect(builtin.verifier.verify(accessToken, never)).rejects.toThrow("the token was revoked");
    expect(await refresh()).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    builtin.callers = callers;
    const { ended } = await builtin.verifier.verify(accessToken, never);
    const [grant] = Object.values(builtin.store.read().grants);
    const ending = once(ended!, "abort");
    const other = createOAuthStore(builtin.stateFolder, "/config.yaml", Date.now);
    expect(await other.revoke(grant!.id)).toMatchObject({ grants: [{ account: "aki", client }] });
    await expect(builtin.verifier.verify(accessToken, never)).rejects.toThrow("the token was revoked");
    await ending;
    expect(await refresh()).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
  });

  it("ends what was allowed with an access token when the token ends, and nothing else", async () => {
    await using builtin = await startBuiltin();
    const byToken = await connectClient(builtin);
    builtin.forgetCookies();
    const byCode = await connectClient(builtin, "code-of-aki");
    const { ended } = await builtin.verifier.verify(byToken.accessToken, never);
    const refresh = ({ client, refreshToken }: typeof byToken) =>
      exchange(builtin, { grant_type: "refresh_token", client_id: client, refresh_token: refreshToken });
    builtin.endToken();
    expect(ended?.aborted).toBe(true);
    await expect(builtin.verifier.verify(byToken.accessToken, never)).rejects.toThrow("the token was revoked");
    expect(await refresh(byToken)).toMatchObject({ status: 400, body: { error: "invalid_grant" } });
    expect(await builtin.verifier.verify(byCode.accessToken, never)).toMatchObject({ caller: "aki" });
    expect((await refresh(byCode)).status).toBe(200);
    // The same client can be allowed again, with its id.
    builtin.forgetCookies();
    const again = createRequest(builtin, byToken.client).address;
    expect((await signInAndAllow(builtin, again, { secret: "code-of-aki" })).searchParams.get("code")).toBeTruthy();
  });

  it("asks again if a caller signs in with a token, although they allowed the client without one", async () => {
    await using builtin = await startBuiltin();
    const client = String((await register(builtin)).body["client_id"]);
    const asked: string[] = [];
    const seen = (page: string) => page.includes('value="allow"') && asked.push(page);
    for (const secret of ["code-of-aki", tokenOfAki, tokenOfAki, "code-of-aki"]) {
      builtin.forgetCookies();
      await signInAndAllow(builtin, createRequest(builtin, client).address, { secret, seen });
    }
    expect(asked).toHaveLength(2);
    const grants = Object.values(builtin.store.read().grants);
    expect(grants.map(({ token }) => typeof token)).toEqual(["undefined", "string"]);
  });

  it("says nothing about a token in an ID token", async () => {
    await using builtin = await startBuiltin();
    const client = String((await register(builtin)).body["client_id"]);
    const { verifier, address } = createRequest(builtin, client, { scope: "openid pressmark" });
    const code = (await signInAndAllow(builtin, address)).searchParams.get("code") ?? "";
    const form = { code, code_verifier: verifier, redirect_uri: redirectUri };
    const { body } = await exchange(builtin, { grant_type: "authorization_code", client_id: client, ...form });
    expect(Object.keys(decodeJwt(String(body["id_token"]))).toSorted()).toEqual(["aud", "exp", "iat", "iss", "sub"]);
  });

  it("ends a client that gives its refresh token back", async () => {
    await using builtin = await startBuiltin();
    const { client, accessToken, refreshToken } = await connectClient(builtin);
    const { ended } = await builtin.verifier.verify(accessToken, never);
    const revoked = await fetch(`${builtin.url}/oauth/revoke`, {
      method: "POST",
      body: new URLSearchParams({ client_id: client, token: refreshToken }),
    });
    expect([revoked.status, ended?.aborted, builtin.store.read().grants]).toEqual([200, true, {}]);
  });

  it("is not opened for a public URL without encryption", async () => {
    await using builtin = await startBuiltin();
    const opened = openBuiltin({ ...builtin.context, publicUrl: "http://team.example" });
    await expect(opened).rejects.toThrow('needs an https: URL in server.publicUrl, not "http://team.example"');
  });

  it("speaks the language of the browser", async () => {
    await using builtin = await startBuiltin();
    const client = String((await register(builtin)).body["client_id"]);
    const first = await builtin.browse(createRequest(builtin, client).address);
    const address = new URL(first.headers.get("location")!, builtin.url).href;
    const inLanguage = async (language: string) =>
      /<h1>(.*)<\/h1>/.exec(
        await (await builtin.browse(address, { headers: { "accept-language": language } })).text(),
      )?.[1];
    expect(await inLanguage("ja,en;q=0.8")).toBe("サインイン");
    expect(await inLanguage("fr,en;q=0.5,ja;q=0.4")).toBe("Sign in");
    expect(await inLanguage("fr")).toBe("Sign in");
  });
});
