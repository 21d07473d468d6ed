/** One issuer whose tokens are accepted: verifies them, and reads the caller out of their claims. */
import type { JSONWebKeySet } from "jose";
import type { AuthorizationServer } from "oauth4webapi";
import type { IssuerSettings } from "../config/auth.ts";
import { lastingFailure, quote, unavailable } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import { discover } from "./discover.ts";
import type { GuardedFetch } from "./guarded-fetch.ts";
import { createIntrospect } from "./introspect.ts";
import { createKeySet } from "./key-set.ts";
import { TokenRefusal, type VerifiedToken } from "./token-verifier.ts";
import { verifyJwt } from "./verify-jwt.ts";

interface IssuerOptions {
  readonly settings: IssuerSettings;
  /** The audience of tokens, if the settings name none. */
  readonly resource: string;
  readonly fetch: GuardedFetch;
  readonly runtime: Pick<Runtime, "now" | "monotonicMs" | "log">;
  readonly signal: AbortSignal;
}

export interface Issuer {
  /** Fetches its keys, and returns how many there are. */
  reach(): Promise<number>;
  verifyJwt(token: string): Promise<VerifiedToken>;
  /** Absent if the issuer is not asked about tokens. */
  readonly verifyOpaque?: (token: string) => Promise<VerifiedToken>;
}

const metadataAgeMs = 3_600_000;
/** A token is verified again after this time, because its key may have been withdrawn. */
const trustedMs = 600_000;
/** The same for a token that the issuer was asked about, because it may have been revoked. */
const introspectedMs = 30_000;
const maxKeys = 100;
const maxGroups = 1000;

type Claims = Readonly<Record<string, unknown>>;

export function createIssuer({ settings, resource, fetch, runtime, signal }: IssuerOptions): Issuer {
  const { issuer, clockSkewSeconds = 30, introspection, audience = resource } = settings;
  const rules = { ...settings, audiences: [audience].flat(), clockSkewSeconds };
  let known: { readonly metadata: AuthorizationServer; readonly readMs: number } | undefined;
  const keys = createKeySet({ load: loadKeys, runtime, issuer, signal });
  const introspect = introspection && createIntrospect({ ...rules, endpoint: introspection, fetch });

  async function keysUrl(): Promise<string> {
    if (settings.jwksUri !== undefined) return settings.jwksUri;
    if (!known || runtime.monotonicMs() - known.readMs >= metadataAgeMs)
      known = { metadata: await discover(issuer, fetch, signal), readMs: runtime.monotonicMs() };
    const { jwks_uri: url } = known.metadata;
    if (typeof url !== "string" || !URL.canParse(url))
      throw lastingFailure(`the metadata of ${quote(issuer)} names no keys; set jwksUri`);
    return url;
  }

  async function loadKeys(): Promise<JSONWebKeySet> {
    try {
      const response = await fetch(await keysUrl(), { headers: { Accept: "application/json" }, signal });
      if (response.status !== 200) throw unavailable(`the keys of ${quote(issuer)} have the status ${response.status}`);
      const set = (await response.json()) as JSONWebKeySet;
      if (!Array.isArray(set.keys) || set.keys.length > maxKeys)
        throw lastingFailure(`the keys of ${quote(issuer)} are not a key set of at most ${maxKeys} keys`);
      return set;
    } catch (cause) {
      // They may have moved.
      known = undefined;
      throw cause;
    }
  }

  function toVerified(
    claims: Claims,
    more: Pick<VerifiedToken, "expiresMs" | "verifyAgainMs" | "ended">,
  ): VerifiedToken {
    const { nameClaim = "sub", groupsClaim = "groups", callers = {} } = settings;
    const subject = claimAt(claims, nameClaim);
    if (typeof subject !== "string" || subject === "" || subject.length > 500)
      throw new TokenRefusal("the token does not say whose it is", `the token has no usable claim ${quote(nameClaim)}`);
    return {
      issuer,
      subject,
      caller: Object.keys(callers).find((name) => callers[name] === subject),
      groups: textsIn(claimAt(claims, groupsClaim)).slice(0, maxGroups),
      scopes: scopesIn(claims).map((scope) => `${settings.scopePrefix ?? ""}${scope}`),
      claims,
      ...more,
    };
  }

  function expiryOf({ exp }: Claims): number {
    return typeof exp === "number" ? (exp + clockSkewSeconds) * 1000 : Infinity;
  }

  return {
    reach: async () => (await loadKeys()).keys.length,
    async verifyJwt(token) {
      const { claims, kid } = await verifyJwt(token, rules, keys, runtime.now());
      return toVerified(claims, {
        expiresMs: expiryOf(claims),
        verifyAgainMs: runtime.monotonicMs() + trustedMs,
        ended: keys.withdrawn(kid),
      });
    },
    ...(introspect && {
      async verifyOpaque(token) {
        const claims = await introspect(token, runtime.now(), signal);
        // A token without a known expiry is one for as long as the answer of the issuer counts.
        const expiresMs = Math.min(
          expiryOf(claims),
          claims.exp === undefined ? runtime.now() + introspectedMs : Infinity,
        );
        return toVerified(claims, { expiresMs, verifyAgainMs: runtime.monotonicMs() + introspectedMs, ended: signal });
      },
    }),
  };
}

/** By its name, which may contain dots, or by the names on the way to it. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const key of name.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Claims)[key];
  }
  return value;
}

function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((each): each is string => typeof each === "string");
}

/** A text with spaces or a list, as `scope` or `scp`. */
function scopesIn(claims: Claims): readonly string[] {
  return textsIn(claims["scope"] ?? claims["scp"]).flatMap((text) => text.split(" ").filter((scope) => scope !== ""));
}
