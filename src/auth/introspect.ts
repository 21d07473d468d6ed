/** Asks an issuer whether a token that is not a JWT is valid (RFC 7662). */
import type { IntrospectionResponse } from "oauth4webapi";
import type { IssuerSettings } from "../config/auth.ts";
import { ResourceError, unavailable } from "../errors.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { TokenRefusal } from "./token-verifier.ts";

interface IntrospectOptions extends Pick<IssuerSettings, "issuer"> {
  readonly endpoint: NonNullable<IssuerSettings["introspection"]>;
  readonly audiences: readonly string[];
  readonly clockSkewSeconds: number;
  readonly fetch: GuardedFetch;
}

/** Rejects with a TokenRefusal, and with "unavailable" or "busy" if the issuer does not answer. */
export type Introspect = (token: string, nowMs: number, signal: AbortSignal) => Promise<IntrospectionResponse>;

/** A flood of unknown tokens must not become a flood of requests to the issuer. */
const maxAtOnce = 16;

export function createIntrospect(options: IntrospectOptions): Introspect {
  const { issuer, endpoint, audiences, clockSkewSeconds, fetch } = options;
  let running = 0;

  async function ask(token: string, signal: AbortSignal): Promise<IntrospectionResponse> {
    const oauth = await import("oauth4webapi");
    const server = { issuer, introspection_endpoint: endpoint.url };
    const client = { client_id: endpoint.clientId };
    try {
      const response = await oauth.introspectionRequest(
        server,
        client,
        oauth.ClientSecretBasic(endpoint.clientSecret),
        token,
        {
          signal,
          [oauth.customFetch]: fetch,
          [oauth.allowInsecureRequests]: endpoint.url.startsWith("http:"),
        },
      );
      return await oauth.processIntrospectionResponse(server, client, response);
    } catch (cause) {
      if (cause instanceof ResourceError) throw cause;
      throw unavailable(`the introspection endpoint of ${issuer} does not answer as it should`, cause);
    }
  }

  return async (token, nowMs, signal) => {
    if (running >= maxAtOnce)
      throw new ResourceError("busy", "too many tokens are being verified; try again soon", {
        details: { retryAfterMs: 1000 },
      });
    running += 1;
    let found: IntrospectionResponse;
    try {
      found = await ask(token, signal);
    } finally {
      running -= 1;
    }
    if (!found.active) throw new TokenRefusal("the token has expired, was revoked or is unknown");
    // Without an audience, the token may be meant for any server of the issuer.
    if (![found.aud ?? []].flat().some((each) => audiences.includes(each)))
      throw new TokenRefusal("the token was issued for another server", "the token has another audience, or none");
    if (found.iss !== undefined && found.iss !== issuer) throw new TokenRefusal("the token has another issuer");
    if (found.cnf !== undefined || found.token_type?.toLowerCase() === "dpop")
      throw new TokenRefusal("the token is bound to a key and cannot be sent as Bearer");
    const seconds = nowMs / 1000;
    if (typeof found.exp === "number" && found.exp + clockSkewSeconds <= seconds)
      throw new TokenRefusal("the token has expired");
    if (typeof found.nbf === "number" && found.nbf - clockSkewSeconds > seconds)
      throw new TokenRefusal("the token is not valid yet");
    return found;
  };
}
