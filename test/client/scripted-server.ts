/** A server of the older era that says what a test wants it to, right or wrong. */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Script = Readonly<Record<string, (params: Params) => Said>>;

type Params = Readonly<Record<string, unknown>>;

export type Said =
  | { readonly result: unknown }
  /** The result as it is written. */
  | { readonly json: string }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  /** An event stream that ends before the answer. */
  | "broken off"
  /** The answer on an event stream. */
  | { readonly streamed: unknown }
  | { readonly status: number; readonly body?: object };

export interface ScriptedServer extends AsyncDisposable {
  readonly url: string;
  /** The methods that were asked, in order. */
  readonly asked: readonly string[];
}

/** `streamStatus` answers a request for a stream. */
export async function openScripted(
  script: Script,
  capabilities: object = { resources: {} },
  streamStatus = 405,
): Promise<ScriptedServer> {
  const asked: string[] = [];
  const server = createServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(streamStatus).end();
    let body = "";
    for await (const chunk of request) body += String(chunk);
    const { id, method, params = {} } = JSON.parse(body) as { id?: unknown; method: string; params?: Params };
    asked.push(method);
    if (id === undefined) return void response.writeHead(202).end();
    answer(response, id, method === "initialize" ? greet(capabilities) : (script[method]?.(params) ?? missing));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const missing: Said = { error: { code: -32601, message: "Method not found" } };

function greet(capabilities: object): Said {
  return { result: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "scripted", version: "1" } } };
}

function answer(response: ServerResponse, id: unknown, said: Said): void {
  if (typeof said === "object" && "status" in said)
    return void response.writeHead(said.status).end(said.body && JSON.stringify({ jsonrpc: "2.0", id, ...said.body }));
  if (typeof said === "object" && !("streamed" in said)) {
    response.writeHead(200, { "Content-Type": "application/json" });
    if ("json" in said) return void response.end(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${said.json}}`);
    return void response.end(JSON.stringify({ jsonrpc: "2.0", id, ...said }));
  }
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  if (said === "broken off") return void response.end(": nothing\n\n");
  response.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: said.streamed })}\n\n`);
}
