import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve, type Serving, stdioOf } from "./command.ts";
import { createFolder, type Folder } from "./folder.ts";
import { overHttp, overSse, overStdio, visitV1 } from "./sdk-v1.ts";
import { describeVisit } from "./visits.ts";

const revision = "2025-11-25";
const notFoundCode = -32002;

let folder: Folder;
let serving: Serving;

beforeAll(async () => {
  folder = await createFolder();
  serving = await serve(folder);
});
afterAll(async () => {
  await serving[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const stdio = () => visitV1(overStdio(stdioOf(folder)));
const http = () => visitV1(overHttp(serving.url));
const sse = () => visitV1(overSse(serving.sseUrl));
describeVisit({ name: "stdio", revision, notFoundCode, open: stdio }, () => folder);
describeVisit({ name: "HTTP", revision, notFoundCode, open: http }, () => folder);
describeVisit({ name: "HTTP with SSE", revision, notFoundCode, open: sse }, () => folder);

describe("a server over stdio", () => {
  it("ends when its client hangs up", async () => {
    const transport = new StdioClientTransport({ ...stdioOf(folder), stderr: "inherit" });
    const visitor = await visitV1(transport);
    const { pid } = transport;
    expect(pid).toBeTypeOf("number");
    await visitor[Symbol.asyncDispose]();
    expect(() => process.kill(pid as number, 0)).toThrow("ESRCH");
  });
});

describe("a session over HTTP", () => {
  it("ends when its client says so, and is answered 404 from then on", async () => {
    const transport = new StreamableHTTPClientTransport(serving.url);
    await using visitor = await visitV1(transport);
    const { sessionId } = transport;
    expect(sessionId).toBeTypeOf("string");
    await transport.terminateSession();
    const response = await fetch(serving.url, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        "Mcp-Session-Id": sessionId as string,
        "MCP-Protocol-Version": visitor.revision as string,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
    });
    expect(response.status).toBe(404);
  });
});

describe("a server that is replaced by another on the same port", () => {
  it("does not know the sessions of the one before: they are answered 404, and initialize begins another", async () => {
    await using first = await serve(folder);
    await using before = await visitV1(overHttp(first.url));
    const uri = folder.uri("notes.txt");
    await before.watch(uri);
    await first.stop();

    await using _second = await serve(folder, first.port);
    await expect(before.read(uri)).rejects.toSatisfy(
      (error) => error instanceof StreamableHTTPError && error.code === 404,
    );

    await using after = await visitV1(overHttp(first.url));
    await after.watch(uri);
    await folder.write("notes.txt", "Buy ink.\n");
    await after.heard.next(`updated ${uri}`);
  });
});
