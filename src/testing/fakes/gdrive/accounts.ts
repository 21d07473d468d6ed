/** The sign-in of the fake: single-use codes, a verifier that must match the challenge, revocable tokens. */
import { createHash, randomUUID } from "node:crypto";

export interface FakeAccounts {
  /** The redirect of the browser after consent or refusal. */
  agree(query: URLSearchParams): string | undefined;
  /** The response of `/token`; undefined to reject. */
  token(form: URLSearchParams): object | undefined;
  revoke(token: string): boolean;
  /** The user of this token; undefined if it is not valid. */
  userOf(authorization: string | undefined): string | undefined;
  /** Invalidates all access tokens. */
  expire(): void;
  readonly secrets: readonly string[];
}

interface Code {
  readonly clientId: string;
  readonly redirect: string;
  readonly challenge: string;
}

export function createAccounts(options: { readonly user: () => string; readonly agrees: () => boolean }): FakeAccounts {
  const codes = new Map<string, Code>();
  const refresh = new Map<string, string>();
  const access = new Map<string, string>();
  const secrets: string[] = [];

  function secret(kind: string): string {
    const made = `${kind}-${randomUUID()}`;
    secrets.push(made);
    return made;
  }

  return {
    secrets,

    agree(query) {
      const redirect = URL.parse(query.get("redirect_uri") ?? "");
      const challenge = query.get("code_challenge") ?? "";
      const isLoopback = redirect?.protocol === "http:" && redirect.hostname === "127.0.0.1";
      if (!isLoopback || query.get("code_challenge_method") !== "S256" || challenge === "") return undefined;
      redirect.searchParams.set("state", query.get("state") ?? "");
      if (options.agrees()) {
        const code = secret("code");
        const clientId = query.get("client_id") ?? "";
        codes.set(code, { clientId, redirect: query.get("redirect_uri")!, challenge });
        redirect.searchParams.set("code", code);
      } else redirect.searchParams.set("error", "access_denied");
      return redirect.href;
    },

    token(form) {
      if (form.get("grant_type") === "refresh_token") {
        const user = refresh.get(form.get("refresh_token") ?? "");
        if (user === undefined) return undefined;
        const token = secret("access");
        access.set(token, user);
        return { access_token: token, expires_in: 3600, token_type: "Bearer" };
      }
      const code = form.get("code") ?? "";
      const known = codes.get(code);
      codes.delete(code);
      const proof = createHash("sha256")
        .update(form.get("code_verifier") ?? "")
        .digest("base64url");
      const fits =
        known?.challenge === proof &&
        known.redirect === form.get("redirect_uri") &&
        known.clientId === form.get("client_id");
      if (!fits) return undefined;
      const [token, lasting] = [secret("access"), secret("refresh")];
      access.set(token, options.user());
      refresh.set(lasting, options.user());
      return { access_token: token, refresh_token: lasting, expires_in: 3600, token_type: "Bearer" };
    },

    revoke: (token) => refresh.delete(token),

    userOf(authorization) {
      const token = authorization?.replace(/^Bearer /, "") ?? "";
      return access.get(token) ?? issuerOf(token);
    },

    expire: () => access.clear(),
  };
}

/** A service account sends a self-signed token. The signature is not verified. */
function issuerOf(token: string): string | undefined {
  try {
    const given: unknown = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8"));
    const issuer = typeof given === "object" && given !== null && "iss" in given ? given.iss : undefined;
    return typeof issuer === "string" ? issuer : undefined;
  } catch {
    return undefined;
  }
}
