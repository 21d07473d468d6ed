/** The house on standard input and output, to the host that started the process. */
import type { Readable, Writable } from "node:stream";
import { createEdge } from "../protocol/create-edge.ts";
import { serveStdio } from "../transport/stdio.ts";
import { createOffering } from "./offering.ts";
import { type HouseOptions, openHouse } from "./open-house.ts";

export interface StdioServerOptions extends Omit<HouseOptions, "live"> {
  readonly input: Readable;
  readonly out: Writable;
  readonly version: string;
  /** False offers no tools, whatever the config says. */
  readonly tools?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** Resolves when the host has hung up or the signal ended, and everything is closed. */
export async function startStdio(options: StdioServerOptions): Promise<void> {
  const { input, out, version, signal } = options;
  const house = await openHouse({ ...options, live: true });
  try {
    const caller = { id: "local", owner: true };
    house.register.served = { version };
    const offering = createOffering({ house, tools: options.tools });
    offering.prepare(caller);
    const edge = createEdge({
      resources: house.resources,
      server: { ...offering.server, version },
      instructions: offering.instructions,
      tools: offering.tools,
      ...(offering.actions && { moreTools: offering.actions }),
      prompts: offering.prompts,
      witness: house.register,
      log: house.tools.log,
    });
    await serveStdio(edge, { input, output: out, caller, signal });
    offering.close();
    await edge.close();
  } finally {
    await house.close();
  }
}
