/** Connects to a server by its address and returns Resources. */
import {
  type AuthProvider,
  type Client,
  type ClientOptions,
  type OAuthClientProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client";
import { invalid, quote, type ResourceError } from "../errors.ts";
import { mayHoldSecret } from "../lib/url-secret.ts";
import type { Call, Resources } from "../resources.ts";
import type { RemoteTools } from "./remote-tools.ts";
import type { ToolUse } from "./tool-fallback.ts";
import { createObservedFetch, type StreamObserver } from "./observed-fetch.ts";
import { createAnswerCache, type AnswerCache } from "./answer-cache.ts";
import {
  type ClientConnection,
  type ConnectMethod,
  createReconnecting,
  type Patience,
  type RemoteRequest,
} from "./reconnect.ts";
import { type Fetch, withOwnHeaders } from "./own-headers.ts";
import { createRemoteResources } from "./remote-resources.ts";
import { createRemoteWatcher } from "./watch-remote.ts";

export interface ConnectOptions {
  /** Default: detected. */
  readonly era?: "auto" | "modern" | "legacy";
  /** Name and version of this program. */
  readonly client?: { readonly name: string; readonly version: string };
  /** Sent with every request over HTTP, as in `{ Authorization: "Bearer …" }`, and to no other server. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Signs in if the server requires it. */
  readonly auth?: AuthProvider | OAuthClientProvider;
  readonly fetch?: Fetch;
  /** For each request, including connecting and all attempts. */
  readonly timeoutMs?: number;
  /** Delays between attempts to connect, and to listen again after a lost stream. */
  readonly patience?: Patience;
  /** Milliseconds that never go back, for the time between attempts. */
  readonly now?: () => number;
  /** Cache, which several connections may share. Default: a separate one. */
  readonly cache?: AnswerCache;
  /** Options of the official client. */
  readonly clientOptions?: Pick<ClientOptions, "capabilities" | "inputRequired">;
  /** Called with each client before it connects, to set handlers of requests and notifications. */
  readonly prepare?: (client: Client) => void;
  /** Called with each connection. */
  readonly connected?: (connection: ClientConnection) => void;
  /** Called when notifications may have been missed, though the connection holds. */
  readonly missed?: () => void;
  /**
   * @internal Called once for each reason why a lost watch cannot be restored. If it returns true, every watch ends with it. Default: it is tried
   * again, because a server or a right may come back.
   */
  readonly watchLost?: (failure: ResourceError) => boolean;
  /** Owner of private cached responses: connections with the same identity belong to the same person. Default: a separate one. */
  readonly identity?: string;
}

/** A remote server. Connects on the first request, and again whenever the connection was lost. */
export interface RemoteServer extends Resources, ToolUse, RemoteTools {
  /** Of the last connection; undefined before the first. */
  readonly server: RemoteServerInfo | undefined;
  /** Uses the official client for requests that are safe to repeat. */
  send<T>(request: RemoteRequest<T>, call: Call, uri?: string): Promise<T>;
  /** Uses the official client for a request that may change something. */
  sendUntilAborted<T>(request: RemoteRequest<T>, signal: AbortSignal): Promise<T>;
  close(): Promise<void>;
}

export interface RemoteServerInfo {
  readonly name?: string;
  readonly version?: string;
  /** The server's instructions for models. */
  readonly instructions?: string;
  /** The negotiated revision. */
  readonly revision?: string;
  readonly era: "modern" | "legacy";
}

/** Connects over HTTP, with whichever transport the server supports. Throws if there is no server. */
export async function connect(url: string | URL, options: ConnectOptions = {}): Promise<RemoteServer> {
  return reached(createRemoteServer(httpWays(url, options), options, String(url)));
}

/** Connects over any transport of the official client; opens a new one for each connection. */
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

/** Possible transports for an address, the newest first. A URL that ends in `/sse` uses the oldest. */
export function httpWays(
  url: string | URL,
  { headers, auth, fetch: own, era }: ConnectOptions,
): readonly ConnectMethod[] {
  const address = URL.parse(String(url));
  if (!address || !/^https?:$/.test(address.protocol))
    throw invalid(`${quote(String(url))} is not a server address; begin it with http:// or https://`);
  const addressed = withOwnHeaders(own ?? ((to, init) => fetch(to, init)), address, headers);
  const shared = (observer: StreamObserver, isOldest: boolean) => ({
    authProvider: auth,
    fetch: createObservedFetch(addressed, observer, isOldest),
  });
  const current: ConnectMethod = {
    hasStream: true,
    open: (observer) =>
      new StreamableHTTPClientTransport(address, {
        ...shared(observer, false),
        // A stream that broke off is resumed while the session is known.
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
    open: (observer) => new SSEClientTransport(address, shared(observer, true)),
  };
  if (era === "modern") return [current];
  return address.pathname.endsWith("/sse") ? [oldest, current] : [current, oldest];
}

/**
 * True if the server cannot know who the caller is: then it may mark a response as public. A program, a custom transport or a
 * custom `fetch` may send anything.
 */
function sendsNothingSecret({ headers = {}, auth, fetch: own }: ConnectOptions, server: string): boolean {
  return auth === undefined && own === undefined && Object.keys(headers).length === 0 && !mayHoldSecret(server);
}

/** Nothing is connected before the first request, or `reach`. */
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
    cache = createAnswerCache(),
    identity = crypto.randomUUID(),
    now = () => performance.now(),
    clientOptions,
    prepare,
  } = options;
  const link = createReconnecting({ ways, era, client, timeoutMs, patience, now, clientOptions, prepare });
  const isAnonymous = sendsNothingSecret(options, server);
  const resources = createRemoteResources({ link, kept: cache, server, identity, isAnonymous, now });
  const watching = createRemoteWatcher({
    link,
    timeoutMs,
    patience,
    now,
    lost: options.watchLost,
    changed: (change) => (change.kind === "updated" ? cache.forget(server, change.uri) : cache.forgetLists(server)),
  });
  let info: RemoteServerInfo | undefined;
  link.onConnection((connection) => {
    const { client: made, era: spoken } = connection;
    const { name, version } = made.getServerVersion() ?? {};
    const [instructions, revision] = [made.getInstructions(), made.getNegotiatedProtocolVersion()];
    info = { era: spoken, name, version, instructions, revision };
    options.connected?.(connection);
  });
  link.onGap(() => options.missed?.());
  const nobody = { caller: { id: identity }, signal: new AbortController().signal };
  return {
    ...resources,
    watch: watching.watch,
    get listFreshness() {
      return resources.listFreshness;
    },
    get server() {
      return info;
    },
    send: link.send,
    sendUntilAborted: link.sendUntilAborted,
    reach: () => link.send(async () => undefined, nobody),
    async close() {
      watching.close();
      await link.close();
    },
  };
}
