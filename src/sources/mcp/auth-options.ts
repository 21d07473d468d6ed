/** The option `auth`: how this server signs in to another one. */
import type { z as Zod } from "zod";

export function authOptions(z: typeof Zod) {
  return z
    .strictObject({
      grant: z
        .enum(["authorization_code", "client_credentials", "token_exchange"])
        .default("authorization_code")
        .describe(
          "How to sign in: as a person, once, with `pressmark login MOUNT`; as this server, with its own credentials; or on behalf of each caller, whose token is exchanged (RFC 8693)",
        ),
      issuer: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe(
          "Authorization server that the credentials are for; they are sent to no other. Required with `clientId`",
        ),
      clientId: z
        .string()
        .min(1)
        .optional()
        .describe("Client at the authorization server. Default: registered at the sign-in"),
      clientSecret: z.string().min(1).optional().describe("Its secret, best as a reference: ${env:NAME}"),
      privateKey: z
        .string()
        .min(1)
        .optional()
        .describe("Its private key in PEM form, instead of a secret, best as a reference: ${file:PATH}"),
      algorithm: z
        .enum(["ES256", "ES384", "RS256", "PS256", "EdDSA"])
        .default("ES256")
        .describe("Signature algorithm of the private key"),
      scope: z
        .string()
        .min(1)
        .optional()
        .describe("Scopes to request, separated by spaces. Default: those that the server asks for"),
      audience: z
        .string()
        .min(1)
        .optional()
        .describe("Audience to request in a token exchange, if the authorization server needs one"),
      redirectPort: z
        .int()
        .min(1)
        .max(65_535)
        .optional()
        .describe(
          "Port of this machine for the redirect after a sign-in, if the client is registered with one. Default: any",
        ),
    })
    .superRefine(({ grant, issuer, clientId, clientSecret, privateKey }, context) => {
      const refuse = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
      if (clientId !== undefined && issuer === undefined) refuse("issuer", "is required with clientId");
      if (clientId === undefined && (clientSecret ?? privateKey) !== undefined)
        refuse("clientId", "is required with clientSecret and privateKey");
      if (clientSecret !== undefined && privateKey !== undefined)
        refuse("privateKey", "replaces clientSecret; leave one of them out");
      if (grant !== "authorization_code" && (clientId === undefined || (clientSecret ?? privateKey) === undefined))
        refuse("grant", "needs issuer, clientId, and clientSecret or privateKey");
      if (grant === "authorization_code" && privateKey !== undefined)
        refuse("privateKey", "works only with the grants client_credentials and token_exchange");
    });
}

export type McpAuthOptions = Zod.output<ReturnType<typeof authOptions>>;
