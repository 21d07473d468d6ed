/** A server that lets in only who has its token of the hour, and a client that is given one, or a way to get the next. */
import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { auth, ClientCredentialsProvider, type OAuthClientProvider } from "@modelcontextprotocol/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { openPolicy } from "../../src/access/policy.ts";
import { connect, type ConnectOptions } from "../../src/client/connect.ts";
import { createProtocol } from "../../src/protocol/create-protocol.ts";
import type { Call } from "../../src/resources.ts";
import { createResources } from "../../src/router/create-resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import { createMemory } from "../../src/sources/memory.ts";
import { collectChanges as hear } from "../../src/testing/listen.ts";
import { refusal } from "../../src/testing/refusal.ts";
import { listen } from "../../src/transport/listen.ts";

const uri = "memory://far/a.md";

function caller(): Call {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  return { caller: { id: "me" }, signal: stop.signal };
}

/** What stands beside the server that is asked: who one is, is said there. */
type Beside = (request: IncomingMessage, response: ServerResponse, path: string) => boolean;

async function open(beside: Beside = () => false) {
  const memory = createMemory({ "a.md": "alpha" });
  const pressmark = createResources({
    mounts: [{ name: "far", base: "memory://far/", source: memory.source }],
    policy: openPolicy,
    runtime: createRuntime({ write: () => true }),
    cursorKey: new Uint8Array(32),
  });
  const endpoint = { token: "first", refused: 0 };
  const listening = await listen(createProtocol({ resources: pressmark, server: { name: "far", version: "1" } }), {
    port: 0,
    graceMs: 0,
    elsewhere: beside,
    identify({ headers }) {
      if (headers.authorization === `Bearer ${endpoint.token}`) return { id: "me" };
      endpoint.refused += 1;
      return undefined;
    },
  });
  onTestFinished(async () => {
    listening.server.closeAllConnections();
    await listening.close();
    await pressmark.close();
  });
  const enter = async (options: ConnectOptions) => {
    const client = await connect(listening.url, options);
    onTestFinished(() => client.close());
    return client;
  };
  return { endpoint, memory, enter, url: listening.url };
}

/** A server for authorization, as far as a code with a proof of its key (PKCE) needs one. */
function createAuthority(tokenOf: () => string): { beside: Beside; approve(sent: URL): string } {
  const challenges = new Map<string, string>();

  async function answer(request: IncomingMessage, path: string): Promise<unknown> {
    const origin = `http://${request.headers.host}`;
    if (path.startsWith("/.well-known/oauth-protected-resource"))
      return { resource: `${origin}/mcp`, authorization_servers: [origin] };
    if (path === "/.well-known/oauth-authorization-server")
      return {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
      };
    const body = await text(request);
    if (path === "/register") return { ...(JSON.parse(body) as object), client_id: "pressmark" };
    const given = new URLSearchParams(body);
    const proof = createHash("sha256")
      .update(given.get("code_verifier") ?? "")
      .digest("base64url");
    return challenges.get(given.get("code") ?? "") === proof
      ? { access_token: tokenOf(), token_type: "Bearer" }
      : { error: "invalid_grant" };
  }

  return {
    beside(request, response, path) {
      if (!/^\/(?:\.well-known\/oauth-[a-z-]+(?:\/mcp)?|register|token)$/.test(path)) return false;
      void answer(request, path).then((said) => {
        const isWrong = "error" in (said as object);
        response.writeHead(isWrong ? 400 : path === "/register" ? 201 : 200, { "Content-Type": "application/json" });
        response.end(JSON.stringify(said));
      });
      return true;
    },
    approve(sent) {
      const code = randomUUID();
      challenges.set(code, sent.searchParams.get("code_challenge") ?? "");
      return code;
    },
  };
}

/** What a host keeps of a person who signs in; here in memory. */
function createProvider(): OAuthClientProvider & { sentTo: URL | undefined } {
  let information: ReturnType<OAuthClientProvider["clientInformation"]>;
  let tokens: ReturnType<OAuthClientProvider["tokens"]>;
  let verifier = "";
  let discovered: Awaited<ReturnType<NonNullable<OAuthClientProvider["discoveryState"]>>>;
  return {
    sentTo: undefined,
    redirectUrl: "http://127.0.0.1/back",
    clientMetadata: { client_name: "a host", redirect_uris: ["http://127.0.0.1/back"] },
    clientInformation: () => information,
    saveClientInformation: (fresh) => void (information = fresh),
    tokens: () => tokens,
    saveTokens: (fresh) => void (tokens = fresh),
    redirectToAuthorization(url) {
      this.sentTo = url;
    },
    saveCodeVerifier: (fresh) => void (verifier = fresh),
    codeVerifier: () => verifier,
    saveDiscoveryState: (fresh) => void (discovered = fresh),
    discoveryState: () => discovered,
  };
}

describe.each(["modern", "legacy"] as const)("a server that asks for a token (%s)", (era) => {
  it("lets in who sends it as a header, and nobody else", async () => {
    const { enter } = await open();
    const client = await enter({ era, headers: { Authorization: "Bearer first" } });
    expect((await client.read(uri, caller())).contents).toHaveLength(1);
    await refusal(enter({ era }), ["denied"], "no token");
    await refusal(enter({ era, headers: { Authorization: "Bearer guessed" } }), ["denied"], "a wrong token");
  });

  it("is given the next one by a provider when the first has run out, and a watch goes on", async () => {
    const { endpoint, memory, enter } = await open();
    let token = "none yet";
    const client = await enter({
      era,
      auth: {
        token: async () => token,
        onUnauthorized: async () => {
          token = endpoint.token;
        },
      },
    });
    const { until } = hear(await client.watch({ uris: [uri] }, caller()));
    endpoint.token = "second";
    expect((await client.read(uri, caller())).contents[0]?.body).toEqual({ text: "alpha" });
    expect(token).toBe("second");
    memory.set("a.md", "beta");
    await until(({ kind }) => kind === "updated", "that it changed");
    expect((await client.read(uri, caller())).contents[0]?.body).toEqual({ text: "beta" });
  });

  it("that a provider has no token for refuses, and is not asked for ever", async () => {
    const { endpoint, enter } = await open();
    await refusal(enter({ era, auth: { token: async () => undefined } }), ["denied"], "no token");
    expect(endpoint.refused).toBeLessThan(10);
  });
});

it("a person who is sent to sign in, and comes back with a code, is let in", async () => {
  let token = "";
  const { beside, approve } = createAuthority(() => token);
  const { endpoint, enter, url } = await open(beside);
  token = endpoint.token;
  const provider = createProvider();
  await refusal(enter({ auth: provider }), ["denied"], "nobody yet");
  await auth(provider, { serverUrl: url, authorizationCode: approve(provider.sentTo!) });
  const client = await enter({ auth: provider });
  expect((await client.read(uri, caller())).contents[0]?.body).toEqual({ text: "alpha" });
});

it.each([
  ["that the authorization server refuses", undefined, "invalid_grant"],
  ["of another issuer", "https://issuer.example", "AuthorizationServerMismatchError"],
])("credentials %s are no reason to try again, and are not repeated", async (_, issuer, code) => {
  const { beside } = createAuthority(() => "");
  const { enter, url } = await open(beside);
  const clientSecret = randomUUID();
  const expectedIssuer = issuer ?? new URL(url).origin;
  const provider = new ClientCredentialsProvider({ clientId: "pressmark", clientSecret, expectedIssuer });
  const failure = await refusal(enter({ auth: provider }), ["denied"], code);
  expect(failure.message).toBe(`signing in to the server failed (${code})`);
  expect(failure.passing).toBe(false);
});
