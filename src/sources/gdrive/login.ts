/** Signs a user in to Drive: the user agrees in the browser, which is redirected to a temporary local endpoint. */
import { openLoopbackRedirect } from "../../backends/loopback-redirect.ts";
import { parseJson } from "../../lib/parse-json.ts";
import { denied, invalid, unavailable } from "../../errors.ts";
import type { Runtime } from "../../source.ts";

import { createDriveApi } from "./drive-api.ts";
import { isDriveObject, textIn } from "./drive-objects.ts";
import { driveScope, library } from "./identity.ts";
import type { StoredLogin } from "./stored-login.ts";

/** The OAuth client of the program. */
interface ClientKey {
  readonly clientId: string;
  readonly clientSecret?: string;
}

interface SignInOptions {
  readonly client: ClientKey;
  /** Address of an emulator. */
  readonly rootUrl?: string;
  /** Shows the user which address to open. */
  show(url: string): void | Promise<void>;
  readonly runtime: Runtime;
}

const google = {
  oauth2AuthBaseUrl: "https://accounts.google.com/o/oauth2/v2/auth",
  oauth2TokenUrl: "https://oauth2.googleapis.com/token",
  oauth2RevokeUrl: "https://oauth2.googleapis.com/revoke",
} as const;

/** Addresses for consent, for tokens, and for their revocation. */
function endpoints(rootUrl: string | undefined) {
  if (rootUrl === undefined) return google;
  const at = (path: string) => new URL(path, rootUrl).href;
  return { oauth2AuthBaseUrl: at("/o/oauth2/v2/auth"), oauth2TokenUrl: at("/token"), oauth2RevokeUrl: at("/revoke") };
}

/** Parses the file that Google's console creates for a client of the type "Desktop app". */
export function readClientKey(text: string): ClientKey {
  const given = parseJson(text);
  const installed = isDriveObject(given) && isDriveObject(given["installed"]) ? given["installed"] : {};
  const [clientId, clientSecret] = [textIn(installed, "client_id"), textIn(installed, "client_secret")];
  if (clientId === undefined)
    throw invalid(
      'the file holds no client of the type "Desktop app"; download one from the console of your Google Cloud project',
    );
  return { clientId, clientSecret };
}

export async function signIn(
  { client: key, rootUrl, show, runtime }: SignInOptions,
  signal: AbortSignal,
): Promise<StoredLogin> {
  const { OAuth2Client, CodeChallengeMethod } = await library();
  const endpoint = await openLoopbackRedirect();
  try {
    const client = new OAuth2Client({ ...key, redirectUri: endpoint.url, endpoints: endpoints(rootUrl) });
    const { codeVerifier, codeChallenge } = await client.generateCodeVerifierAsync();
    await show(
      client.generateAuthUrl({
        access_type: "offline",
        // Otherwise a user who agreed before gets no refresh token.
        prompt: "consent",
        scope: driveScope,
        state: endpoint.state,
        code_challenge_method: CodeChallengeMethod.S256,
        code_challenge: codeChallenge,
      }),
    );
    const { code } = await endpoint.redirected(signal);
    let tokens: { readonly refresh_token?: string | null; readonly access_token?: string | null };
    try {
      ({ tokens } = await client.getToken({ code, codeVerifier }));
    } catch {
      // Errors of the library contain the request.
      throw denied("Google rejected the sign-in; try again, and check the client");
    }
    if (!tokens.refresh_token || !tokens.access_token)
      throw denied(
        "Google returned no refresh token; remove the program's access in your Google account, and try again",
      );
    const email = await emailOf(tokens.access_token, rootUrl, runtime, signal);
    return { ...key, email, refreshToken: tokens.refresh_token, rootUrl };
  } finally {
    endpoint.close();
  }
}

/** Revokes the token. A token that is already invalid is no failure. */
export async function signOut({ refreshToken, rootUrl }: StoredLogin, signal: AbortSignal): Promise<boolean> {
  const { oauth2RevokeUrl } = endpoints(rootUrl);
  try {
    const body = new URLSearchParams({ token: refreshToken });
    const response = await fetch(oauth2RevokeUrl, { method: "POST", body, signal, redirect: "error" });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

async function emailOf(
  token: string,
  rootUrl: string | undefined,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<string> {
  const headers = new Headers({ Authorization: `Bearer ${token}` });
  const api = createDriveApi({
    rootUrl: rootUrl ?? "https://www.googleapis.com/",
    identity: { headers: async () => headers, renew: () => undefined },
    withPermissions: false,
    timeoutMs: 20_000,
    patienceMs: 20_000,
    runtime,
  });
  const { email } = await api.account(signal);
  if (email === undefined) throw unavailable("Drive does not return the address of the account");
  return email;
}
