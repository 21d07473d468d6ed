/** How callers sign in with OAuth: the schema of `server.auth` and `server.scopes`, and checks that involve several settings. */
import type { z } from "zod";
import { quote } from "../errors.ts";
import type { Problem } from "./problem.ts";

type Zod = typeof z;

/** Asymmetric algorithms only: with a symmetric one, whoever knows the public key could sign. */
export const signingAlgorithms = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
] as const;

/** https://www.rfc-editor.org/rfc/rfc6749#section-3.3 */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

export function publicUrlSchema(zod: Zod) {
  return plainUrl(zod)
    .refine((url) => !/\/mcp\/*$/.test(url), "must be the URL of the server, without /mcp")
    .describe(
      "URL under which clients reach this server, for example behind a proxy. Tokens must be issued for this URL followed by /mcp. Anyone can read the server card at this URL followed by /mcp/server-card",
    );
}

export function issuerSchema(zod: Zod) {
  const name = () => zod.string().min(1).max(500);
  return zod.strictObject({
    issuer: plainUrl(zod).describe("Issuer identifier, exactly as in its tokens"),
    audience: zod
      .union([name(), zod.array(name()).min(1).max(20)])
      .optional()
      .describe(
        "Audience that tokens must have, or several of which one is enough. Default: server.publicUrl followed by /mcp",
      ),
    jwksUri: plainUrl(zod, true).optional().describe("URL of the issuer's keys. Default: jwks_uri of its metadata"),
    algorithms: zod
      .array(zod.enum(signingAlgorithms))
      .min(1)
      .optional()
      .describe("Accepted signature algorithms. Default: all asymmetric ones"),
    clockSkewSeconds: zod
      .int()
      .min(0)
      .max(300)
      .optional()
      .describe("How far the clocks of the issuer and of this machine may differ. Default: 30"),
    tokenType: zod
      .enum(["at+jwt", "jwt"])
      .optional()
      .describe(
        "at+jwt accepts access tokens of RFC 9068 only; jwt also accepts other signed access tokens (Keycloak, Entra ID, Okta, Auth0). Default: at+jwt",
      ),
    introspection: zod
      .strictObject({
        url: plainUrl(zod, true).describe("Introspection endpoint (RFC 7662)"),
        clientId: name().describe("Client that may introspect tokens"),
        clientSecret: name().describe("Its secret; better written as a reference: ${env:NAME}"),
      })
      .optional()
      .describe("Accept tokens that are not JWTs, by asking the issuer about them"),
    groupsClaim: name()
      .optional()
      .describe("Claim with the groups of the caller; dots lead into objects (realm_access.roles). Default: groups"),
    nameClaim: name()
      .optional()
      .describe("Claim that identifies the caller. Never use one that people can change themselves. Default: sub"),
    scopePrefix: name().optional().describe("Put before each scope of a token; Entra ID leaves out api://ID/"),
    callers: zod
      .record(zod.string(), name())
      .optional()
      .describe("Callers of this config who sign in here: the value of nameClaim, by name of the caller"),
  });
}

export function authSchema(zod: Zod) {
  return zod
    .union([zod.literal("builtin"), zod.array(issuerSchema(zod)).min(1).max(20)])
    .describe(
      'How callers sign in with OAuth: "builtin" for the authorization server of Pressmark, or a list of issuers whose tokens are accepted',
    );
}

export function scopesSchema(zod: Zod) {
  const scope = () =>
    zod
      .string()
      .regex(scopeToken, "must be a scope: printable characters without spaces, quotes and backslashes")
      .refine((text) => text !== "offline_access", "must not be offline_access: no operation needs it");
  const list = () => zod.array(scope()).min(1).max(50);
  return zod.strictObject({
    read: list().optional().describe("Scopes that a token needs for any request. Default: none"),
    write: list().optional().describe("Scopes that it needs in addition for actions that change something"),
    includes: zod
      .record(zod.string(), list())
      .optional()
      .describe('Scopes that another scope includes: { "mcp:write": ["mcp:read"] }'),
  });
}

export type IssuerSettings = z.infer<ReturnType<typeof issuerSchema>>;
export type AuthSettings = z.infer<ReturnType<typeof authSchema>>;
export type ScopeSettings = z.infer<ReturnType<typeof scopesSchema>>;

/** The public URL in canonical form, without a slash at the end. */
export function baseOf(publicUrl: string): string {
  return new URL(publicUrl).href.replace(/(?<!\/)\/+$/, "");
}

/** The identifier of this server for OAuth: the URL of the MCP endpoint. */
export function resourceOf(publicUrl: string): string {
  return `${baseOf(publicUrl)}/mcp`;
}

interface AuthCheck {
  /** Names of the callers of the config. */
  readonly callers: readonly string[];
  refuse(problem: Problem): void;
}

export function checkAuth(
  { auth, publicUrl }: { readonly auth?: AuthSettings; readonly publicUrl?: string },
  { callers, refuse }: AuthCheck,
): void {
  if (auth === undefined) return;
  const at = ["server", "auth"];
  if (publicUrl === undefined)
    refuse({ path: at, message: "needs server.publicUrl, the URL that tokens are issued for" });
  if (auth === "builtin") return;
  const asked = auth.filter(({ introspection }) => introspection);
  if (asked.length > 1)
    refuse({ path: at, message: "may have one issuer with introspection: the others would be shown its tokens" });
  for (const [index, { issuer, callers: own = {} }] of auth.entries()) {
    if (auth.findIndex((each) => each.issuer === issuer) < index)
      refuse({ path: [...at, index, "issuer"], message: "is listed twice" });
    for (const [name, subject] of Object.entries(own)) {
      const path = [...at, index, "callers", name];
      if (!callers.includes(name))
        refuse({ path, atKey: true, message: `there is no caller ${quote(name, 60)}; add it to callers` });
      if (Object.entries(own).some(([other, same]) => same === subject && other !== name))
        refuse({ path, message: "belongs to two callers" });
    }
  }
}

/** A URL without credentials and fragment, and without a query if it identifies something. */
function plainUrl(zod: Zod, mayHaveQuery = false) {
  return zod
    .url({ protocol: /^https?$/, error: "must be a URL, as in https://idp.example.com" })
    .max(2000)
    .refine((text) => {
      const url = URL.parse(text);
      return url !== null && url.username + url.password === "" && !text.includes("#");
    }, "must not contain credentials or a fragment")
    .refine((text) => mayHaveQuery || !text.includes("?"), "must not contain a query");
}
