/** The official SDK, version 1: sessions over HTTP, and stdio. */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ListResourcesRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { readPage, readText } from "./folder.ts";

const [transport, root = "", pageSize = "1000"] = process.argv.slice(2);

function build(): McpServer {
  const mcp = new McpServer({ name: "sdk-v1", version: "1.0.0" }, { capabilities: { resources: {} } });
  mcp.registerResource("file", new ResourceTemplate("file:///{+path}", { list: undefined }), {}, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: await readText(uri.href) }],
  }));
  // McpServer gives its whole list at once: pages need the handler below it.
  mcp.server.setRequestHandler(ListResourcesRequestSchema, async ({ params }) => ({
    ...(await readPage(root, params?.cursor, Number(pageSize))),
  }));
  return mcp;
}

const sessions = new Map<string, StreamableHTTPServerTransport>();

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const known = sessions.get(String(request.headers["mcp-session-id"]));
  if (known) return known.handleRequest(request, response);
  const fresh: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    // The quicker of its two ways to answer.
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, fresh),
  });
  // The SDK's class and its own interface disagree under exactOptionalPropertyTypes.
  await build().connect(fresh as Transport);
  return fresh.handleRequest(request, response);
}

if (transport === "stdio") {
  await build().connect(new StdioServerTransport());
} else {
  const server = createServer((request, response) => void serve(request, response));
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp`);
  });
}
