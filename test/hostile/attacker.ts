/** What an attacker has: sockets that say anything, and a plain caller beside them who must notice nothing. */
import { once } from "node:events";
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { expect } from "vitest";
import { open } from "./test-server.ts";

export const modernRevision = "2026-07-28";
export const legacyRevisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05", "2024-10-07"] as const;

export interface Target {
  readonly port: number;
  readonly base: string;
  readonly folder: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface Rpc {
  readonly jsonrpc: string;
  readonly id: string | number | null;
  readonly result?: Record<string, unknown>;
  readonly error?: RpcError;
}

const agent = new Agent({ keepAlive: true, maxSockets: 64 });

export async function send(
  { port }: Pick<Target, "port">,
  asked: {
    readonly method?: string;
    readonly path?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array;
  },
): Promise<Answer> {
  const { method = "POST", path = "/mcp", headers, body } = asked;
  const type = method === "POST" ? { "Content-Type": "application/json" } : {};
  const sent = httpRequest({ agent, host: "127.0.0.1", port, method, path, headers: { ...type, ...headers } });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const text = Buffer.concat(await response.toArray()).toString();
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

const meta = {
  "io.modelcontextprotocol/protocolVersion": modernRevision,
  "io.modelcontextprotocol/clientCapabilities": {},
};

export function modernBody(method: string, params: unknown, id: unknown = 1): Record<string, unknown> {
  const own = typeof params === "object" && params !== null && !Array.isArray(params) ? params : {};
  return { jsonrpc: "2.0", id, method, params: { ...own, _meta: meta } };
}

/** A header cannot say everything; what it cannot goes in base64. */
export function headerOf(value: string): string {
  return /^[!-~]([ -~]*[!-~])?$/.test(value) && !value.startsWith("=?")
    ? value
    : `=?base64?${Buffer.from(value).toString("base64")}?=`;
}

export function modernHeaders(method: string, name?: unknown): Record<string, string> {
  return {
    "MCP-Protocol-Version": modernRevision,
    "Mcp-Method": headerOf(method),
    ...(typeof name === "string" && name.length < 4096 && { "Mcp-Name": headerOf(name) }),
  };
}

/** One modern question. */
export async function ask(
  target: Pick<Target, "port">,
  method: string,
  params: Record<string, unknown> = {},
): Promise<Rpc> {
  const headers = modernHeaders(method, params["uri"] ?? params["name"]);
  const { text } = await send(target, { headers, body: JSON.stringify(modernBody(method, params)) });
  return JSON.parse(text) as Rpc;
}

export async function initialize(target: Pick<Target, "port">, revision: string = legacyRevisions[0]): Promise<string> {
  const params = { protocolVersion: revision, capabilities: {}, clientInfo: { name: "attacker", version: "0" } };
  const { headers } = await send(target, {
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params }),
  });
  const id = headers["mcp-session-id"];
  if (typeof id !== "string") throw new Error("no session was opened");
  return id;
}

/** One question in a session. */
export async function askIn(
  target: Pick<Target, "port">,
  session: string,
  method: string,
  params: unknown = {},
  id: unknown = 1,
): Promise<Rpc> {
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
  const { text } = await send(target, { headers: { "Mcp-Session-Id": session }, body });
  return JSON.parse(text) as Rpc;
}

/** Another caller reads what everyone may read, and gets it. */
export async function expectServed(target: Target): Promise<void> {
  const { result } = await ask(target, "resources/read", { uri: target.base + open.name });
  expect(result?.["contents"]).toMatchObject([{ text: open.text }]);
}

/** No answer shows where the server stands, how it is built, or how it failed. */
export function expectDiscreet(text: string, { folder }: Pick<Target, "folder">, sent = ""): void {
  if (!sent.includes(folder)) expect(text).not.toContain(folder);
  expect(text).not.toMatch(
    /\bat [^\s"]+ \(|node:internal|node_modules\/|\.ts:\d|\.js:\d|\b[A-Z]\w*Error\b|ENOENT|EACCES|ELOOP/,
  );
}

/** A single well-formed answer to a question: a result or an error, and never both. */
export function expectRpc(text: string): Rpc {
  const rpc = JSON.parse(text) as Rpc;
  expect(rpc.jsonrpc).toBe("2.0");
  expect(Object.keys(rpc).sort()).toEqual(rpc.error ? ["error", "id", "jsonrpc"] : ["id", "jsonrpc", "result"]);
  if (rpc.error) {
    expect(Number.isInteger(rpc.error.code)).toBe(true);
    expect(typeof rpc.error.message).toBe("string");
    expect(rpc.error.message.length).toBeLessThan(1024);
  }
  return rpc;
}

export interface Line {
  readonly socket: Socket;
  write(bytes: string | Uint8Array): void;
  /** Everything that came until the other side hung up. */
  readonly over: Promise<string>;
  /** Resolves with all that came so far as soon as it holds this, or is as it says. */
  until(sign: string | RegExp | ((text: string) => boolean)): Promise<string>;
  hangUp(): void;
}

/** A socket that says what it is told, as it is. */
export async function dial({ port }: Pick<Target, "port">, first?: string | Uint8Array): Promise<Line> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  const waiting = new Set<() => void>();
  const over = Promise.withResolvers<string>();
  let text = "";
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    for (const look of waiting) look();
  });
  socket.on("end", () => socket.end());
  socket.on("close", () => {
    over.resolve(text);
    for (const look of waiting) look();
  });
  await once(socket, "connect");
  if (first !== undefined) socket.write(first);
  return {
    socket,
    write: (bytes) => void socket.write(bytes),
    over: over.promise,
    until: (sign) =>
      new Promise((resolve, reject) => {
        const look = (): void => {
          const found =
            typeof sign === "string" ? text.includes(sign) : sign instanceof RegExp ? sign.test(text) : sign(text);
          if (!found && !socket.closed) return;
          waiting.delete(look);
          if (found) resolve(text);
          else reject(new Error(`hung up before ${String(sign)}, after ${JSON.stringify(text.slice(0, 500))}`));
        };
        waiting.add(look);
        look();
      }),
    hangUp: () => void socket.destroy(),
  };
}

/** The head of a request, line by line, with its end. */
export function head(...lines: string[]): string {
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** A whole modern request, as bytes. */
export function rawPost(method: string, body: string, extra: readonly string[] = [], name?: string): string {
  const said = Object.entries(modernHeaders(method, name)).map(([header, value]) => `${header}: ${value}`);
  const length = `Content-Length: ${Buffer.byteLength(body)}`;
  return (
    head("POST /mcp HTTP/1.1", "Host: localhost", "Content-Type: application/json", length, ...said, ...extra) + body
  );
}

/** A whole request that reads the open file, as bytes. */
export function rawRead({ base }: Pick<Target, "base">, extra: readonly string[] = []): string {
  const uri = base + open.name;
  return rawPost("resources/read", JSON.stringify(modernBody("resources/read", { uri })), extra, uri);
}
