import { describe, expect, it } from "vitest";
import { hashPassword } from "./password.ts";
import {
  connectClient,
  createRequest,
  exchange,
  redirectUri,
  register,
  signInAndAllow,
  startBuiltin,
  type TestBuiltin,
  tokenOfAki,
} from "./test-builtin.ts";

/** Hashes of passwords take long on a busy machine. */
const slow = { timeout: 60_000 };
const never = new AbortController().signal;
const refusedGrant = { status: 400, body: expect.objectContaining({ error: "invalid_grant" }) };

/** The first page of a sign-in. */
async function beginSignIn(builtin: TestBuiltin, metadata = {}): Promise<string> {
  const client = String((await register(builtin, metadata)).body["client_id"]);
  const begun = await builtin.browse(createRequest(builtin, client).address);
  return new URL(begun.headers.get("location")!, builtin.url).href;
}

/** Attempts to sign in. */
async function guess(builtin: TestBuiltin) {
  const hash = await hashPassword("correct horse");
  await builtin.store.change((state) => Object.assign(state.passwords, { aki: hash }));
  const address = await beginSignIn(builtin);
  return async (name: string, secret: string) => {
    const response = await builtin.browse(address, { form: { action: "sign-in", name, secret } });
    return { status: response.status, page: (await response.text()).replace(`value="${name}"`, "") };
  };
}

describe("a stolen code or refresh token", () => {
  it("ends everything that was issued for it when a code is used twice", async () => {
    await using builtin = await startBuiltin();
    const { form, accessToken, client, refreshToken } = await connectClient(builtin);
    const { ended } = await builtin.verifier.verify(accessToken, never);
    expect(await exchange(builtin, form)).toEqual(refusedGrant);
    expect(ended?.aborted).toBe(true);
    expect(builtin.logged.join("")).toContain("authorization code already consumed");
    await expect(builtin.verifier.verify(accessToken, never)).rejects.toThrow("the token was revoked");
    const refresh = { grant_type: "refresh_token", client_id: client, refresh_token: refreshToken };
    expect(await exchange(builtin, refresh)).toEqual(refusedGrant);
  });

  it("ends everything when a refresh token is used twice, after a restart too", async () => {
    await using builtin = await startBuiltin();
    const { accessToken, client, refreshToken } = await connectClient(builtin);
    const refresh = (token: string) =>
      exchange(builtin, { grant_type: "refresh_token", client_id: client, refresh_token: token });
    const next = await refresh(refreshToken);
    expect(next.status).toBe(200);
    await builtin.restart();
    expect(await refresh(refreshToken)).toEqual(refusedGrant);
    expect(builtin.logged.join("")).toContain("refresh token already used");
    expect(await refresh(String(next.body["refresh_token"]))).toEqual(refusedGrant);
    await expect(builtin.verifier.verify(accessToken, never)).rejects.toThrow("the token was revoked");
  });

  it("lets one of many requests at the same time have it, and then nobody", async () => {
    await using builtin = await startBuiltin();
    const { client, refreshToken } = await connectClient(builtin);
    const refresh = { grant_type: "refresh_token", client_id: client, refresh_token: refreshToken };
    const results = await Promise.all(Array.from({ length: 5 }, () => exchange(builtin, refresh)));
    const issued = results.filter(({ status }) => status === 200);
    expect(issued.length).toBeLessThanOrEqual(1);
    expect(builtin.store.read().grants).toEqual({});
    for (const { body } of issued)
      await expect(builtin.verifier.verify(String(body["access_token"]), never)).rejects.toThrow("revoked");
  });

  it("is worth nothing to another client, without the verifier, or with another redirect URI", async () => {
    await using builtin = await startBuiltin();
    const other = String((await register(builtin)).body["client_id"]);
    const { client, refreshToken } = await connectClient(builtin);
    const { verifier, address } = createRequest(builtin, client);
    const code = (await signInAndAllow(builtin, address)).searchParams.get("code") ?? "";
    const form = {
      grant_type: "authorization_code",
      client_id: client,
      code,
      code_verifier: verifier,
      redirect_uri: redirectUri,
    };
    for (const change of [{ client_id: other }, { code_verifier: "a".repeat(43) }, { redirect_uri: `${redirectUri}2` }])
      expect(await exchange(builtin, { ...form, ...change })).toEqual(refusedGrant);
    const refresh = { grant_type: "refresh_token", client_id: other, refresh_token: refreshToken };
    expect(await exchange(builtin, refresh)).toEqual(refusedGrant);
    expect((await exchange(builtin, form)).status).toBe(200);
  });
});

describe("a hostile client", () => {
  it("cannot register a redirect URI that leaves TLS or names another program", async () => {
    await using builtin = await startBuiltin();
    for (const uri of [
      "http://client.example/cb",
      "cursor://anysphere/cb",
      "javascript:alert(1)",
      "https://user:pw@client.example/cb",
      "https://client.example/cb#x",
      "http://127.0.0.1.evil.example/cb",
      "http://localhost@evil.example/",
      7,
    ])
      expect(await register(builtin, { redirect_uris: [redirectUri, uri] })).toMatchObject({
        status: 400,
        body: { error: "invalid_redirect_uri" },
      });
    expect(await register(builtin, { redirect_uris: [] })).toMatchObject({ status: 400 });
    expect(await register(builtin, { client_name: "x".repeat(9000) })).toMatchObject({ status: 400 });
    expect(builtin.store.read().clients).toEqual({});
  });

  it("is registered without secrets and without what this server does not support", async () => {
    await using builtin = await startBuiltin();
    const { status, body } = await register(builtin, {
      token_endpoint_auth_method: "client_secret_post",
      grant_types: ["authorization_code", "refresh_token", "client_credentials", "implicit"],
      response_types: ["code", "token"],
      scope: "admin everything",
      logo_uri: "https://client.example/logo.png",
    });
    expect([status, body["token_endpoint_auth_method"], body["grant_types"], body["response_types"]]).toEqual([
      201,
      "none",
      ["authorization_code", "refresh_token"],
      ["code"],
    ]);
    for (const key of ["client_secret", "scope", "logo_uri"]) expect(body).not.toHaveProperty(key);
  });

  it("cannot fill the store: registrations are limited", async () => {
    await using builtin = await startBuiltin();
    const statuses = new Set<number>();
    for (let count = 0; count < 61; count += 1) statuses.add((await register(builtin)).status);
    expect([...statuses]).toEqual([201, 429]);
    expect(Object.keys(builtin.store.read().clients)).toHaveLength(60);
  });

  it("gets no redirect to a URI that it did not register, and no code without PKCE or for another server", async () => {
    await using builtin = await startBuiltin();
    const client = String((await register(builtin)).body["client_id"]);
    const ask = (changes: Record<string, string | undefined>) =>
      builtin.browse(createRequest(builtin, client, changes).address);
    const elsewhere = await ask({ redirect_uri: "https://evil.example/callback" });
    expect([elsewhere.status, elsewhere.headers.get("location")]).toEqual([400, null]);
    expect(elsewhere.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    const unknown = await ask({ client_id: "constructor" });
    expect([unknown.status, unknown.headers.get("location")]).toEqual([400, null]);
    for (const [changes, error] of [
      [{ code_challenge: undefined, code_challenge_method: undefined }, "invalid_request"],
      [{ code_challenge_method: "plain" }, "invalid_request"],
      [{ resource: "https://other.example/mcp" }, "invalid_target"],
      [{ response_type: "token" }, "unsupported_response_type"],
    ] as const) {
      const { searchParams, hash } = new URL((await ask(changes)).headers.get("location")!);
      expect(searchParams.get("error") ?? new URLSearchParams(hash.slice(1)).get("error")).toBe(error);
    }
  });

  it("cannot write into the page", async () => {
    await using builtin = await startBuiltin();
    const address = await beginSignIn(builtin, { client_name: `<script>alert(1)</script>"'&\u202e` });
    const response = await builtin.browse(address);
    const page = await response.text();
    expect(page).not.toContain("<script");
    expect(page).not.toContain("\u202e");
    expect(page).toContain("&#60;script&#62;alert(1)");
    expect(response.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; base-uri 'none'; style-src 'sha256-[^']+'; form-action 'self' https:\/\/client\.example; frame-ancestors 'none'$/,
    );
    expect(response.headers.get("cache-control")).toBe("no-store");
  });
});

describe("a hostile page", () => {
  it("cannot send the form", async () => {
    await using builtin = await startBuiltin();
    const address = await beginSignIn(builtin);
    const form = { action: "sign-in", secret: tokenOfAki };
    for (const origin of ["https://evil.example", "null", ""]) {
      const response = await builtin.browse(address, { form, headers: { origin } });
      expect([response.status, response.headers.get("location")]).toEqual([403, null]);
    }
    expect(builtin.signedIn).toEqual([]);
  });

  it("cannot make a browser continue the sign-in of another", async () => {
    await using builtin = await startBuiltin();
    const address = await beginSignIn(builtin);
    builtin.forgetCookies();
    const form = { action: "sign-in", secret: tokenOfAki };
    expect((await builtin.browse(address, { form })).status).toBe(400);
    const own = await beginSignIn(builtin);
    expect((await builtin.browse(own)).status).toBe(200);
    expect((await builtin.browse(address, { form })).status).toBe(400);
    expect(builtin.signedIn).toEqual([]);
  });

  it("cannot skip a step", async () => {
    await using builtin = await startBuiltin();
    const address = await beginSignIn(builtin);
    const page = await (await builtin.browse(address, { form: { action: "allow" } })).text();
    expect(page).toContain('value="sign-in"');
    expect(builtin.store.read().grants).toEqual({});
  });
});

describe("a page of another origin", () => {
  it("gets no permission to read from the provider: the server decides", async () => {
    await using builtin = await startBuiltin();
    const { client, refreshToken } = await connectClient(builtin);
    const form = { grant_type: "refresh_token", client_id: client, refresh_token: refreshToken };
    const headers = { origin: "http://localhost:6274" };
    const token = await fetch(`${builtin.url}/oauth/token`, {
      method: "POST",
      headers,
      body: new URLSearchParams(form),
    });
    const metadata = await fetch(`${builtin.url}/.well-known/oauth-authorization-server`, { headers });
    const missing = await fetch(`${builtin.url}/oauth/nothing`, { headers });
    for (const { headers: given } of [token, metadata, missing]) {
      expect(given.get("access-control-allow-origin")).toBeNull();
      expect([given.get("cache-control"), given.get("x-content-type-options")]).toEqual(["no-store", "nosniff"]);
    }
    expect([token.status, metadata.status, missing.status]).toEqual([200, 200, 404]);
  });
});

describe("someone who guesses passwords", () => {
  it("gets the same answer for a wrong password, a caller without one and an unknown name", slow, async () => {
    await using builtin = await startBuiltin();
    const attempt = await guess(builtin);
    const wrong = await attempt("aki", "wrong password");
    expect(wrong.status).toBe(403);
    for (const name of ["bo", "__proto__"]) expect(await attempt(name, "wrong password")).toEqual(wrong);
    expect(builtin.signedIn).toEqual([undefined, undefined, undefined]);
  });

  it("has to wait after five wrong passwords, also at the same time", slow, async () => {
    await using builtin = await startBuiltin();
    const attempt = await guess(builtin);
    const results = await Promise.all(Array.from({ length: 8 }, () => attempt("aki", "wrong password")));
    expect(results.map(({ status }) => status).toSorted()).toEqual([403, 403, 403, 403, 403, 429, 429, 429]);
    expect((await attempt("aki", "correct horse")).status).toBe(429);
    // Others, and a token, still work.
    expect((await attempt("bo", "wrong password")).status).toBe(403);
    expect((await attempt("aki", tokenOfAki)).status).toBe(303);
  });

  it("has to wait after many attempts with many names", async () => {
    await using builtin = await startBuiltin();
    const address = await beginSignIn(builtin);
    const attempt = async () =>
      (await builtin.browse(address, { form: { action: "sign-in", secret: "pmk_wrong" } })).status;
    for (let count = 0; count < 50; count += 1) expect(await attempt()).toBe(403);
    expect(await attempt()).toBe(429);
  });
});
