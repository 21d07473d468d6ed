/** The tokens that this server sends to another one: its own, or those that it got in exchange; never those of a caller. */
import type { AuthProvider, FetchLike, OAuthTokens } from "@modelcontextprotocol/client";
import { denied, ResourceError, unavailable } from "../../errors.ts";
import type { Caller } from "../../resources.ts";
import type { Runtime } from "../../source.ts";
import type { McpAuthOptions } from "./auth-options.ts";
import { createSignInFetch } from "./sign-in-fetch.ts";
import { createSignInStore } from "./sign-in-store.ts";

/** Where new tokens come from. */
interface TokenSource {
  /** The current tokens. */
  stored(): OAuthTokens | undefined;
  /** Afterwards another token is there. Throws "denied" with what the operator has to do. */
  renew(metadataUrl: URL | undefined, scope: string | undefined): Promise<void>;
  /** Runs the work while nobody else renews. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

interface UpstreamAuthOptions extends McpAuthOptions {
  readonly url: string;
  readonly timeoutMs: number;
}

type Library = typeof import("@modelcontextprotocol/client");

const accessToken = "urn:ietf:params:oauth:token-type:access_token";
/** A server that refuses new tokens too makes no more than one request for a token in this time. */
const renewalMs = 10_000;

/** With the grant "token_exchange", the tokens are for this caller. */
export async function createUpstreamAuth(
  options: UpstreamAuthOptions,
  runtime: Runtime,
  caller?: Caller,
): Promise<{ readonly auth: AuthProvider; readonly fetch: FetchLike }> {
  const library = await import("@modelcontextprotocol/client");
  const { url, issuer, timeoutMs } = options;
  const fetch = createSignInFetch({
    configured: issuer === undefined ? [url] : [url, issuer],
    timeoutMs,
    log: runtime.log,
  });
  const source =
    options.grant === "authorization_code"
      ? operatorSignIn(url, runtime, library, fetch)
      : clientCredentials(options, library, fetch, caller);
  let current: string | undefined;
  let triedMs = -Infinity;
  let failure: unknown;

  async function renew(refused: string | undefined, response: Response): Promise<void> {
    const stored = source.stored()?.access_token;
    // Another request, another process or a new sign-in has already brought another one.
    if (stored !== undefined && stored !== refused) {
      [triedMs, failure] = [runtime.monotonicMs(), undefined];
      return;
    }
    if (runtime.monotonicMs() < triedMs + renewalMs) {
      if (failure !== undefined) throw failure;
      // The refused request may be older than the current token. If not, its second attempt fails.
      return;
    }
    triedMs = runtime.monotonicMs();
    const { resourceMetadataUrl, scope } = library.extractWWWAuthenticateParams(response);
    try {
      failure = undefined;
      await source.renew(resourceMetadataUrl, options.scope ?? scope);
    } catch (cause) {
      failure = cause;
      throw cause;
    }
  }

  return {
    fetch,
    auth: {
      async token() {
        // Stored tokens are looked up each time: a new sign-in counts at once, and so does its removal.
        current = source.stored()?.access_token;
        return current;
      },
      onUnauthorized({ response }) {
        const refused = current;
        return source.alone(() => renew(refused, response));
      },
    },
  };
}

/** The grant of RFC 6749, section 4.4, or of RFC 8693 for a caller. The token stays in memory. */
function clientCredentials(
  options: UpstreamAuthOptions,
  library: Library,
  fetchFn: FetchLike,
  caller: Caller | undefined,
): TokenSource {
  const { url, grant, issuer = "", clientId = "", clientSecret = "", privateKey, algorithm, scope } = options;
  const client = { clientId, expectedIssuer: issuer, scope };
  const provider =
    privateKey === undefined
      ? new library.ClientCredentialsProvider({ ...client, clientSecret })
      : new library.PrivateKeyJwtProvider({ ...client, privateKey, algorithm });
  if (grant === "token_exchange")
    provider.prepareTokenRequest = (requested) => exchangeRequest(options, caller, requested);
  let tokens: OAuthTokens | undefined;
  let last: Promise<unknown> = Promise.resolve();

  return {
    stored: () => tokens,
    async renew(metadataUrl, requested) {
      const described = await describeResource(url, metadataUrl, library, fetchFn);
      const named = described?.authorization_servers;
      if (named && !named.some((each) => sameIssuer(each, issuer)))
        throw denied("the server does not accept tokens of the configured issuer; check auth.issuer");
      tokens = await orRefusal("the authorization server refuses the credentials; check auth", library, async () => {
        await library.selectResourceURL(url, provider, described);
        const metadata = await library.discoverAuthorizationServerMetadata(issuer, { fetchFn });
        return library.fetchToken(provider, issuer, {
          metadata,
          resource: described?.resource,
          scope: requested,
          fetchFn,
        });
      });
    },
    alone(work) {
      const turn = last.then(work);
      last = turn.catch(() => undefined);
      return turn;
    },
  };
}

/** The caller's token, if the issuer of the mount issued it: it is sent to no other. */
export function subjectTokenOf(caller: Caller | undefined, { issuer = "" }: Pick<McpAuthOptions, "issuer">): string {
  const token = caller?.subjectToken?.(issuer);
  if (token === undefined) throw denied("this caller has no token of the issuer auth.issuer to exchange");
  return token;
}

function exchangeRequest(
  options: UpstreamAuthOptions,
  caller: Caller | undefined,
  scope: string | undefined,
): URLSearchParams {
  const { audience } = options;
  return new URLSearchParams({
    grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
    subject_token: subjectTokenOf(caller, options),
    subject_token_type: accessToken,
    requested_token_type: accessToken,
    ...(audience !== undefined && { audience }),
    ...(scope !== undefined && { scope }),
  });
}

/** The sign-in that `pressmark login` has stored. */
function operatorSignIn(url: string, runtime: Runtime, library: Library, fetchFn: FetchLike): TokenSource {
  const mount = runtime.mount ?? "MOUNT";
  const store = createSignInStore(runtime.env, mount, url);
  const advice = `run: pressmark login ${mount}`;
  return {
    stored: () => store.read()?.tokens,
    alone: store.alone,
    async renew() {
      const signIn = store.read();
      if (!signIn) throw denied(`the server requires a sign-in; ${advice}`);
      const { issuer, metadata, resource, client: clientInformation } = signIn;
      const { refresh_token: refreshToken } = signIn.tokens;
      if (refreshToken === undefined) throw denied(`the sign-in has expired; ${advice}`);
      const tokens = await orRefusal(`the sign-in has ended; ${advice}`, library, () =>
        library.refreshAuthorization(issuer, { metadata, clientInformation, resource, refreshToken, fetchFn }),
      );
      store.write({ ...signIn, tokens: { ...signIn.tokens, ...tokens } });
    },
  };
}

/** The server's metadata (RFC 9728); undefined if it has none, as before 2025-06-18. */
async function describeResource(url: string, metadataUrl: URL | undefined, library: Library, fetchFn: FetchLike) {
  try {
    return await library.discoverOAuthProtectedResourceMetadata(url, { resourceMetadataUrl: metadataUrl }, fetchFn);
  } catch (cause) {
    if (cause instanceof TypeError) throw unavailable("the server's metadata cannot be fetched", cause);
    if (cause instanceof ResourceError) throw cause;
    return undefined;
  }
}

/** Errors of the library may contain what was sent, so they are not passed on. */
export async function orRefusal<T>(message: string, library: Library, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ResourceError) throw cause;
    if (cause instanceof TypeError) throw unavailable("the authorization server cannot be reached");
    const code = cause instanceof library.OAuthError ? cause.code : (cause as Error).name;
    if (code === library.OAuthErrorCode.ServerError || code === library.OAuthErrorCode.TemporarilyUnavailable)
      throw unavailable("the authorization server failed; trying again later");
    throw denied(/^\w{1,60}$/.test(code) ? `${message} (${code})` : message);
  }
}

/** A trailing slash makes no difference: the official client adds one to an issuer without a path. */
export function sameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, "") === other.replace(/\/$/, "");
}
