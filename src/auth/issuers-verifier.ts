/** Verifies tokens of the configured issuers. */
import { isDeepStrictEqual } from "node:util";
import type { AuthSettings, IssuerSettings } from "../config/auth.ts";
import { ResourceError } from "../errors.ts";
import { resolveBySystem } from "../backends/web/guarded-request.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";
import { createIssuer, type Issuer } from "./issuer.ts";
import { TokenRefusal, type TokenVerifier, type VerifiedToken, type VerifierContext } from "./token-verifier.ts";

interface OpenIssuer extends Issuer {
  readonly settings: IssuerSettings;
  readonly stop: AbortController;
}

/** Longer than any real token, and shorter than what a server of HTTP accepts as a header. */
const maxTokenLength = 12_000;

type IssuersContext = Pick<VerifierContext, "resource" | "runtime">;

export function createIssuersVerifier(settings: readonly IssuerSettings[], context: IssuersContext): TokenVerifier {
  const open = (each: IssuerSettings) => openIssuer(each, context);
  let issuers: readonly OpenIssuer[] = settings.map(open);

  async function verifyOpaque(token: string): Promise<VerifiedToken> {
    const asked = issuers.find(({ settings: { introspection } }) => introspection);
    if (!asked?.verifyOpaque) throw new TokenRefusal("the token is unknown, or not a JWT");
    return asked.verifyOpaque(token);
  }

  return {
    get issuers() {
      return issuers.map((each) => each.settings.issuer);
    },

    async verify(token) {
      if (token.length > maxTokenLength) throw new TokenRefusal("the token is too long");
      const issuer = await issuerIn(token);
      if (issuer === undefined) return verifyOpaque(token);
      const named = issuers.find((each) => each.settings.issuer === issuer);
      if (!named) throw new TokenRefusal("the token has an issuer that is not accepted");
      return named.verifyJwt(token).catch((cause: unknown) => {
        // Anything else is a token that the library does not understand.
        const isKnown = cause instanceof TokenRefusal || cause instanceof ResourceError;
        throw isKnown ? cause : new TokenRefusal("the token cannot be verified", undefined, cause);
      });
    },

    reload(auth: AuthSettings | undefined) {
      const next = Array.isArray(auth) ? auth : [];
      const kept = (each: IssuerSettings) => issuers.find((one) => isDeepStrictEqual(one.settings, each));
      const before = issuers;
      issuers = next.map((each) => kept(each) ?? open(each));
      for (const each of before) if (!issuers.includes(each)) each.stop.abort();
    },

    async close() {
      for (const { stop } of issuers) stop.abort();
    },
  };
}

/** Its requests end with `stop`. */
export function openIssuer(settings: IssuerSettings, { resource, runtime }: IssuersContext): OpenIssuer {
  const stop = new AbortController();
  const written = [settings.issuer, settings.jwksUri, settings.introspection?.url].filter((url) => url !== undefined);
  const fetch = createGuardedFetch({ written, resolve: resolveBySystem, log: runtime.log });
  return { ...createIssuer({ settings, resource, fetch, runtime, signal: stop.signal }), settings, stop };
}

/** What a JWT says about itself, before it is verified: it chooses the keys. Undefined if the token is not a JWT. */
async function issuerIn(token: string): Promise<string | undefined> {
  const { decodeJwt, decodeProtectedHeader } = await import("jose");
  try {
    decodeProtectedHeader(token);
    return decodeJwt(token).iss ?? "";
  } catch {
    return undefined;
  }
}
