/** Signs the operator in to another MCP server, for `pressmark login`. */
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { type LoopbackRedirect, openLoopbackRedirect } from "../backends/loopback-redirect.ts";
import { connect, type ConnectOptions } from "../client/connect.ts";
import type { MountConfig } from "../config/config.ts";
import { denied, invalid, quote, ResourceError } from "../errors.ts";
import type { Runtime } from "../source.ts";
import type { McpOptions } from "../sources/mcp.ts";
import { createSignInFetch } from "../sources/mcp/sign-in-fetch.ts";
import { orRefusal, sameIssuer } from "../sources/mcp/upstream-auth.ts";
import { createSignInStore, type StoredSignIn } from "../sources/mcp/sign-in-store.ts";

interface McpLogin {
  /** The user consents in a browser, at the URL passed to `show`. Returns the issuer. */
  login(show: (url: string) => void | Promise<void>, signal: AbortSignal): Promise<string>;
  /** False if nobody was signed in. Tokens are revoked if the authorization server can do that. */
  logout(signal: AbortSignal): Promise<boolean>;
}

const failure = "the sign-in failed";

type Library = typeof import("@modelcontextprotocol/client");
type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Throws "invalid" if the mount does not sign in as a person. */
export function createMcpLogin(
  { name, definition, options }: MountConfig,
  { env, log }: Pick<Runtime, "env" | "log">,
): McpLogin {
  const { url, auth, timeoutMs } = options as McpOptions;
  if (definition.name !== "mcp" || url === undefined || auth?.grant !== "authorization_code")
    throw invalid(
      `${quote(name)} does not sign in as a person; only a mount with the source mcp, a url and auth does, as in auth: {}`,
    );
  const { issuer } = auth;
  const fetch: Fetch = createSignInFetch({ configured: issuer === undefined ? [url] : [url, issuer], timeoutMs, log });
  const store = createSignInStore(env, name, url);

  return {
    async login(show, signal) {
      const library = await import("@modelcontextprotocol/client");
      const challenge = await challengeOf(url, { fetch, timeoutMs }, library, signal);
      const redirect = await openLoopbackRedirect(auth.redirectPort);
      try {
        const { provider, signIn } = createLoginProvider(auth, redirect, show);
        const request = { serverUrl: url, ...challenge, scope: auth.scope ?? challenge.scope, fetchFn: fetch };
        await orRefusal(failure, library, () => library.auth(provider, request));
        const { code: authorizationCode, iss } = await redirect.redirected(signal);
        await orRefusal(failure, library, () => library.auth(provider, { ...request, authorizationCode, iss }));
        const done = signIn();
        await store.alone(async () => store.write(done));
        return done.issuer;
      } finally {
        redirect.close();
      }
    },

    logout: (signal) =>
      store.alone(async () => {
        await revoke(store.read(), fetch, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
        return store.remove();
      }),
  };
}

/** What the server says about signing in when a request has no token. */
async function challengeOf(url: string, options: ConnectOptions, library: Library, signal: AbortSignal) {
  let challenge: { readonly resourceMetadataUrl?: URL; readonly scope?: string } = {};
  const call = { caller: { id: "login" }, signal };
  try {
    const server = await connect(url, {
      ...options,
      auth: {
        token: async () => undefined,
        async onUnauthorized({ response }) {
          const { resourceMetadataUrl, scope } = library.extractWWWAuthenticateParams(response);
          challenge = { resourceMetadataUrl, scope };
          throw denied("a sign-in is required");
        },
      },
    });
    // Some servers ask for a token only now.
    await server.list({}, call).finally(() => server.close());
  } catch (cause) {
    if (!(cause instanceof ResourceError) || cause.kind === "unavailable") throw cause;
  }
  return challenge;
}

/** Holds everything in memory until the sign-in is complete. */
function createLoginProvider(
  { issuer, clientId, clientSecret }: NonNullable<McpOptions["auth"]>,
  { url: redirectUrl, state }: LoopbackRedirect,
  show: (url: string) => void | Promise<void>,
) {
  let client: StoredOAuthClientInformation | undefined =
    clientId === undefined
      ? undefined
      : { client_id: clientId, issuer, ...(clientSecret !== undefined && { client_secret: clientSecret }) };
  let tokens: StoredOAuthTokens | undefined;
  let discovery: OAuthDiscoveryState | undefined;
  let resource: string | undefined;
  let verifier = "";

  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: "Pressmark",
      redirect_uris: [redirectUrl],
      // Without it, some authorization servers issue no refresh token.
      grant_types: ["authorization_code", "refresh_token"],
    },
    state: () => state,
    clientInformation: () => client,
    // A client from the config is never registered anew elsewhere.
    ...(clientId === undefined && { saveClientInformation: (fresh) => void (client = fresh) }),
    tokens: () => undefined,
    saveTokens: (fresh) => void (tokens = fresh),
    saveCodeVerifier: (fresh) => void (verifier = fresh),
    codeVerifier: () => verifier,
    saveResourceUrl: (url) => void (resource = url),
    discoveryState: () => discovery,
    saveDiscoveryState(fresh) {
      if (issuer !== undefined && !sameIssuer(issuerOf(fresh), issuer))
        throw denied(`the server names another authorization server than auth.issuer: ${quote(issuerOf(fresh), 200)}`);
      discovery = fresh;
    },
    redirectToAuthorization(url) {
      // The page is opened with the system's handler of its scheme, which may be any program.
      if (!/^https?:$/.test(url.protocol))
        throw denied(`the authorization server names a page that is not https: ${quote(url.protocol, 60)}`);
      return show(url.href);
    },
  };

  return {
    provider,
    signIn(): StoredSignIn {
      if (!tokens || !discovery || !client) throw denied("the authorization server returned no token");
      return { issuer: issuerOf(discovery), metadata: discovery.authorizationServerMetadata, resource, client, tokens };
    },
  };
}

/** RFC 7009. Best effort: the tokens are forgotten in any case. */
async function revoke(signIn: StoredSignIn | undefined, fetch: Fetch, signal: AbortSignal): Promise<void> {
  const { metadata, client, tokens } = signIn ?? {};
  const endpoint = metadata && "revocation_endpoint" in metadata ? metadata.revocation_endpoint : undefined;
  const token = tokens?.refresh_token ?? tokens?.access_token;
  if (!metadata || typeof endpoint !== "string" || token === undefined || !client) return;
  const { selectClientAuthMethod } = await import("@modelcontextprotocol/client");
  const { client_id: id, client_secret: secret = "" } = client;
  const method = selectClientAuthMethod(client, metadata.token_endpoint_auth_methods_supported ?? []);
  const isBasic = method === "client_secret_basic";
  const own = isBasic ? {} : { client_id: id, ...(method === "client_secret_post" && { client_secret: secret }) };
  const headers = isBasic ? { Authorization: `Basic ${btoa(`${id}:${secret}`)}` } : {};
  const body = new URLSearchParams({ token, ...own });
  await fetch(endpoint, { method: "POST", headers, body, signal, redirect: "error" }).catch(() => undefined);
}

function issuerOf({ authorizationServerMetadata, authorizationServerUrl }: OAuthDiscoveryState): string {
  return authorizationServerMetadata?.issuer ?? authorizationServerUrl;
}
