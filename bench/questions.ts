/** What a client says, in both eras, as bytes that are cheap to make. */

export type Era = "modern" | "legacy";

export interface Question {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const modernRevision = "2026-07-28";
const legacyRevision = "2025-11-25";
const client = { name: "bench", version: "1.0.0" };
const envelope = {
  "io.modelcontextprotocol/protocolVersion": modernRevision,
  "io.modelcontextprotocol/clientInfo": client,
  "io.modelcontextprotocol/clientCapabilities": {},
};

export const opening: Question = {
  method: "initialize",
  params: { protocolVersion: legacyRevision, capabilities: {}, clientInfo: client },
};

export const opened = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });

export function read(uri: string): Question {
  return { method: "resources/read", params: { uri } };
}

export function list(cursor?: string): Question {
  return { method: "resources/list", params: cursor === undefined ? {} : { cursor } };
}

export function callTool(name: string, args: Readonly<Record<string, unknown>>): Question {
  return { method: "tools/call", params: { name, arguments: args } };
}

export function listen(...uris: readonly string[]): Question {
  return { method: "subscriptions/listen", params: { notifications: { resourceSubscriptions: uris } } };
}

export function message(era: Era, id: number, { method, params }: Question): string {
  return JSON.stringify({
    jsonrpc: "2.0",
    id,
    method,
    params: era === "modern" ? { ...params, _meta: envelope } : params,
  });
}

export function modernHeaders({ method }: Question): Record<string, string> {
  return {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": modernRevision,
    "Mcp-Method": method,
  };
}

/** Everything before the length of the body. */
export function requestHead(
  era: Era,
  path: string,
  question: Question | undefined,
  session?: string,
  token?: string,
): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Content-Type: application/json",
    "Accept: application/json, text/event-stream",
  ];
  if (question?.method !== "initialize") {
    lines.push(`MCP-Protocol-Version: ${era === "modern" ? modernRevision : legacyRevision}`);
  }
  if (era === "modern" && question) {
    lines.push(`Mcp-Method: ${question.method}`);
    const named = question.params["uri"] ?? question.params["name"];
    if (typeof named === "string") lines.push(`Mcp-Name: ${named}`);
  }
  if (session !== undefined) lines.push(`Mcp-Session-Id: ${session}`);
  if (token !== undefined) lines.push(`Authorization: Bearer ${token}`);
  return `${lines.join("\r\n")}\r\nContent-Length: `;
}
