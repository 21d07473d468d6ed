/** Signs a user in to Drive: the user agrees in the browser, which is redirected to a temporary local endpoint. */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseJson } from "../../lib/parse-json.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { cancelled, denied, invalid, quote, unavailable } from "../../errors.ts";
import { constantTimeEqual } from "../../lib/constant-time-equal.ts";
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

interface Answer {
  readonly code: string;
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
  const state = randomBytes(24).toString("base64url");
  const endpoint = await openEndpoint(state);
  try {
    const client = new OAuth2Client({ ...key, redirectUri: endpoint.url, endpoints: endpoints(rootUrl) });
    const { codeVerifier, codeChallenge } = await client.generateCodeVerifierAsync();
    await show(
      client.generateAuthUrl({
        access_type: "offline",
        // Otherwise a user who agreed before gets no refresh token.
        prompt: "consent",
        scope: driveScope,
        state,
        code_challenge_method: CodeChallengeMethod.S256,
        code_challenge: codeChallenge,
      }),
    );
    const { code } = await endpoint.answered(signal);
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

/** Reachable only from this machine, and accepts only the response to our own request. */
async function openEndpoint(state: string) {
  const result = Promise.withResolvers<Answer>();
  result.promise.catch(() => undefined);
  let host = "";
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", "http://door");
    const given = url?.searchParams.get("state") ?? "";
    // Another web page can make the browser request any address, but not with this host name and state.
    if (
      request.method !== "GET" ||
      request.headers.host !== host ||
      url?.pathname !== "/" ||
      !constantTimeEqual(given, state)
    )
      return void response.writeHead(404, { Connection: "close" }).end();
    const code = url.searchParams.get("code");
    const why = url.searchParams.get("error");
    response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" });
    response.end(code ? "Signed in. This window can be closed.\n" : "Not signed in. This window can be closed.\n");
    if (code) result.resolve({ code });
    else result.reject(denied(`access was not granted (${quote(why ?? "no reason given", 60)})`));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/`,
    answered: (signal: AbortSignal) =>
      unlessAborted(result.promise, signal, (reason) => cancelled(reason, "sign-in was not completed")),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
