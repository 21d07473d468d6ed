/** A connection to a server that is made anew when it is lost. */
import {
  Client,
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
import { answerIn, brokeOffCode, chainOf, statusOf, toRemoteError } from "./remote-error.ts";
import type { StreamObserver } from "./observed-fetch.ts";

/** One way to reach the server. */
export interface ConnectMethod {
  /** A fresh transport for each connection. */
  open(ear: StreamObserver): Transport | Promise<Transport>;
  /** Whether only the older era goes this way. */
  readonly isOld?: boolean;
  /** Whether the server speaks of its own accord only on a stream that the ear hears of. */
  readonly hasStream?: boolean;
}

export interface ReconnectingOptions {
  /** In the order in which they are tried, where the one before leads to no such server. */
  readonly ways: readonly ConnectMethod[];
  /** Which of the two eras is spoken; found out unless said. */
  readonly era: "auto" | "modern" | "legacy";
  readonly client: { readonly name: string; readonly version: string };
  readonly timeoutMs: number;
  readonly patience: Patience;
  /** Milliseconds that never go back. */
  readonly now: () => number;
}

/** Between attempts to connect, or to watch again: twice as long after each failure. */
export interface Patience {
  readonly firstMs: number;
  readonly longestMs: number;
}

export interface ClientConnection {
  readonly client: Client;
  readonly era: "modern" | "legacy";
  /** Whether the server can speak of its own accord, in the older era; known once its stream is open. Rejects when the connection is lost before. */
  readonly speaks: Promise<boolean>;
  /** Resolves when this connection is of no more use. */
  readonly lost: Promise<void>;
}

type Question<T> = (client: Client, options: RequestOptions, connection: ClientConnection) => Promise<T>;

/** A call whose time is limited. */
interface BoundedCall extends Call {
  extend(): void;
}

/**
 * One connection for all who ask. When it cannot be made, or is lost soon after, it is made again once at once, and then later and
 * later: until then everyone is answered with the last failure, which says when to come back.
 */
export interface Reconnecting {
  /** The connection of now; makes one where there is none. */
  connection(signal: AbortSignal): Promise<ClientConnection>;
  /**
   * Asks, and asks again where the answer was lost on its way: nothing that is asked here changes anything. Connecting and all
   * attempts have one time limit, which begins anew when the server tells of progress.
   */
  ask<T>(question: Question<T>, call: Call, uri?: string): Promise<T>;
  /** Called with each connection, before anything is asked of it. */
  onConnection(hear: (connection: ClientConnection) => void): void;
  /** Called when the server was not heard for a while, though the connection holds. */
  onGap(hear: (connection: ClientConnection) => void): void;
  close(): Promise<void>;
}

const modes: Readonly<Record<ReconnectingOptions["era"], VersionNegotiationMode>> = {
  auto: "auto",
  modern: { pin: "2026-07-28" },
  legacy: "legacy",
};
const maxTries = 3;
/** A program that says nothing to a question it does not know is asked in the older way after this. */
const probeMs = 15_000;
/** A server that opens its stream later than this is taken to have opened it; when it does, that is a gap. */
const streamMs = 5000;
/** For a session to be ended in good order. */
const partingMs = 1000;

/** A connection that held for so long was worth making: when it is lost, the next is made at once. */
const steadyMs = 5000;

interface Held extends ClientConnection {
  readonly transport: Transport;
  readonly lose: () => void;
  /** Whether it was the server that ended it, as a program does that exits. */
  readonly isEnded: boolean;
}

export function createReconnecting({
  ways,
  era,
  client: info,
  timeoutMs,
  patience,
  now,
}: ReconnectingOptions): Reconnecting {
  const backoff = createBackoff({ ...patience, atOnce: 1, steadyMs, now });
  const hearConnection: ((connection: ClientConnection) => void)[] = [];
  const hearGap: ((connection: ClientConnection) => void)[] = [];
  let current: Promise<Held> | undefined;
  let known: ConnectMethod | undefined;
  let isClosed = false;
  /** Why there is no connection, and when the next may be made. */
  let resting: { readonly failure: ResourceError; readonly untilMs: number } | undefined;

  async function connect(): Promise<Held> {
    let failure: unknown;
    for (const way of known ? [known] : ways) {
      try {
        const held = await connectBy(way);
        known = way;
        return held;
      } catch (cause) {
        failure = cause;
        if (![400, 404, 405].includes(statusOf(cause) ?? 0)) break;
      }
    }
    throw failure;
  }

  async function connectBy({ open, isOld = false, hasStream = false }: ConnectMethod): Promise<Held> {
    const mode = modes[isOld ? "legacy" : era];
    const client = new Client(
      { ...info },
      { versionNegotiation: { mode, probe: { timeoutMs: Math.min(timeoutMs / 2, probeMs) } } },
    );
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
    let held: Held | undefined;
    let isHeard = !hasStream;
    if (isHeard) speak(true);
    const transport = await open({
      opened() {
        if (isHeard && held) for (const hear of hearGap) hear(held);
        isHeard = true;
        speak(true);
      },
      refused: () => speak(false),
      lost: () => lose(),
    });
    // The question which era it is, and the handshake.
    const connecting = withDeadline(timeoutMs, never, tooLate, () => client.connect(transport, { timeout: timeoutMs }));
    await Promise.race([connecting, broken]).catch(async (cause: unknown) => {
      connecting.catch(() => undefined);
      await client.close().catch(() => undefined);
      throw cause;
    });
    // Not before: what the client closes while it looks for the era is no loss, and it says why itself.
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
    for (const hear of hearConnection) hear(held);
    return held;
  }

  function made(): Promise<Held> {
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

  async function connection(signal: AbortSignal): Promise<Held> {
    if (isClosed) throw new ResourceError("unavailable", "the connection was closed", { passing: false });
    // The connection is for everyone; only the waiting is this caller's.
    return abortable(made(), signal);
  }

  async function attempt<T>(question: Question<T>, call: BoundedCall, uri: string | undefined): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      let held: Held | undefined;
      try {
        held = await connection(call.signal);
        return await abortable(question(held.client, requestOptions(call, timeoutMs), held), call.signal);
      } catch (cause) {
        const failure = toRemoteError(cause, call.signal, uri);
        if (tries === maxTries || failure.kind === "cancelled" || isClosed) throw failure;
        if (retryAfterOf(failure) !== undefined) throw failure;
        if (held && isGone(cause)) held.lose();
        else if (!isBrokenOff(cause)) throw failure;
      }
    }
  }

  return {
    connection,
    async ask(question, call, uri) {
      try {
        return await withDeadline(timeoutMs, call.signal, tooLate, ({ signal, extend }) =>
          attempt(question, { ...call, signal, extend }, uri),
        );
      } catch (cause) {
        throw toRemoteError(cause, call.signal, uri);
      }
    },
    onConnection: (hear) => void hearConnection.push(hear),
    onGap: (hear) => void hearGap.push(hear),
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

/** Whether only another connection can do better: the process ended, or the session is not known any more. */
function isGone(cause: unknown): boolean {
  if (answerIn(cause)) return false;
  const status = statusOf(cause);
  if (status === 404 || status === 400) return true;
  const { code, message } = cause as { readonly code?: unknown; readonly message?: unknown };
  return code === "CONNECTION_CLOSED" || code === "NOT_CONNECTED" || message === "Not connected";
}

/** Whether something went wrong on the way. Where no one listens, no one will in the next moment. */
function isBrokenOff(cause: unknown): boolean {
  if (cause instanceof SdkError && cause.code === SdkErrorCode.ConnectionClosed) return true;
  const chain = chainOf(cause);
  const codes = chain.map((each) => (each as { readonly code?: unknown }).code);
  if (codes.includes("ECONNREFUSED") || codes.includes("ENOTFOUND")) return false;
  return codes.includes(brokeOffCode) || chain.some((each) => each instanceof TypeError || each.name === "SyntaxError");
}

function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

function tooLate(): ResourceError {
  return new ResourceError("unavailable", "the server did not answer in time");
}
