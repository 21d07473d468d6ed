/** From an address to Resources. */
import {
  type AuthProvider,
  type OAuthClientProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { invalid, quote } from "../errors.ts";
import { mayHoldSecret } from "../lib/url-secret.ts";
import type { Resources } from "../resources.ts";
import type { ToolUse } from "./tool-fallback.ts";
import { createObservedFetch, type StreamObserver } from "./observed-fetch.ts";
import { createAnswerCache, type AnswerCache } from "./answer-cache.ts";
import { createReconnecting, type Patience, type ConnectMethod } from "./reconnect.ts";
import { type Fetch, withOwnHeaders } from "./own-headers.ts";
import { createRemoteResources } from "./remote-resources.ts";
import { createRemoteWatcher } from "./watch-remote.ts";

export interface ConnectOptions {
  /** Found out unless said. */
  readonly era?: "auto" | "modern" | "legacy";
  /** What this program calls itself. */
  readonly client?: { readonly name: string; readonly version: string };
  /** Sent with every request over HTTP, as in `{ Authorization: "Bearer …" }`, and to no other server. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Signs in, where the server asks for it. */
  readonly auth?: AuthProvider | OAuthClientProvider;
  readonly fetch?: Fetch;
  /** For each question, with connecting and all attempts. */
  readonly timeoutMs?: number;
  /** Between attempts to connect, and to listen again after a lost stream. */
  readonly patience?: Patience;
  /** Milliseconds that never go back, for the time between attempts. */
  readonly now?: () => number;
  /** Shared by several connections; one of its own unless said. */
  readonly kept?: AnswerCache;
  /** Whose answers are kept: two connections with the same are of the same person. Its own unless said. */
  readonly identity?: string;
}

/** A house afar. Connected when it is first asked, and again whenever the connection was lost. */
export interface RemoteServer extends Resources, ToolUse {
  /** Of the last connection; undefined before the first. */
  readonly server: RemoteServerInfo | undefined;
  close(): Promise<void>;
}

export interface RemoteServerInfo {
  readonly name?: string;
  readonly version?: string;
  /** What the server wants models to be told. */
  readonly instructions?: string;
  /** The revision that was agreed on. */
  readonly revision?: string;
  readonly era: "modern" | "legacy";
}

/** Over HTTP, in whichever way the server speaks it. Throws where there is none. */
export async function connect(url: string | URL, options: ConnectOptions = {}): Promise<RemoteServer> {
  return reached(createRemoteServer(httpWays(url, options), options, String(url)));
}

/** Over any transport of the official client; a fresh one for each connection. */
export async function connectBy(
  open: () => Transport | Promise<Transport>,
  options: ConnectOptions = {},
): Promise<RemoteServer> {
  return reached(createRemoteServer([{ open }], options));
}

async function reached(pressmark: RemoteServer & { reach(): Promise<void> }): Promise<RemoteServer> {
  try {
    await pressmark.reach();
    return pressmark;
  } catch (cause) {
    await pressmark.close();
    throw cause;
  }
}

/** The ways to an address, the newest first. One that ends in `/sse` is of the oldest. */
export function httpWays(
  url: string | URL,
  { headers, auth, fetch: own, era }: ConnectOptions,
): readonly ConnectMethod[] {
  const address = URL.parse(String(url));
  if (!address || !/^https?:$/.test(address.protocol))
    throw invalid(`${quote(String(url))} is no address of a server; write it with http:// or https://`);
  const addressed = withOwnHeaders(own ?? ((to, init) => fetch(to, init)), address, headers);
  const shared = (ear: StreamObserver, isOldest: boolean) => ({
    ...(auth && { authProvider: auth }),
    fetch: createObservedFetch(addressed, ear, isOldest),
  });
  const current: ConnectMethod = {
    hasStream: true,
    open: (ear) =>
      new StreamableHTTPClientTransport(address, {
        ...shared(ear, false),
        // A stream that broke off is taken up again for as long as the session is known.
        reconnectionOptions: {
          initialReconnectionDelay: 100,
          maxReconnectionDelay: 10_000,
          reconnectionDelayGrowFactor: 2,
          maxRetries: 100_000,
        },
      }),
  };
  const oldest: ConnectMethod = {
    hasStream: true,
    isOld: true,
    open: (ear) => new SSEClientTransport(address, shared(ear, true)),
  };
  if (era === "modern") return [current];
  return address.pathname.endsWith("/sse") ? [oldest, current] : [current, oldest];
}

/**
 * Whether the server cannot know who asks: then it may say that an answer is for everyone. A program, a transport or a `fetch` of
 * the caller's own may send anything.
 */
function sendsNothingSecret({ headers = {}, auth, fetch: own }: ConnectOptions, server: string): boolean {
  return auth === undefined && own === undefined && Object.keys(headers).length === 0 && !mayHoldSecret(server);
}

/** Nothing is connected before the first question, or `reach`. */
export function createRemoteServer(
  ways: readonly ConnectMethod[],
  options: ConnectOptions = {},
  server: string = crypto.randomUUID(),
): RemoteServer & { reach(): Promise<void> } {
  const {
    era = "auto",
    client = { name: "pressmark", version: "0.1.0" },
    timeoutMs = 60_000,
    patience = { firstMs: 250, longestMs: 30_000 },
    kept = createAnswerCache(),
    identity = crypto.randomUUID(),
    now = () => performance.now(),
  } = options;
  const link = createReconnecting({ ways, era, client, timeoutMs, patience, now });
  const isAnonymous = sendsNothingSecret(options, server);
  const resources = createRemoteResources({ link, kept, server, identity, isAnonymous });
  const watching = createRemoteWatcher({
    link,
    timeoutMs,
    patience,
    now,
    changed: (change) => (change.kind === "updated" ? kept.forget(server, change.uri) : kept.forgetLists(server)),
  });
  let said: RemoteServerInfo | undefined;
  link.onConnection(({ client: made, era: spoken }) => {
    const { name, version } = made.getServerVersion() ?? {};
    const [instructions, revision] = [made.getInstructions(), made.getNegotiatedProtocolVersion()];
    said = {
      era: spoken,
      ...(name !== undefined && { name }),
      ...(version !== undefined && { version }),
      ...(instructions !== undefined && { instructions }),
      ...(revision !== undefined && { revision }),
    };
  });
  const nobody = { caller: { id: identity }, signal: new AbortController().signal };
  const { list, children, read, templates, complete, stat, search, skills, skill, tools, useTool } = resources;
  return {
    list,
    children,
    read,
    templates,
    complete,
    stat,
    search,
    ...(skills && { skills }),
    ...(skill && { skill }),
    watch: watching.watch,
    tools,
    useTool,
    get listFreshness() {
      return resources.listFreshness;
    },
    get server() {
      return said;
    },
    reach: () => link.ask(async () => undefined, nobody),
    async close() {
      watching.close();
      await link.close();
    },
  };
}
