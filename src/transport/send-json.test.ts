import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { sendJson } from "./send-json.ts";
import { createWireClient } from "./test-client.ts";

async function serve(respond: (response: ServerResponse) => void) {
  const server = createServer((_request, response) => respond(response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = createWireClient((server.address() as AddressInfo).port);
  onTestFinished(() => {
    client.close();
    server.closeAllConnections();
    server.close();
  });
  return client;
}

it("a large answer that is not being read is given up after a while", async () => {
  const answered = Promise.withResolvers<ServerResponse>();
  const { raw } = await serve((response) => {
    sendJson(response, 200, ['"', "x".repeat(32 * 1024 * 1024), '"']);
    answered.resolve(response);
  });
  const socket = await raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  socket.pause();
  const response = await answered.promise;
  expect(response.writableLength).toBeGreaterThan(0);
  expect(response.socket?.timeout).toBe(60_000);
  const closed = once(response, "close");
  response.socket?.emit("timeout");
  await closed;
  expect(response.destroyed).toBe(true);
});

it("an answer that is read leaves its connection open for the next question", async () => {
  const sockets = new Set<unknown>();
  const { ask } = await serve((response) => {
    sockets.add(response.socket);
    sendJson(response, 200, ['"', "x".repeat(200_000), '"']);
  });
  for (let count = 0; count < 3; count++) expect((await ask({ body: {} })).text).toHaveLength(200_002);
  expect(sockets.size).toBe(1);
});

it("only the first answer counts", async () => {
  const { ask } = await serve((response) => {
    sendJson(response, 202);
    sendJson(response, 500, ["{}"]);
  });
  const { status, text } = await ask({ body: {} });
  expect([status, text]).toEqual([202, ""]);
});
