/** Servers that others built, each with a greeting, a template and, where it can, changes. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createNetServer } from "node:net";
import { join } from "node:path";
import { createMcpHandler, McpServer as McpServer2, ResourceTemplate as Template2 } from "@modelcontextprotocol/server";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { SubscribeRequestSchema, UnsubscribeRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { FastMCP } from "fastmcp";

export interface Peer extends AsyncDisposable {
  readonly url: string;
  /** Changes `greeting://world`, and says so. */
  change?(text: string): void;
}

const planets = ["mars", "mercury", "venus"];
const startingWith = (value: string) => planets.filter((planet) => planet.startsWith(value));

/** The official SDK, version 1: sessions, subscriptions that its user keeps. */
export async function openSdkV1(): Promise<Peer> {
  let text = "hello";
  const { url, sessions, ...rest } = await serveSessions(() => {
    const mcp = new McpServer(
      { name: "sdk-v1", version: "1.0.0" },
      { capabilities: { resources: { subscribe: true, listChanged: true } }, instructions: "Greet." },
    );
    mcp.registerResource("world", "greeting://world", { mimeType: "text/plain" }, (uri) => ({
      contents: [{ uri: uri.href, text }],
    }));
    const template = new ResourceTemplate("greeting://planets/{planet}", {
      list: undefined,
      complete: { planet: startingWith },
    });
    mcp.registerResource("planet", template, {}, (uri, { planet }) => ({
      contents: [{ uri: uri.href, text: `hello ${String(planet)}` }],
    }));
    mcp.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
    mcp.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
    return mcp;
  });
  return {
    ...rest,
    url,
    change(to) {
      text = to;
      for (const mcp of sessions()) void mcp.server.sendResourceUpdated({ uri: "greeting://world" });
    },
  };
}

export interface Sessions extends AsyncDisposable {
  readonly url: string;
  /** The server of each client. */
  sessions(): readonly McpServer[];
}

/** What is built with the SDK, version 1, once for each client. */
export async function serveSessions(build: () => McpServer): Promise<Sessions> {
  const sessions = new Map<string, { readonly transport: StreamableHTTPServerTransport; readonly mcp: McpServer }>();
  const server = createServer((request, response) => void serve(request, response));
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const id = request.headers["mcp-session-id"];
    const known = sessions.get(String(id));
    if (known) return known.transport.handleRequest(request, response);
    if (id !== undefined) return void response.writeHead(404).end();
    const mcp = build();
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (fresh) => void sessions.set(fresh, { transport, mcp }),
    });
    // The SDK's class and its own interface disagree under exactOptionalPropertyTypes.
    await mcp.connect(transport as Transport);
    return transport.handleRequest(request, response);
  }
  return {
    url: await listening(server),
    sessions: () => Array.from(sessions.values(), ({ mcp }) => mcp),
    [Symbol.asyncDispose]: () => closed(server),
  };
}

/** The official SDK, version 2: both eras; in the older without sessions. */
export async function openSdkV2(): Promise<Peer> {
  let text = "hello";
  const handler = createMcpHandler(() => {
    const mcp = new McpServer2(
      { name: "sdk-v2", version: "1.0.0" },
      { capabilities: { resources: { subscribe: true, listChanged: true } }, instructions: "Greet." },
    );
    mcp.registerResource("world", "greeting://world", { mimeType: "text/plain" }, async (uri) => ({
      contents: [{ uri: uri.href, text }],
    }));
    const template = new Template2("greeting://planets/{planet}", {
      list: undefined,
      complete: { planet: startingWith },
    });
    mcp.registerResource("planet", template, {}, async (uri, { planet }) => ({
      contents: [{ uri: uri.href, text: `hello ${String(planet)}` }],
    }));
    return mcp;
  });
  return {
    ...(await serveFetch(handler.fetch)),
    change(to) {
      text = to;
      handler.notify.resourceUpdated("greeting://world");
    },
  };
}

/** A handler of web requests over HTTP. */
export async function serveFetch(handle: (request: Request) => Promise<Response>): Promise<Peer> {
  const server = createServer((request, response) => void pass(request, response).catch(() => response.destroy()));
  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
    let body = "";
    request.setEncoding("utf8");
    for await (const chunk of request) body += chunk as string;
    const answer = await handle(
      new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? "POST",
        headers,
        signal: gone.signal,
        ...(body !== "" && { body }),
      }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.flushHeaders();
    for await (const chunk of answer.body ?? []) response.write(chunk);
    response.end();
  }
  return { url: await listening(server), [Symbol.asyncDispose]: () => closed(server) };
}

/** fastmcp: sessions, and subscriptions that it keeps itself. */
export async function openFastmcp(): Promise<Peer> {
  let text = "hello";
  const quiet = { debug() {}, error() {}, info() {}, log() {}, warn() {} };
  const mcp = new FastMCP({ name: "fastmcp", version: "1.0.0", logger: quiet, instructions: "Greet." });
  mcp.addResource({
    uri: "greeting://world",
    name: "world",
    mimeType: "text/plain",
    load: async () => ({ text }),
  });
  mcp.addResourceTemplate({
    uriTemplate: "greeting://planets/{planet}",
    name: "planet",
    arguments: [{ name: "planet", complete: async (value) => ({ values: startingWith(value) }) }],
    load: async ({ planet }) => ({ text: `hello ${planet}` }),
  });
  const port = await freePort();
  await mcp.start({ transportType: "httpStream", httpStream: { port, host: "127.0.0.1" } });
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    change(to) {
      text = to;
      void mcp.sendResourceUpdated("greeting://world");
    },
    [Symbol.asyncDispose]: () => mcp.stop(),
  };
}

/** The reference server, as a program. */
export const everything = {
  command: process.execPath,
  args: [
    join(import.meta.dirname, "../../node_modules/@modelcontextprotocol/server-everything/dist/index.js"),
    "stdio",
  ],
};

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
}

export async function freePort(): Promise<number> {
  const probe = createNetServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}
