/** The official SDK, version 2: both eras over HTTP and stdio. */
import { watch } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createMcpHandler, McpServer, ResourceTemplate, type McpHttpHandler } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { readPage, readText } from "./folder.ts";

const [transport, root = "", pageSize = "1000"] = process.argv.slice(2);

function build(): McpServer {
  const mcp = new McpServer(
    { name: "sdk-v2", version: "1.0.0" },
    { capabilities: { resources: { subscribe: true, listChanged: true } } },
  );
  mcp.registerResource("file", new ResourceTemplate("file:///{+path}", { list: undefined }), {}, async (uri) => ({
    contents: [{ uri: uri.href, mimeType: "text/plain", text: await readText(uri.href) }],
  }));
  // McpServer gives its whole list at once: pages need the handler below it.
  mcp.server.setRequestHandler("resources/list", async ({ params }) => ({
    ...(await readPage(root, params?.cursor, Number(pageSize))),
  }));
  return mcp;
}

/** The same service as the SDK's own Node adapter, a package apart. */
async function pass(handler: McpHttpHandler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => gone.abort());
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
  let body = "";
  request.setEncoding("utf8");
  for await (const chunk of request) body += chunk as string;
  const answer = await handler.fetch(
    new Request(`http://127.0.0.1${request.url}`, {
      method: request.method ?? "POST",
      headers,
      signal: gone.signal,
      ...(body !== "" && { body }),
    }),
  );
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  if (answer.headers.get("content-type")?.startsWith("text/event-stream") && answer.body) {
    try {
      for await (const chunk of answer.body) response.write(chunk);
    } catch (error) {
      if (!gone.signal.aborted) throw error;
    }
    response.end();
  } else {
    response.end(await answer.text());
  }
}

if (transport === "stdio") {
  serveStdio(build);
} else {
  const handler = createMcpHandler(build, { maxSubscriptions: 20_000 });
  watch(root, (_event, name) => {
    if (name === "watched.txt") handler.notify.resourceUpdated(`file://${root}/watched.txt`);
  });
  const server = createServer((request, response) => void pass(handler, request, response));
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp`);
  });
}
