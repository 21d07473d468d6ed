/** Signs a person in to Drive: they agree in their browser, which comes back to a door that is open on this machine for that long. */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { quote, ResourceError } from "../../errors.ts";
import { constantTimeEqual } from "../../lib/constant-time-equal.ts";
import type { Runtime } from "../../source.ts";
import { until } from "./backoff.ts";
import { createDriveApi } from "./drive-api.ts";
import { isDriveObject, textIn } from "./drive-objects.ts";
import { driveScope, library } from "./identity.ts";
import type { StoredLogin } from "./stored-login.ts";

/** The program as Google knows it. */
export interface ClientKey {
  readonly clientId: string;
  readonly clientSecret?: string;
}

export interface SignInOptions {
  readonly client: ClientKey;
  /** Of an emulator. */
  readonly rootUrl?: string | undefined;
  /** Shows the person where to go. */
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

/** Where people agree, and where tokens are had and given back. */
function endpoints(rootUrl: string | undefined) {
  if (rootUrl === undefined) return google;
  const at = (path: string) => new URL(path, rootUrl).href;
  return { oauth2AuthBaseUrl: at("/o/oauth2/v2/auth"), oauth2TokenUrl: at("/token"), oauth2RevokeUrl: at("/revoke") };
}

/** From the file that Google's console gives for a program of the kind "Desktop app". */
export function readClientKey(text: string): ClientKey {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    said = undefined;
  }
  const installed = isDriveObject(said) && isDriveObject(said["installed"]) ? said["installed"] : {};
  const [clientId, clientSecret] = [textIn(installed, "client_id"), textIn(installed, "client_secret")];
  if (clientId === undefined)
    throw new ResourceError(
      "invalid",
      'the file holds no client of the kind "Desktop app"; download one from the console of your Google Cloud project',
    );
  return { clientId, ...(clientSecret !== undefined && { clientSecret }) };
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
        // Otherwise who agreed before is given no token that lasts.
        prompt: "consent",
        scope: driveScope,
        state,
        code_challenge_method: CodeChallengeMethod.S256,
        ...(codeChallenge !== undefined && { code_challenge: codeChallenge }),
      }),
    );
    const { code } = await endpoint.answered(signal);
    let tokens: { readonly refresh_token?: string | null; readonly access_token?: string | null };
    try {
      ({ tokens } = await client.getToken({ code, codeVerifier }));
    } catch {
      // What the library throws holds what was sent.
      throw new ResourceError(
        "denied",
        "Google did not take the sign-in; try again, and see that the client is the right one",
      );
    }
    if (!tokens.refresh_token || !tokens.access_token)
      throw new ResourceError(
        "denied",
        "Google gave no token that lasts; take the program's access back in your Google account, and try again",
      );
    const email = await emailOf(tokens.access_token, rootUrl, runtime, signal);
    return { ...key, email, refreshToken: tokens.refresh_token, ...(rootUrl !== undefined && { rootUrl }) };
  } finally {
    endpoint.close();
  }
}

/** Gives the token back. What no longer counts is no failure. */
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
  if (email === undefined) throw new ResourceError("unavailable", "Drive does not say whose account this is");
  return email;
}

/** Only this machine reaches it, and only the answer to our own question is taken. */
async function openEndpoint(state: string) {
  const answer = Promise.withResolvers<Answer>();
  answer.promise.catch(() => undefined);
  let host = "";
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? "", "http://door");
    const said = url?.searchParams.get("state") ?? "";
    // A page elsewhere can be made to ask for any address, but not by this name and with this word.
    if (
      request.method !== "GET" ||
      request.headers.host !== host ||
      url?.pathname !== "/" ||
      !constantTimeEqual(said, state)
    )
      return void response.writeHead(404, { Connection: "close" }).end();
    const code = url.searchParams.get("code");
    const why = url.searchParams.get("error");
    response.writeHead(200, { "Content-Type": "text/plain; charset=utf-8", Connection: "close" });
    response.end(code ? "Signed in. This window can be closed.\n" : "Not signed in. This window can be closed.\n");
    if (code) answer.resolve({ code });
    else answer.reject(new ResourceError("denied", `nothing was agreed to (${quote(why ?? "no reason given", 60)})`));
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/`,
    answered: (signal: AbortSignal) => until(answer.promise, signal, "no one signed in"),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
