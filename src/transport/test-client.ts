/** A plain HTTP client for tests: it sends exactly what it is given, and returns everything that it receives. */
import { once } from "node:events";
import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import { Agent, request as httpRequest } from "node:http";
import type { Socket } from "node:net";
import { connect } from "node:net";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  json(): unknown;
}

export interface SentEvent {
  readonly id?: string;
  readonly event?: string;
  readonly retry?: string;
  readonly data?: string;
}

export interface EventReader {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The next event, without comments; undefined at the end of the stream. */
  next(): Promise<SentEvent | undefined>;
  /** The next comment. */
  comment(): Promise<void>;
  /** All events until the stream ends. */
  rest(): Promise<SentEvent[]>;
  /** Stops reading. */
  pause(): void;
  resume(): void;
  hangUp(): void;
}

export interface HttpRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: OutgoingHttpHeaders;
  /** Sent as JSON unless it is bytes or a string. */
  readonly body?: unknown;
}

export interface WireClient {
  ask(ask: HttpRequest): Promise<HttpAnswer>;
  listen(ask: HttpRequest): Promise<EventReader>;
  /** Starts a session of this revision and returns its id. */
  initialize(revision?: string, headers?: OutgoingHttpHeaders): Promise<string>;
  /** A socket that sends this text unchanged. */
  raw(text: string): Promise<Socket>;
  close(): void;
}

export const modernHeaders = { "MCP-Protocol-Version": "2026-07-28" };

export function createWireClient(port: number, host = "127.0.0.1"): WireClient {
  const agent = new Agent({ keepAlive: true });

  async function send({ method = "POST", path = "/mcp", headers = {}, body }: HttpRequest): Promise<IncomingMessage> {
    const bytes =
      body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
    const type = method === "POST" ? { "Content-Type": "application/json" } : { Accept: "text/event-stream" };
    const sent = httpRequest({ agent, host, port, method, path, headers: { ...type, ...headers } });
    sent.end(bytes);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    return response;
  }

  async function ask(request: HttpRequest): Promise<HttpAnswer> {
    const response = await send(request);
    const text = Buffer.concat(await response.toArray()).toString();
    return {
      status: response.statusCode ?? 0,
      headers: response.headers,
      text,
      json: () => JSON.parse(text) as unknown,
    };
  }

  return {
    ask,
    async listen(request) {
      return readEvents(await send(request));
    },
    async initialize(revision = "2025-11-25", headers = {}) {
      const body = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: revision } };
      const id = (await ask({ body, headers })).headers["mcp-session-id"];
      if (typeof id !== "string") throw new Error("initialize gave no session id");
      return id;
    },
    async raw(text) {
      const socket = connect(port, host);
      await once(socket, "connect");
      socket.on("error", () => {});
      socket.write(text);
      return socket;
    },
    close: () => agent.destroy(),
  };
}

function readEvents(response: IncomingMessage): EventReader {
  const blocks = readBlocks(response);
  const events: SentEvent[] = [];
  let comments = 0;

  async function advance(): Promise<boolean> {
    const { value, done } = await blocks.next();
    if (done) return false;
    if (value.startsWith(":")) comments++;
    else events.push(parseEvent(value));
    return true;
  }
  async function next(): Promise<SentEvent | undefined> {
    while (events.length === 0) if (!(await advance())) return undefined;
    return events.shift();
  }

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    next,
    async comment() {
      while (comments === 0) if (!(await advance())) throw new Error("the stream ended without a comment");
      comments--;
    },
    async rest() {
      const all: SentEvent[] = [];
      for (let event = await next(); event; event = await next()) all.push(event);
      return all;
    },
    pause: () => void response.socket.pause(),
    resume: () => void response.socket.resume(),
    hangUp: () => response.destroy(),
  };
}

async function* readBlocks(response: IncomingMessage): AsyncGenerator<string, undefined> {
  let text = "";
  try {
    for await (const chunk of response.setEncoding("utf8")) {
      text += chunk as string;
      for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
        yield text.slice(0, end);
        text = text.slice(end + 2);
      }
    }
  } catch {
    // Disconnected: everything before was returned.
  }
  return undefined;
}

function parseEvent(block: string): SentEvent {
  const fields: Record<string, string> = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, "");
  }
  return fields;
}
