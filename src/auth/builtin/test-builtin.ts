/** An embedded authorization server on a real port, and a browser and a client without script for its tests. */
import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CallerConfig } from "../../config/access.ts";
import { createRuntime } from "../../server/runtime.ts";
import type { Store } from "../../state/store.ts";
import type { TokenVerifier } from "../token-verifier.ts";
import { createOAuthStore, type FileOAuthStore, hashSecret } from "./oauth-store.ts";
import { type BuiltinContext, openBuiltin } from "./open-builtin.ts";

export interface TestBuiltin extends AsyncDisposable {
  /** The public URL. */
  readonly url: string;
  /** Where a proxy sends requests. */
  readonly origin: string;
  readonly resource: string;
  readonly store: FileOAuthStore;
  readonly stateFolder: string;
  readonly context: BuiltinContext;
  readonly verifier: TokenVerifier;
  /** The other instance, with a store that both share. */
  readonly other: TokenVerifier | undefined;
  readonly logged: readonly string[];
  /** Names that signed in; undefined for a failure. */
  readonly signedIn: readonly (string | undefined)[];
  /** Pairs of a caller and the client that they allowed. */
  readonly allowed: readonly (readonly [account: string, client: string])[];
  callers: readonly CallerConfig[];
  /** Sends a request as a browser does: cookies are kept, redirects are not followed. */
  browse(url: string, options?: { form?: Record<string, string>; headers?: Record<string, string> }): Promise<Response>;
  /** Revokes the token of aki. */
  endToken(): void;
  /** A browser without cookies from now on. */
  forgetCookies(): void;
  /** Ends the process's part and opens it again from the state folder. */
  restart(): Promise<void>;
}

export const tokenOfAki = "pmk_token-of-aki-0123456789";

interface TestOptions {
  readonly permit?: BuiltinContext["permit"];
  readonly resolve?: BuiltinContext["resolve"];
  readonly scopes?: BuiltinContext["scopes"];
  /** Default: the URL of the server, as without a proxy. Its path is removed by the proxy. */
  readonly publicUrl?: string;
  readonly now?: () => number;
  /** Two instances share this store, and answer in turn. */
  readonly shared?: Store;
}

export async function startBuiltin({
  permit,
  resolve,
  scopes,
  publicUrl,
  now = Date.now,
  shared,
}: TestOptions = {}): Promise<TestBuiltin> {
  const stateFolder = mkdtempSync(join(tmpdir(), "pressmark-oauth-"));
  let requests = 0;
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? "/", "http://x").pathname;
    requests += 1;
    const answering = other && requests % 2 === 0 ? other : verifier;
    if (!answering.answer?.(request, response, path)) response.writeHead(404).end();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = publicUrl ?? origin;
  const resource = `${url}/mcp`;
  const signedIn: (string | undefined)[] = [];
  const allowed: (readonly [account: string, client: string])[] = [];
  const endOfToken = new AbortController();
  const cookies = new Map<string, { readonly value: string; readonly path: string }>();
  const logged: string[] = [];
  const runtime = { ...createRuntime({ write: (line: string) => Boolean(logged.push(line)) }), now };
  let callers: readonly CallerConfig[] = [{ name: "aki", groups: ["support"] }, { name: "bo" }];
  const context: BuiltinContext = {
    publicUrl: url,
    resource,
    callers: () => callers,
    stateFolder,
    config: "/config.yaml",
    shared,
    runtime,
    scopes,
    admit: (secret) => (secret === "code-of-aki" ? { id: "aki" } : context.findByHash(hashSecret(secret))),
    findByHash: (hash) =>
      hash === hashSecret(tokenOfAki) && !endOfToken.signal.aborted
        ? { id: "aki", ended: endOfToken.signal }
        : undefined,
    isCurrent: () => true,
    addressOf: () => "",
    signedIn: (account) => void signedIn.push(account),
    allowed: (account, client) => allowed.push([account, client]),
    permit,
    resolve,
  };
  let verifier = await openBuiltin(context);
  const other = shared && (await openBuiltin(context));
  const store = createOAuthStore(stateFolder, "/config.yaml", now);

  return {
    url,
    origin,
    resource,
    logged,
    store,
    stateFolder,
    context,
    signedIn,
    allowed,
    get verifier() {
      return verifier;
    },
    other,
    get callers() {
      return callers;
    },
    set callers(next) {
      callers = next;
    },
    async browse(target, { form, headers } = {}) {
      const { pathname } = new URL(target);
      const sent = [...cookies].filter(([, { path }]) => pathname.startsWith(path));
      const response = await fetch(target.replace(url, origin), {
        redirect: "manual",
        headers: {
          accept: "text/html",
          ...(sent.length > 0 && { cookie: sent.map(([name, { value }]) => `${name}=${value}`).join("; ") }),
          ...(form && { origin: new URL(url).origin }),
          ...headers,
        },
        ...(form && { method: "POST", body: new URLSearchParams(form) }),
      });
      for (const line of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        const path = /; path=([^;]+)/i.exec(line)?.[1] ?? "/";
        if (value === "") cookies.delete(name);
        else cookies.set(name, { value, path });
      }
      return response;
    },
    endToken: () => endOfToken.abort(),
    forgetCookies: () => cookies.clear(),
    async restart() {
      await verifier.close();
      verifier = await openBuiltin(context);
    },
    async [Symbol.asyncDispose]() {
      await verifier.close();
      await other?.close();
      server.close();
      server.closeAllConnections();
      rmSync(stateFolder, { recursive: true, force: true });
    },
  };
}

export const redirectUri = "https://client.example/callback";

export async function register(
  { origin }: TestBuiltin,
  metadata: Record<string, unknown> = {},
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await fetch(`${origin}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: "Test client", redirect_uris: [redirectUri], ...metadata }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** An authorization request of a client, and what it needs to redeem the code. */
export function createRequest(builtin: TestBuiltin, client: string, changes: Record<string, string | undefined> = {}) {
  const verifier = randomBytes(32).toString("base64url");
  const params: Record<string, string | undefined> = {
    response_type: "code",
    client_id: client,
    redirect_uri: redirectUri,
    state: "state-1",
    resource: builtin.resource,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...changes,
  };
  const given = Object.entries(params).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return { verifier, address: `${builtin.url}/oauth/authorize?${new URLSearchParams(given)}` };
}

/** Follows redirects within the server, and fills in its pages. The result is the URL that the client is called back with. */
export async function signInAndAllow(
  builtin: TestBuiltin,
  address: string,
  { name = "", secret = tokenOfAki, consent = "allow", seen = (_page: string): unknown => undefined } = {},
): Promise<URL> {
  let response = await builtin.browse(address);
  for (let step = 0; step < 12; step += 1) {
    const location = response.headers.get("location");
    if (location !== null) {
      const next = new URL(location, address);
      if (next.origin !== new URL(builtin.url).origin) return next;
      address = next.href;
      response = await builtin.browse(address);
      continue;
    }
    const page = await response.text();
    seen(page);
    if (page.includes('value="allow"')) response = await builtin.browse(address, { form: { action: consent } });
    else if (response.status === 200 && page.includes('value="sign-in"'))
      response = await builtin.browse(address, { form: { action: "sign-in", name, secret } });
    else throw new Error(`unexpected page (${response.status}): ${page.replaceAll(/<style>.*<\/style>/gs, "")}`);
  }
  throw new Error("too many steps");
}

/** A request to the token endpoint. */
export async function exchange(
  { origin }: TestBuiltin,
  form: Record<string, string>,
): Promise<{ readonly status: number; readonly body: Record<string, unknown> }> {
  const response = await fetch(`${origin}/oauth/token`, { method: "POST", body: new URLSearchParams(form) });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** Registers, signs in, allows and redeems the code. */
export async function connectClient(builtin: TestBuiltin, secret = tokenOfAki, name = "") {
  const client = String((await register(builtin)).body["client_id"]);
  const { verifier, address } = createRequest(builtin, client);
  const called = await signInAndAllow(builtin, address, { name, secret });
  const code = called.searchParams.get("code") ?? "";
  const form = {
    grant_type: "authorization_code",
    client_id: client,
    code,
    code_verifier: verifier,
    redirect_uri: redirectUri,
  };
  const { status, body } = await exchange(builtin, form);
  return {
    client,
    form,
    status,
    body,
    accessToken: String(body["access_token"]),
    refreshToken: String(body["refresh_token"]),
  };
}
