/** A server with a fake edge and a client for it, both gone when the test is over. */
import { onTestFinished } from "vitest";
import type { FakeEdge, Script } from "./fake-edge.ts";
import { createFakeEdge } from "./fake-edge.ts";
import type { Listening, ListenOptions } from "./listen.ts";
import { listen } from "./listen.ts";
import type { WireClient } from "./wire-client.ts";
import { createWireClient } from "./wire-client.ts";

export interface Served extends WireClient {
  readonly edge: FakeEdge;
  readonly listening: Listening;
}

export async function serveFake(script: Script = {}, options: Partial<ListenOptions> = {}): Promise<Served> {
  const edge = createFakeEdge(script);
  const listening = await listen(edge, { port: 0, graceMs: 0, ...options });
  const client = createWireClient(listening.port);
  onTestFinished(async () => {
    client.close();
    await listening.close();
  });
  return { ...client, edge, listening };
}
