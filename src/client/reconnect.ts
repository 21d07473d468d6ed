/** A connection to a server that is restored when it is lost. */
import {
  Client,
  type ClientOptions,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  type Transport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { ResourceError, retryAfterOf } from "../errors.ts";
import { createBackoff } from "../lib/backoff.ts";
import { withDeadline } from "../lib/with-deadline.ts";
import type { Call } from "../resources.ts";
import { declaredExtensions } from "./extensions.ts";
import { answerIn, brokeOffCode, chainOf, isSessionLost, statusOf, toRemoteError } from "./remote-error.ts";
import type { StreamObserver } from "./observed-fetch.ts";

/** One transport to reach the server. */
export interface ConnectMethod {
  /** A new transport for each connection. */
  open(observer: StreamObserver): Transport | Promise<Transport>;
  /** True if it supports only the older era. */
  readonly isOld?: boolean;
  /** True if the server sends notifications only on a stream that the observer sees. */
  readonly hasStream?: boolean;
}

interface ReconnectingOptions {
  /** In the order of attempts; the next is tried if there is no such server. */
  readonly ways: readonly ConnectMethod[];
  /** Protocol era. "auto" detects it. */
  readonly era: "auto" | "modern" | "legacy";
  readonly client: { readonly name: string; readonly version: string };
  readonly timeoutMs: number;
  readonly patience: Patience;
  /** Milliseconds that never go back. */
  readonly now: () => number;
  /** Options of the official client. */
  readonly clientOptions?: ClientOptions | undefined;
  /** Called with each client before it connects. */
  readonly prepare?: ((client: Client) => void) | undefined;
}

/** Delays between attempts to connect or to watch again: doubled after each failure. */
export interface Patience {
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface ClientConnection {
  readonly client: Client;
  readonly era: "modern" | "legacy";
  /** Older era: whether the server can send notifications; known once its stream is open. Rejects if the connection is lost before. */
  readonly speaks: Promise<boolean>;
  /** Resolves when this connection cannot be used any more. */
  readonly lost: Promise<void>;
}

export type RemoteRequest<T> = (client: Client, options: RequestOptions, connection: ClientConnection) => Promise<T>;

/** A call with a time limit. */
interface BoundedCall extends Pick<Call, "signal" | "progress"> {
  extend(): void;
}

/**
 * One connection for all calls. If it fails, or is lost soon, it is tried again once immediately, and then with growing delays:
 * until the next attempt every call gets the last failure, which says when to retry.
 */
export interface Reconnecting {
  /** Returns the current connection; creates one if there is none. */
  connection(signal: AbortSignal): Promise<ClientConnection>;
  /**
   * Sends a request that is safe to repeat, and repeats it if the response was lost. Connecting and all attempts share one time
   * limit, which restarts when the server reports progress.
   */
  send<T>(request: RemoteRequest<T>, call: Call, uri?: string): Promise<T>;
  /** Like `send`, but repeats the request only if the server has not processed it. */
  sendOnce<T>(request: RemoteRequest<T>, call: Call, uri?: string): Promise<T>;
  /** Like `sendOnce`, but limited in time by its own options and by the signal only. */
  sendUntilAborted<T>(request: RemoteRequest<T>, signal: AbortSignal): Promise<T>;
  /** Called with each connection, before it is used. */
  onConnection(listener: (connection: ClientConnection) => void): void;
  /** Called when notifications may have been missed, though the connection holds. */
  onGap(listener: (connection: ClientConnection) => void): void;
  close(): Promise<void>;
}

const modes: Readonly<Record<ReconnectingOptions["era"], VersionNegotiationMode>> = {
  auto: "auto",
  modern: { pin: "2026-07-28" },
  legacy: "legacy",
};
const maxTries = 3;
/** A program that does not respond to an unknown request within this time is treated as the older era. */
const probeMs = 15_000;
/** A server whose stream opens later than this is treated as if it were open; when it opens, that counts as a gap. */
const streamMs = 5000;
/** Time limit for ending a session. */
const partingMs = 1000;

/** A connection that lasted this long was a success: when it is lost, the next is made immediately. */
const steadyMs = 5000;

interface OpenConnection extends ClientConnection {
  readonly transport: Transport;
  readonly lose: () => void;
  /** True if the server ended it, for example a program that exited. */
  readonly isEnded: boolean;
}

export function createReconnecting({
  ways,
  era,
  client: info,
  timeoutMs,
  patience,
  now,
  clientOptions,
  prepare,
}: ReconnectingOptions): Reconnecting {
  const backoff = createBackoff({ ...patience, atOnce: 1, steadyMs, now });
  const connectionListeners: ((connection: ClientConnection) => void)[] = [];
  const gapListeners: ((connection: ClientConnection) => void)[] = [];
  let current: Promise<OpenConnection> | undefined;
  let known: ConnectMethod | undefined;
  /** The server was last reached in the older era: its era is not detected again until a connection fails. */
  let isLegacy = false;
  let isClosed = false;
  /** Why there is no connection, and when the next attempt may start. */
  let resting: { readonly failure: ResourceError; readonly untilMs: number } | undefined;

  async function connect(): Promise<OpenConnection> {
    let failure: unknown;
    for (const way of known ? [known] : ways) {
      try {
        const held = await (isLegacy ? connectBy(way, "legacy") : detect(way));
        known = way;
        isLegacy = held.era === "legacy";
        return held;
      } catch (cause) {
        failure = cause;
        isLegacy = false;
        if (![400, 404, 405].includes(statusOf(cause) ?? 0)) break;
      }
    }
    throw failure;
  }

  /** Programs of the older era exist that exit on a request before the handshake: these are started again. */
  async function detect(way: ConnectMethod): Promise<OpenConnection> {
    try {
      return await connectBy(way, way.isOld ? "legacy" : era);
    } catch (cause) {
      const hasExited = cause instanceof SdkError && cause.code === SdkErrorCode.EraNegotiationFailed && !way.hasStream;
      if (era !== "auto" || !hasExited) throw cause;
      return connectBy(way, "legacy");
    }
  }

  async function connectBy(
    { open, hasStream = false }: ConnectMethod,
    tried: ReconnectingOptions["era"],
  ): Promise<OpenConnection> {
    const mode = modes[tried];
    const client = new Client(
      { ...info },
      {
        ...clientOptions,
        capabilities: {
          ...clientOptions?.capabilities,
          extensions: { ...clientOptions?.capabilities?.extensions, ...declaredExtensions },
        },
        versionNegotiation: { mode, probe: { timeoutMs: Math.min(timeoutMs / 2, probeMs) } },
      },
    );
    prepare?.(client);
    const { promise: lost, resolve } = Promise.withResolvers<void>();
    let isLost = false;
    let isEnded = false;
    const lose = (): void => {
      isLost = true;
      resolve();
    };
    const end = (): void => {
      isEnded ||= !isLost;
      lose();
    };
    const { promise: speaks, resolve: speak, reject: fallSilent } = Promise.withResolvers<boolean>();
    const broken = lost.then(() => {
      throw lostConnection();
    });
    broken.catch(fallSilent);
    speaks.catch(() => undefined);
    let held: OpenConnection | undefined;
    let isHeard = !hasStream;
    if (isHeard) speak(true);
    const transport = await open({
      opened() {
        if (isHeard && held) for (const listener of gapListeners) listener(held);
        isHeard = true;
        speak(true);
      },
      refused: () => speak(false),
      lost: () => lose(),
    });
    // Detects the era, and does the handshake.
    const connecting = withDeadline(timeoutMs, never, tooLate, () => client.connect(transport, { timeout: timeoutMs }));
    await Promise.race([connecting, broken]).catch(async (cause: unknown) => {
      connecting.catch(() => undefined);
      await client.close().catch(() => undefined);
      throw cause;
    });
    // Not earlier: connections that the client closes while it detects the era are not lost, and it reports why itself.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the client has no events
    client.onclose = end;
    if (!client.transport) end();
    const spoken = client.getProtocolEra() ?? "legacy";
    held = {
      client,
      transport,
      era: spoken,
      speaks,
      lost,
      lose,
      get isEnded() {
        return isEnded;
      },
    };
    const late = setTimeout(() => {
      isHeard = true;
      speak(true);
    }, streamMs);
    void speaks.finally(() => clearTimeout(late)).catch(() => undefined);
    void lost.then(() => client.close().catch(() => undefined));
    for (const listener of connectionListeners) listener(held);
    return held;
  }

  function made(): Promise<OpenConnection> {
    if (current) return current;
    const restMs = resting ? resting.untilMs - now() : 0;
    if (resting && restMs > 0) return Promise.reject(untilThen(resting.failure, restMs));
    const fresh = connect();
    current = fresh;
    const over = (cause?: unknown): void => {
      if (current === fresh) current = undefined;
      if (cause) resting = { failure: toRemoteError(cause, never), untilMs: now() + backoff.ended() };
    };
    fresh.then((held) => {
      backoff.begun();
      void held.lost.then(() => over(held.isEnded ? lostConnection() : undefined));
    }, over);
    return fresh;
  }

  async function connection(signal: AbortSignal): Promise<OpenConnection> {
    if (isClosed) throw new ResourceError("unavailable", "the connection was closed", { passing: false });
    // The connection is shared; only the wait belongs to this caller.
    return abortable(made(), signal);
  }

  async function attempt<T>(
    request: RemoteRequest<T>,
    call: BoundedCall,
    uri: string | undefined,
    mayRepeat: boolean,
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      let held: OpenConnection | undefined;
      try {
        held = await connection(call.signal);
        return await abortable(request(held.client, requestOptions(call, timeoutMs), held), call.signal);
      } catch (cause) {
        const failure = toRemoteError(cause, call.signal, uri);
        if (tries === maxTries || failure.kind === "cancelled" || isClosed) throw failure;
        if (retryAfterOf(failure) !== undefined) throw failure;
        if (held && isGone(cause)) {
          held.lose();
          // Until then it is still the current connection, and the next attempt would use it.
          await held.lost;
        } else if (!isBrokenOff(cause)) throw failure;
        if (held && !mayRepeat && !isUnprocessed(cause)) throw failure;
      }
    }
  }

  const sendAs =
    (mayRepeat: boolean): Reconnecting["send"] =>
    async (request, call, uri) => {
      try {
        return await withDeadline(timeoutMs, call.signal, tooLate, ({ signal, extend }) =>
          attempt(request, { ...call, signal, extend }, uri, mayRepeat),
        );
      } catch (cause) {
        throw toRemoteError(cause, call.signal, uri);
      }
    };

  return {
    connection,
    send: sendAs(true),
    sendOnce: sendAs(false),
    sendUntilAborted: (request, signal) => attempt(request, { signal, extend: () => undefined }, undefined, false),
    onConnection: (listener) => void connectionListeners.push(listener),
    onGap: (listener) => void gapListeners.push(listener),
    async close() {
      isClosed = true;
      const held = await current?.catch(() => undefined);
      if (!held) return;
      const { transport, client } = held;
      if ("terminateSession" in transport && typeof transport.terminateSession === "function")
        await withDeadline(
          partingMs,
          never,
          tooLate,
          transport.terminateSession.bind(transport) as () => Promise<void>,
        ).catch(() => undefined);
      await client.close();
    },
  };
}

const never = new AbortController().signal;

function lostConnection(): SdkError {
  return new SdkError(SdkErrorCode.ConnectionClosed, "the connection is lost");
}

function untilThen(failure: ResourceError, restMs: number): ResourceError {
  const { kind, message, passing } = failure;
  const details = { ...failure.details, retryAfterMs: Math.ceil(restMs) };
  return new ResourceError(kind, message, { cause: failure, passing, details });
}

function requestOptions({ signal, progress, extend }: BoundedCall, timeoutMs: number): RequestOptions {
  return {
    signal,
    timeout: timeoutMs,
    ...(progress && {
      onprogress({ progress: done, total, message }) {
        extend();
        progress(done, total, message);
      },
      resetTimeoutOnProgress: true,
    }),
  };
}

/** True if only a new connection can help: the process ended, or the session is or may be unknown (400 without a reason). */
function isGone(cause: unknown): boolean {
  if (answerIn(cause)) return false;
  const { code } = cause as { readonly code?: unknown };
  return isUnprocessed(cause) || statusOf(cause) === 400 || code === SdkErrorCode.ConnectionClosed;
}

/** True if the request was not sent, or the server refused it because it does not know the session. */
function isUnprocessed(cause: unknown): boolean {
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return isSessionLost(cause) || code === SdkErrorCode.NotConnected || message === "Not connected";
}

/** True for a network failure. If nothing listens at the address, an immediate retry would not help. */
function isBrokenOff(cause: unknown): boolean {
  if (cause instanceof SdkError && cause.code === SdkErrorCode.ConnectionClosed) return true;
  const chain = chainOf(cause);
  const codes = chain.map((each) => (each as { readonly code?: unknown }).code);
  if (codes.includes("ECONNREFUSED") || codes.includes("ENOTFOUND")) return false;
  return codes.includes(brokeOffCode) || chain.some((each) => each instanceof TypeError || each.name === "SyntaxError");
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) {
    promise.catch(() => undefined);
    return Promise.reject(signal.reason as Error);
  }
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function tooLate(): ResourceError {
  return new ResourceError("unavailable", "the server did not respond in time");
}
