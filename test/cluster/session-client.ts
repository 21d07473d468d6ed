/** A client of the revision 2025-11-25: a session with subscriptions, whose notices come on an event stream. */
import { eachEvent, type McpTarget, type Notice } from "../../examples/cluster/mcp.ts";

const revision = "2025-11-25";

export interface SessionAnswer {
  readonly status: number;
  readonly body: string;
}

/** The id of a new session. */
export async function openSession(target: McpTarget, signal: AbortSignal): Promise<string> {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "cluster", version: "1.0.0" } };
  const response = await post(target, undefined, { id: 1, method: "initialize", params }, signal);
  const id = response.headers.get("mcp-session-id");
  await response.text();
  if (!response.ok || id === null) throw new Error(`a session was refused: ${response.status}`);
  const opened = await post(target, id, { method: "notifications/initialized" }, signal);
  await opened.text();
  return id;
}

export async function askInSession(
  target: McpTarget,
  session: string,
  method: string,
  params: object,
  signal: AbortSignal,
): Promise<SessionAnswer> {
  const response = await post(target, session, { id: 2, method, params }, signal);
  return { status: response.status, body: await response.text() };
}

/** Resolves when the stream is open. `ended` is called once, however it ends. */
export async function openStream(
  target: McpTarget,
  session: string,
  handlers: { notice(notice: Notice): void; ended(): void },
  signal: AbortSignal,
): Promise<void> {
  const response = await fetch(target.url, { headers: headersOf(target, session), signal });
  if (!response.ok || !response.body) throw new Error(`a stream was refused: ${response.status}`);
  void eachEvent(response.body, (message) => handlers.notice(message as Notice)).finally(() => handlers.ended());
}

function post(target: McpTarget, session: string | undefined, message: object, signal: AbortSignal): Promise<Response> {
  return fetch(target.url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headersOf(target, session) },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    signal,
  });
}

function headersOf({ token }: McpTarget, session: string | undefined): Record<string, string> {
  return {
    Authorization: `Bearer ${token}`,
    Accept: session === undefined ? "application/json, text/event-stream" : "text/event-stream, application/json",
    ...(session !== undefined && { "Mcp-Session-Id": session, "MCP-Protocol-Version": revision }),
  };
}
