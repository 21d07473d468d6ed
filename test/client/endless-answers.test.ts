/** Servers that send more than anyone can hold. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { connect } from "../../src/client/connect.ts";
import type { Call } from "../../src/resources.ts";
import { refusal } from "../../src/testing/refusal.ts";

const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };
const mebibyte = 1024 * 1024;
const piece = Buffer.alloc(mebibyte, "a");

/** What it says to everything but the greeting begins as an answer, and does not end. */
async function openEndless(mimeType: string, begin: (id: unknown) => string) {
  const sent = { times: 0, mebibytes: 0 };
  async function flood(response: ServerResponse): Promise<void> {
    while (!response.destroyed && sent.mebibytes < 1024) {
      sent.mebibytes += 1;
      await new Promise((resolve) => response.write(piece, resolve));
    }
    response.end();
  }
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end();
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method } = JSON.parse(body) as { id?: unknown; method: string };
    if (id === undefined) return void response.writeHead(202).end();
    if (method === "initialize") {
      const serverInfo = { name: "endless", version: "1" };
      const result = { protocolVersion: "2025-11-25", capabilities: { resources: {} }, serverInfo };
      response.writeHead(200, { "Content-Type": "application/json" });
      return void response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
    }
    sent.times += 1;
    response.writeHead(200, { "Content-Type": mimeType });
    response.write(begin(id));
    await flood(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const pressmark = await connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, { era: "legacy" });
  onTestFinished(async () => {
    await pressmark.close();
    server.closeAllConnections();
    server.close();
  });
  return { pressmark, sent };
}

const start = (id: unknown) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"contents":[{"uri":"x://a","text":"`;

it.each([
  ["one", "application/json", start],
  ["an event, with an id to take it up again", "text/event-stream", (id: unknown) => `id: 1\ndata: ${start(id)}`],
] as const)("an answer without an end (%s) is hung up on, and not asked for again", async (_, mimeType, begin) => {
  const { pressmark, sent } = await openEndless(mimeType, begin);
  await refusal(pressmark.read("x://a", call), ["too-large"], "x://a");
  expect(sent.times).toBe(1);
  expect(sent.mebibytes).toBeLessThan(100);
});
