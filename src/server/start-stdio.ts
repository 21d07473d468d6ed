/** Serves on standard input and output, to the host that started the process. */
import type { Readable, Writable } from "node:stream";
import { isDoneWithin } from "../lib/is-done-within.ts";
import { serveStdio } from "../transport/stdio.ts";
import { createFeatures, createServerProtocol } from "./features.ts";
import { type OpenServerOptions, openServer } from "./open-server.ts";
import type { Tracing } from "./tracing.ts";
import { startTracing } from "./tracing-target.ts";

interface StdioServerOptions extends Omit<OpenServerOptions, "live"> {
  readonly input: Readable;
  readonly out: Writable;
  readonly version: string;
  /** False offers no tools, regardless of the config. */
  readonly tools?: boolean;
  readonly signal: AbortSignal;
  /** Longest time that the first response waits for what to read first. Default: 1000. */
  readonly prepareMs?: number;
}

/** Resolves when the host has disconnected or the signal was aborted, and everything is closed. */
export async function startStdio(options: StdioServerOptions): Promise<void> {
  const { input, out, version, signal, prepareMs = 1000 } = options;
  const pressmark = await openServer({ ...options, live: true });
  let tracing: Tracing | undefined;
  try {
    const caller = { id: "local", owner: true };
    pressmark.register.served = { version };
    const features = createFeatures({ pressmark, tools: options.tools });
    const prepared = features.prepare(caller);
    const { settings, runtime, shared } = pressmark;
    tracing = await startTracing({ settings, runtime, env: options.env }, version, shared?.instance);
    const protocol = createServerProtocol(pressmark, features, { version, tracing });
    // Choosing from a whole list takes longer than a host takes to ask for the instructions, which it does once.
    if (pressmark.mounts.some(({ source }) => source.isRanked))
      await isDoneWithin(prepared, prepareMs, pressmark.runtime.wait, signal);
    await serveStdio(protocol, { input, output: out, caller, signal });
    features.close();
    await protocol.close();
  } finally {
    await tracing?.close();
    await pressmark.close();
  }
}
