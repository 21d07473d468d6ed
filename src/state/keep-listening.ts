/** Keeps one connection that receives notifications, and opens it again when it breaks. */
import type { Attached } from "../backends/postgres/pool.ts";
import { unavailable } from "../errors.ts";
import { createBackoff } from "../lib/backoff.ts";
import { unlessAborted } from "../lib/unless-aborted.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedDatabase } from "./database.ts";

interface ListeningOptions {
  attach(signal: AbortSignal): Promise<Attached>;
  readonly channel: string;
  readonly handlers: Parameters<SharedDatabase["listen"]>[1];
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
  readonly signal: AbortSignal;
}

const firstDelayMs = 200;
const longestDelayMs = 10_000;
/** How often an idle connection is checked, and how long the response may take: a lost network reports nothing by itself. */
const checkMs = 5000;
const answerMs = 5000;

/** Resolves when the signal is aborted. */
export async function keepListening({ attach, channel, handlers, runtime, signal }: ListeningOptions): Promise<void> {
  const backoff = createBackoff({
    firstMs: firstDelayMs,
    longestMs: longestDelayMs,
    steadyMs: 0,
    now: runtime.monotonicMs,
  });
  let isLogged = false;
  while (!signal.aborted) {
    let isConnected = false;
    let cause: unknown;
    try {
      const session = await attach(signal);
      try {
        await unlessAborted(session.listen(channel, handlers.notified), signal);
        backoff.begun();
        isConnected = true;
        if (isLogged) runtime.log("info", "notifications of other instances are received again");
        isLogged = false;
        handlers.connected();
        cause = await untilBroken(session, runtime, signal);
      } finally {
        session.abandon();
      }
    } catch (thrown) {
      cause = thrown;
    }
    if (signal.aborted) return;
    if (isConnected) handlers.lost(cause);
    if (!isLogged)
      runtime.log("warn", "notifications of other instances are not received at present; connecting again", { cause });
    isLogged = true;
    await runtime.wait(backoff.ended(), signal).catch(() => undefined);
  }
}

/** Resolves with the reason when the connection has ended or no longer responds. It may last for months, so each check leaves nothing behind. */
async function untilBroken(
  { client, over }: Attached,
  { wait }: Pick<Runtime, "wait">,
  signal: AbortSignal,
): Promise<unknown> {
  const ending = new AbortController();
  const until = AbortSignal.any([signal, ending.signal]);
  let reason: unknown;
  void over.then((cause) => {
    reason = cause ?? unavailable("the connection was closed");
    ending.abort();
  });
  for (;;) {
    await wait(checkMs, until).catch(() => undefined);
    if (until.aborted) return reason;
    const failed = await failureOf(client, wait, until);
    if (until.aborted) return reason;
    if (failed !== undefined) return failed.cause;
  }
}

/** Undefined if the database responds in time, or the signal is aborted. */
async function failureOf(
  client: Attached["client"],
  wait: Runtime["wait"],
  signal: AbortSignal,
): Promise<{ readonly cause: unknown } | undefined> {
  const done = new AbortController();
  const responded = client.query("select").then(
    () => undefined,
    (cause: unknown) => ({ cause }),
  );
  const late = wait(answerMs, AbortSignal.any([signal, done.signal])).then(
    () => ({ cause: unavailable(`the database did not respond within ${answerMs} ms`) }),
    () => undefined,
  );
  try {
    return await Promise.race([responded, late]);
  } finally {
    done.abort();
  }
}
