/** Configures `oidc-provider` as an authorization server for MCP clients: codes with PKCE, short access tokens, rotated refresh tokens. */
import type { Context, Provider } from "oidc-provider";
import type { Runtime } from "../../runtime.ts";
import type { DocumentFetch } from "./document-fetch.ts";
import type { Store } from "../../state/store.ts";
import type { OAuthStore } from "./oauth-store.ts";
import { createAdapters } from "./provider-adapter.ts";
import { restrictClient } from "./restrict-client.ts";
import { failurePage, wordsFor } from "./sign-in-pages.ts";

interface ProviderOptions {
  readonly package: Pick<typeof import("oidc-provider"), "Provider" | "errors">;
  /** The public URL, without a slash at the end. A path in it is removed by a proxy. */
  readonly issuer: string;
  /** Audience of every access token. */
  readonly resource: string;
  /** Scopes of a client that asks for none. */
  readonly usualScopes: readonly string[];
  readonly otherScopes: readonly string[];
  readonly store: OAuthStore;
  /** See `createAdapters`. */
  readonly shared?: Store | undefined;
  readonly runtime: Pick<Runtime, "now" | "log">;
  /** Whether there is such a caller, and the token with which they signed in, if it was one, is still valid. */
  isAdmitted(account: string, token: string | undefined): boolean;
  /** Whether the metadata document of a client may be requested now. */
  mayFetch(context: Context): boolean;
  readonly fetch: DocumentFetch;
}

export const paths = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  registration: "/oauth/register",
  revocation: "/oauth/revoke",
  jwks: "/oauth/jwks",
  end_session: "/oauth/end-session",
  pushed_authorization_request: "/oauth/request",
  /** Followed by the id of the sign-in. */
  interaction: "/oauth/sign-in/",
};

const minute = 60;
const day = 24 * 60 * minute;
const accessTokenSeconds = 60 * minute;
/** Since its last use. */
const refreshTokenSeconds = 60 * day;
const grantSeconds = 365 * day;

export function createProvider(options: ProviderOptions): Provider {
  const { issuer, resource, usualScopes, otherScopes, store, runtime, isAdmitted, mayFetch, fetch } = options;
  const scopes = [...new Set([...usualScopes, ...otherScopes])];
  const { Provider: OidcProvider, errors } = options.package;
  const { keys, cookieKeys } = store.read();
  const { host, protocol, pathname } = new URL(issuer);
  const disabled = { enabled: false };
  const provider = new OidcProvider(issuer, {
    adapter: createAdapters({
      store,
      shared: options.shared,
      now: runtime.now,
      isAdmitted,
      used: () => new errors.InvalidGrant("already used"),
    }),
    jwks: { keys },
    cookies: {
      keys: cookieKeys,
      names: { session: "pressmark_oauth", interaction: "pressmark_oauth_ask", resume: "pressmark_oauth_resume" },
    },
    routes: paths,
    interactions: {
      url: (_context: Context, { uid }: { uid: string }) => `${pathname.replace(/\/$/, "")}${paths.interaction}${uid}`,
    },
    findAccount: (_context: Context, accountId: string) =>
      isAdmitted(accountId, undefined) ? { accountId, claims: () => ({ sub: accountId }) } : undefined,
    scopes: [...scopes, "offline_access"],
    responseTypes: ["code"],
    pkce: { required: () => true },
    allowOmittingSingleRegisteredRedirectUri: false,
    clientAuthMethods: ["none", "private_key_jwt"],
    clientDefaults: {
      grant_types: ["authorization_code", "refresh_token"],
      id_token_signed_response_alg: "ES256",
      response_types: ["code"],
      token_endpoint_auth_method: "none",
    },
    enabledJWA: {
      idTokenSigningAlgValues: ["ES256"],
      clientAuthSigningAlgValues: ["ES256", "RS256", "PS256", "Ed25519", "EdDSA"],
    },
    // The checks apply to any property; one that no client uses makes them run once per client.
    extraClientMetadata: {
      properties: ["pressmark_checked"],
      validator(_context: Context, _key: string, _value: unknown, metadata: Record<string, unknown>) {
        const problem = restrictClient(metadata);
        if (problem !== undefined) throw new errors.InvalidClientMetadata(problem);
        delete metadata["pressmark_checked"];
      },
    },
    expiresWithSession: () => false,
    issueRefreshToken: (_context: Context, client: { grantTypeAllowed(type: string): boolean }) =>
      client.grantTypeAllowed("refresh_token"),
    rotateRefreshToken: true,
    loadExistingGrant: (context: Context) => findGrant(context, store),
    extraTokenClaims: (_context: Context, { grantId }: { grantId: string }) => ({ grant: grantId }),
    ttl: {
      AccessToken: accessTokenSeconds,
      AuthorizationCode: minute,
      Grant: grantSeconds,
      IdToken: accessTokenSeconds,
      Interaction: 30 * minute,
      RefreshToken: refreshTokenSeconds,
      Session: 60 * minute,
    },
    fetch,
    renderError(context: Context, out: { error: string; error_description?: string }) {
      const words = wordsFor(context.get("accept-language"));
      const { html, headers } = failurePage(`${out.error}: ${out.error_description ?? ""}`, words);
      context.set(headers);
      context.body = html;
    },
    features: {
      devInteractions: disabled,
      dPoP: disabled,
      userinfo: disabled,
      rpInitiatedLogout: disabled,
      pushedAuthorizationRequests: disabled,
      registration: { enabled: true, issueRegistrationAccessToken: false },
      revocation: {
        enabled: true,
        allowedPolicy: (_context: Context, client: { clientId: string }, token: { clientId: string }) =>
          token.clientId === client.clientId,
      },
      clientIdMetadataDocument: { enabled: true, ack: "draft-02", allowFetch: mayFetch },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_context: Context, _client: unknown, granted?: string | string[]) =>
          Array.isArray(granted) ? granted[0] : (granted ?? resource),
        useGrantedResource: () => true,
        getResourceServerInfo(_context: Context, indicator: string) {
          // Clients send the URL with or without a slash after the host.
          if (indicator.replace(/\/$/, "") !== resource.replace(/\/$/, ""))
            throw new errors.InvalidTarget(`this server issues tokens for ${resource} only`);
          return {
            audience: resource,
            scope: scopes.join(" "),
            accessTokenFormat: "jwt",
            accessTokenTTL: accessTokenSeconds,
            jwt: { sign: { alg: "ES256" } },
          };
        },
      },
    },
  });
  // URLs and cookies follow the public URL, whatever Host says.
  Object.defineProperties(provider.request, {
    host: { get: () => host },
    protocol: { get: () => protocol.slice(0, -1) },
  });
  provider.use((context, next) => {
    if (context.path === paths.authorization) addScopes(context, scopes, usualScopes);
    return next();
  });
  const failed = (_context: Context, cause: unknown) => runtime.log("error", "a sign-in failed", { cause });
  provider.on("server_error", failed);
  provider.on("error", (cause: unknown) => runtime.log("warn", "a request to /oauth failed", { cause }));
  const refused = (_context: Context, { message, error_detail: reason = message }: Error & { error_detail?: string }) =>
    runtime.log("warn", "a client was refused", { reason });
  for (const refusal of ["authorization.error", "grant.error", "registration_create.error"])
    provider.on(refusal, refused);
  return provider;
}

/** A client that asks for none of our scopes gets the usual ones: without any, nothing could be granted. */
function addScopes(context: Context, scopes: readonly string[], usual: readonly string[]): void {
  const { scope = "" } = context.query;
  if (typeof scope !== "string" || scope.split(" ").some((each) => scopes.includes(each))) return;
  context.query = { ...context.query, scope: `${scope} ${usual.join(" ")}`.trim() };
}

/** The grant of this caller for this client, from any browser. Whoever signed in with a token gets nothing that outlives it. */
async function findGrant(context: Context, store: OAuthStore) {
  const { client, account, provider, result, session } = context.oidc;
  const chosen = result?.consent?.grantId;
  if (chosen !== undefined) return provider.Grant.find(chosen);
  await store.load();
  const known = Object.entries(store.read().grants).find(
    ([, grant]) =>
      grant.account === account?.accountId && grant.client === client?.clientId && grant.token === session?.amr?.[0],
  );
  return known && provider.Grant.find(known[0]);
}
