/** The yardstick: parses the request, reads the file or the folder, serialises the answer, each time; no protocol layer. */
import { watch } from "node:fs";
import type { ServerResponse } from "node:http";
import { readPage, readText } from "./folder.ts";

const [transport, root = "", pageSize = "1000"] = process.argv.slice(2);

interface Question {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly uri?: string; readonly cursor?: string };
}

async function answer({ id, method, params }: Question): Promise<string> {
  let result: unknown = {};
  if (method === "resources/read") {
    const uri = params?.uri ?? "";
    result = { contents: [{ uri, mimeType: "text/plain", text: await readText(uri) }] };
  } else if (method === "resources/list") {
    result = await readPage(root, params?.cursor, Number(pageSize));
  }
  return JSON.stringify({ jsonrpc: "2.0", id, result });
}

function serveHttp(): void {
  // An import statement would ask the module for every export, and one of them loads a whole HTTP client.
  const { createServer } = process.getBuiltinModule("node:http");
  const listens = new Map<ServerResponse, number>();
  const uri = `file://${root}/watched.txt`;

  function listen(id: number, response: ServerResponse): void {
    if (listens.size === 0) {
      watch(`${root}/watched.txt`, () => {
        for (const [stream, told] of listens) {
          stream.write(
            `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri, listen: told } })}\n\n`,
          );
        }
      }).unref();
    }
    listens.set(response, id);
    response.on("close", () => listens.delete(response));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(
      `data: ${JSON.stringify({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params: { listen: id } })}\n\n`,
    );
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", async () => {
      const question = JSON.parse(Buffer.concat(chunks).toString()) as Question;
      if (question.id === undefined) {
        response.writeHead(202).end();
      } else if (question.method === "subscriptions/listen") {
        listen(question.id, response);
      } else {
        const body = await answer(question);
        response.writeHead(200, { "content-type": "application/json" });
        response.end(body);
      }
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/mcp`);
  });
}

function serveStdio(): void {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", async (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    for (const line of lines) {
      const question = JSON.parse(line) as Question;
      if (question.id !== undefined) void answer(question).then((text) => process.stdout.write(`${text}\n`));
    }
  });
}

if (transport === "stdio") serveStdio();
else serveHttp();
