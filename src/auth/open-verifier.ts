/** Opens the verifier that a config asks for. */
import type { AuthSettings } from "../config/auth.ts";
import type { TokenVerifier, VerifierContext } from "./token-verifier.ts";

/** Loaded on first use: a server without `server.auth` needs none of it. */
export async function openVerifier(auth: AuthSettings, context: VerifierContext): Promise<TokenVerifier> {
  if (auth === "builtin") {
    const { openBuiltin } = await import("./builtin/open-builtin.ts");
    return openBuiltin(context);
  }
  const { createIssuersVerifier } = await import("./issuers-verifier.ts");
  return createIssuersVerifier(auth, context);
}
