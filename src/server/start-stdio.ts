/** The house on standard input and output, to the host that started the process. */
import type { Readable, Writable } from "node:stream";
import { createEdge } from "../protocol/create-edge.ts";
import { serveStdio } from "../transport/stdio.ts";
import { instructions } from "./instructions.ts";
import { type HouseOptions, openHouse } from "./open-house.ts";

export interface StdioServerOptions extends Omit<HouseOptions, "live"> {
  readonly input: Readable;
  readonly out: Writable;
  readonly version: string;
  readonly signal: AbortSignal;
}

/** Resolves when the host has hung up or the signal ended, and everything is closed. */
export async function startStdio(options: StdioServerOptions): Promise<void> {
  const { input, out, version, signal } = options;
  const house = await openHouse({ ...options, live: true });
  try {
    const edge = createEdge({
      resources: house.resources,
      server: { name: "pressmark", title: "Pressmark", version },
      instructions: () => instructions(house.mounts),
      log: house.tools.log,
    });
    await serveStdio(edge, { input, output: out, signal });
    await edge.close();
  } finally {
    await house.close();
  }
}
