/** Verifies tokens of the configured issuers. */
import { isDeepStrictEqual } from "node:util";
import type { AuthSettings, IssuerSettings } from "../config/auth.ts";
import type { Resolve } from "../backends/web/guarded-request.ts";
import { createGuardedFetch } from "./guarded-fetch.ts";
import { createIssuer, type Issuer } from "./issuer.ts";
import { TokenRefusal, type TokenVerifier, type VerifiedToken, type VerifierContext } from "./token-verifier.ts";

interface OpenIssuer extends Issuer {
  readonly settings: IssuerSettings;
  readonly stop: AbortController;
}

/** Longer than any real token, and shorter than what a server of HTTP accepts as a header. */
const maxTokenLength = 12_000;

export function createIssuersVerifier(
  settings: readonly IssuerSettings[],
  { resource, runtime }: Pick<VerifierContext, "resource" | "runtime">,
  resolve: Resolve,
): TokenVerifier {
  let issuers: readonly OpenIssuer[] = settings.map(open);

  function open(each: IssuerSettings): OpenIssuer {
    const stop = new AbortController();
    const written = [each.issuer, each.jwksUri, each.introspection?.url].filter((url) => url !== undefined);
    const fetch = createGuardedFetch({ written, resolve, log: runtime.log });
    return {
      ...createIssuer({ settings: each, resource, fetch, runtime, signal: stop.signal }),
      settings: each,
      stop,
    };
  }

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
      return named.verifyJwt(token);
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
