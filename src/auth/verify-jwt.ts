/** Verifies an access token that is a JWT: the signature first, then the audience, then its issuer and times. */
import type { CryptoKey, JSONWebKeySet, JWTPayload, JWTVerifyOptions, ProtectedHeaderParameters } from "jose";
import { type IssuerSettings, signingAlgorithms } from "../config/auth.ts";
import type { KeySet } from "./key-set.ts";
import { TokenRefusal } from "./token-verifier.ts";

interface JwtRules extends Pick<IssuerSettings, "issuer" | "tokenType"> {
  /** Default: all asymmetric ones. */
  readonly algorithms?: readonly string[];
  readonly audiences: readonly string[];
  readonly clockSkewSeconds: number;
}

export interface VerifiedJwt {
  readonly claims: JWTPayload;
  readonly kid: string | undefined;
}

/** Header types of access tokens. Others, such as those of ID tokens and logout tokens, are refused. */
const accessTypes: ReadonlySet<unknown> = new Set([undefined, "jwt", "at+jwt", "okta-internal-at+jwt"]);

/** Rejects with a TokenRefusal. */
export async function verifyJwt(token: string, rules: JwtRules, keys: KeySet, nowMs: number): Promise<VerifiedJwt> {
  const { decodeProtectedHeader } = await import("jose");
  const { issuer, audiences, clockSkewSeconds, algorithms = signingAlgorithms, tokenType = "at+jwt" } = rules;
  const header = decodeProtectedHeader(token);
  const { alg, kid } = header;
  if (alg === undefined || !algorithms.includes(alg))
    throw new TokenRefusal("the token is signed with an algorithm that is not accepted");
  const candidates = await keys.find({ ...header, alg });
  if (candidates.length === 0) throw new TokenRefusal("the token is signed with an unknown key");
  const options: JWTVerifyOptions = {
    algorithms: [...algorithms],
    audience: [...audiences],
    issuer,
    clockTolerance: clockSkewSeconds,
    currentDate: new Date(nowMs),
    requiredClaims: ["exp"],
  };
  const claims = await verifyWithAny(token, candidates, options);
  if (!isAccessToken(header, claims, tokenType)) throw notAccessToken(tokenType);
  // Bound to a key of the client: as a bearer token it may be stolen. https://www.rfc-editor.org/rfc/rfc7800
  if (claims["cnf"] !== undefined) throw new TokenRefusal("the token is bound to a key and cannot be sent as Bearer");
  if (tokenType === "at+jwt") await validateProfile(token, claims, rules, keys.all());
  return { claims, kid };
}

async function verifyWithAny(
  token: string,
  candidates: readonly CryptoKey[],
  options: JWTVerifyOptions,
): Promise<JWTPayload> {
  const { jwtVerify, errors } = await import("jose");
  for (const key of candidates)
    try {
      return (await jwtVerify(token, key, options)).payload;
    } catch (cause) {
      if (!(cause instanceof errors.JWSSignatureVerificationFailed)) throw toRefusal(cause, errors);
    }
  throw new TokenRefusal("the signature of the token is not valid");
}

/** The rules of https://www.rfc-editor.org/rfc/rfc9068 besides those that hold for every token. */
async function validateProfile(
  token: string,
  { aud }: JWTPayload,
  { issuer, audiences, clockSkewSeconds, algorithms = signingAlgorithms }: JwtRules,
  keys: JSONWebKeySet,
): Promise<void> {
  const { clockTolerance, customFetch, validateJwtAccessToken } = await import("oauth4webapi");
  const audience = audiences.find((each) => [aud].flat().includes(each)) ?? "";
  const request = new Request(issuer, { headers: { Authorization: `Bearer ${token}` } });
  try {
    await validateJwtAccessToken({ issuer, jwks_uri: "https://keys.invalid" }, request, audience, {
      signingAlgorithms: [...algorithms],
      [clockTolerance]: clockSkewSeconds,
      // The keys that were fetched already: nothing is requested.
      [customFetch]: async () => Response.json(keys),
    });
  } catch (cause) {
    throw new TokenRefusal(
      "the token is not an access token of RFC 9068",
      `the token is not an access token of RFC 9068 (${(cause as Error).message}); if the issuer does not follow it, set its tokenType to jwt`,
    );
  }
}

function toRefusal(cause: unknown, errors: typeof import("jose").errors): TokenRefusal {
  if (cause instanceof errors.JWTExpired) return new TokenRefusal("the token has expired");
  if (!(cause instanceof errors.JWTClaimValidationFailed)) return new TokenRefusal("the token cannot be verified");
  if (cause.reason === "missing")
    return new TokenRefusal("the token lacks a required claim", `the token lacks the claim ${cause.claim}`);
  switch (cause.claim) {
    case "aud":
      return new TokenRefusal("the token was issued for another server", "the token has another audience");
    case "iss":
      return new TokenRefusal("the token has another issuer");
    case "nbf":
      return new TokenRefusal("the token is not valid yet");
    default:
      return new TokenRefusal(
        "a claim of the token is not valid",
        `the claim ${cause.claim} of the token is not valid`,
      );
  }
}

function notAccessToken(tokenType: string): TokenRefusal {
  const advice = tokenType === "jwt" ? "" : "; if the issuer does not follow RFC 9068, set its tokenType to jwt";
  return new TokenRefusal("the token is not an access token", `the token is not an access token by its type${advice}`);
}

function isAccessToken(
  { typ }: ProtectedHeaderParameters,
  claims: JWTPayload,
  tokenType: NonNullable<IssuerSettings["tokenType"]>,
): boolean {
  // Nobody has checked that it is text.
  const type =
    typ === undefined
      ? undefined
      : String(typ)
          .toLowerCase()
          .replace(/^application\//, "");
  if (tokenType === "at+jwt") return type === "at+jwt";
  // Keycloak names the kind of a token in a claim; at_hash is in ID tokens only, events in logout tokens.
  const kind = claims["typ"];
  return (
    accessTypes.has(type) &&
    (typeof kind !== "string" || kind.toLowerCase() === "bearer") &&
    claims["at_hash"] === undefined &&
    claims["events"] === undefined
  );
}
