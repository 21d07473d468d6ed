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
  readonly hear: Parameters<SharedDatabase["listen"]>[1];
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
  readonly signal: AbortSignal;
}

const firstBackMs = 200;
const longestBackMs = 10_000;
/** How often an idle connection is checked, and how long the response may take: a lost network reports nothing by itself. */
const checkMs = 5000;
const answerMs = 5000;

/** Resolves when the signal is aborted. */
export async function keepListening({ attach, channel, hear, runtime, signal }: ListeningOptions): Promise<void> {
  const backoff = createBackoff({
    firstMs: firstBackMs,
    longestMs: longestBackMs,
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
        await unlessAborted(session.listen(channel, hear.notified), signal);
        backoff.begun();
        isConnected = true;
        if (isLogged) runtime.log("info", "notifications of other instances are received again");
        isLogged = false;
        hear.connected();
        cause = await untilBroken(session, runtime, signal);
      } finally {
        session.abandon();
      }
    } catch (thrown) {
      cause = thrown;
    }
    if (signal.aborted) return;
    if (isConnected) hear.lost(cause);
    if (!isLogged)
      runtime.log("warn", "notifications of other instances are not received at present; connecting again", { cause });
    isLogged = true;
    await runtime.wait(backoff.ended(), signal).catch(() => undefined);
  }
}

/** Resolves with the reason when the connection has ended or no longer responds. */
async function untilBroken(
  { client, over }: Attached,
  { wait }: Pick<Runtime, "wait">,
  signal: AbortSignal,
): Promise<unknown> {
  const stop = new AbortController();
  const until = AbortSignal.any([signal, stop.signal]);
  const ended = over.then((cause) => ({ cause: cause ?? unavailable("the connection was closed") }));
  const aborted = unlessAborted(new Promise<never>(() => undefined), until).catch(() => ({ cause: undefined }));
  const after = (ms: number) => wait(ms, until).catch(() => undefined);
  try {
    for (;;) {
      const broken = await Promise.race([ended, aborted, after(checkMs)]);
      if (broken !== undefined) return broken.cause;
      const silent = unavailable(`the database did not respond within ${answerMs} ms`);
      const failed = await Promise.race([
        ended,
        aborted,
        client.query("select").then(
          () => undefined,
          (cause: unknown) => ({ cause }),
        ),
        after(answerMs).then(() => ({ cause: silent })),
      ]);
      if (failed !== undefined) return failed.cause;
    }
  } finally {
    stop.abort();
  }
}
