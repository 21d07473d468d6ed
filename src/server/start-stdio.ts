/** Serves on standard input and output, to the host that started the process. */
import type { Readable, Writable } from "node:stream";
import { serveStdio } from "../transport/stdio.ts";
import { createFeatures, createServerProtocol } from "./features.ts";
import { type OpenServerOptions, openServer } from "./open-server.ts";

interface StdioServerOptions extends Omit<OpenServerOptions, "live"> {
  readonly input: Readable;
  readonly out: Writable;
  readonly version: string;
  /** False offers no tools, regardless of the config. */
  readonly tools?: boolean;
  readonly signal: AbortSignal;
}

/** Resolves when the host has disconnected or the signal was aborted, and everything is closed. */
export async function startStdio(options: StdioServerOptions): Promise<void> {
  const { input, out, version, signal } = options;
  const pressmark = await openServer({ ...options, live: true });
  try {
    const caller = { id: "local", owner: true };
    pressmark.register.served = { version };
    const features = createFeatures({ pressmark, tools: options.tools });
    features.prepare(caller);
    const protocol = createServerProtocol(pressmark, features, { version });
    await serveStdio(protocol, { input, output: out, caller, signal });
    features.close();
    await protocol.close();
  } finally {
    await pressmark.close();
  }
}
