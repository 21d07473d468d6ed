/** One modern request, as an object and as the bytes of an HTTP request. */
import { modernHeaders } from "./test-client.ts";

export const question = { jsonrpc: "2.0", id: 7, method: "resources/list" };
export const modern = { headers: modernHeaders, body: question };
export const rawBody = JSON.stringify(question);
export const rawQuestion = [
  "POST /mcp HTTP/1.1",
  "Host: localhost",
  "Content-Type: application/json",
  "MCP-Protocol-Version: 2026-07-28",
  `Content-Length: ${rawBody.length}`,
  "",
  rawBody,
].join("\r\n");

/** The error code of a response. */
export const code = (answer: { json(): unknown }): number => (answer.json() as { error: { code: number } }).error.code;
