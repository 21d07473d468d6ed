/** A server with a fake protocol and a client for it; both end with the test. */
import { onTestFinished } from "vitest";
import type { FakeProtocol, Script } from "./test-protocol.ts";
import { createFakeProtocol } from "./test-protocol.ts";
import type { Listening, ListenOptions } from "./listen.ts";
import { listen } from "./listen.ts";
import type { WireClient } from "./test-client.ts";
import { createWireClient } from "./test-client.ts";

export interface FakeServer extends WireClient {
  readonly edge: FakeProtocol;
  readonly listening: Listening;
}

export async function serveFake(script: Script = {}, options: Partial<ListenOptions> = {}): Promise<FakeServer> {
  const edge = createFakeProtocol(script);
  const listening = await listen(edge, { port: 0, graceMs: 0, ...options });
  const client = createWireClient(listening.port);
  onTestFinished(async () => {
    client.close();
    await listening.close();
  });
  return { ...client, edge, listening };
}
