/** A server with a fake protocol and a client for it; both end with the test. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createServer } from "node:http";
import { it, onTestFinished } from "vitest";
import type { Protocol } from "../protocol/protocol.ts";
import type { FakeProtocol, Script } from "./test-protocol.ts";
import { createFakeProtocol } from "./test-protocol.ts";
import { createFetchHandler, type FetchHandlerOptions } from "./fetch-handler.ts";
import type { Listening, ListenOptions } from "./listen.ts";
import { listen } from "./listen.ts";
import type { WireClient } from "./test-client.ts";
import { createWireClient } from "./test-client.ts";

export interface FakeServer extends WireClient {
  readonly edge: FakeProtocol;
  readonly listening: Listening;
}

/** The handler under test. `test-fetch.ts` switches it for the tests of one file. */
export const underTest = { isFetch: false };

/** For what a fetch handler cannot see: connections, and buffers of the system. */
export const itOnNode = (name: string, test: () => Promise<void>): void => it.skipIf(underTest.isFetch)(name, test);

export async function serveFake(script: Script = {}, given: Partial<ListenOptions> = {}): Promise<FakeServer> {
  const edge = createFakeProtocol(script);
  const options = { log: () => {}, ...given };
  const listening = underTest.isFetch
    ? await listenByFetch(edge, options)
    : await listen(edge, { port: 0, graceMs: 0, ...options });
  const client = createWireClient(listening.port);
  onTestFinished(async () => {
    client.close();
    await listening.close();
  });
  return { ...client, edge, listening };
}

/** The fetch handler behind the adapter that Hono uses on Node. */
export async function listenByFetch(edge: Protocol, options: Partial<ListenOptions>): Promise<Listening> {
  const { identify, graceMs = 0 } = options;
  const http = createFetchHandler(edge, {
    ...options,
    identify: identify && ((request) => identify({ headers: Object.fromEntries(request.headers) } as never)),
  } as FetchHandlerOptions);
  const server = createServer(
    getRequestListener((request, { incoming }) =>
      http.fetch(request, { remoteAddress: incoming.socket.remoteAddress }),
    ),
  ).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    server,
    http: {
      close: http.close,
      handle: notOfFetch,
      handleExpectation: notOfFetch,
      drain: notOfFetch,
      get counts() {
        return http.counts;
      },
    },
    renew: notOfFetch,
    drain: notOfFetch,
    async close() {
      await http.close(graceMs);
      server.closeAllConnections();
      server.close();
    },
  };
}

function notOfFetch(): never {
  throw new Error("a fetch handler has no such method");
}
