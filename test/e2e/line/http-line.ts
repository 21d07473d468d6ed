/** A line over Streamable HTTP: a session with its GET stream before 2026-07-28, one question per POST since. */
import { isRecord, type JsonRecord } from "../../wire/json.ts";
import type { Revision } from "../../wire/schemas.ts";
import { createLine, type Carrier } from "./create-line.ts";
import { httpAsk, type HttpAnswer } from "./http-ask.ts";
import type { Line } from "./line.ts";

export interface HttpLineOptions {
  /** Sent with everything. */
  readonly headers?: Readonly<Record<string, string>>;
}

export const acceptsBoth = "application/json, text/event-stream";

export async function httpLine(revision: Revision, url: string, { headers = {} }: HttpLineOptions = {}): Promise<Line> {
  return createLine(
    "http",
    revision,
    revision === "2026-07-28" ? modern(url, headers) : legacy(revision, url, headers),
  );
}

/** The headers that a modern request mirrors from its body. */
export function modernHeaders(message: JsonRecord): Record<string, string> {
  const params = isRecord(message["params"]) ? message["params"] : {};
  const meta = isRecord(params["_meta"]) ? params["_meta"] : {};
  const method = String(message["method"]);
  const named: Readonly<Record<string, string>> = {
    "resources/read": "uri",
    "tools/call": "name",
    "prompts/get": "name",
  };
  const name = params[named[method] ?? ""];
  return {
    Accept: acceptsBoth,
    "MCP-Protocol-Version": String(meta["io.modelcontextprotocol/protocolVersion"]),
    "Mcp-Method": method,
    ...(typeof name === "string" && { "Mcp-Name": headerValue(name) }),
  };
}

/** A value that a header cannot carry as it is travels in base64. */
export function headerValue(text: string): string {
  const plain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return plain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

function modern(url: string, headers: Readonly<Record<string, string>>): Carrier {
  const open = new Set<HttpAnswer>();
  const post = async (message: unknown, hear: (message: unknown) => void): Promise<HttpAnswer> => {
    const mirrored = isRecord(message) ? modernHeaders(message) : { Accept: acceptsBoth };
    const answer = await httpAsk(url, { headers: { ...mirrored, ...headers }, body: message });
    void deliver(answer, hear, open);
    return answer;
  };
  return {
    async request(message, hear) {
      const answer = await post(message, hear);
      return { hangUp: answer.hangUp };
    },
    async send(message, hear) {
      await post(message, hear);
    },
    async close() {
      for (const answer of open) answer.hangUp();
    },
  };
}

function legacy(revision: Revision, url: string, headers: Readonly<Record<string, string>>): Carrier {
  const open = new Set<HttpAnswer>();
  let session: string | undefined;
  const sessionHeaders = (): Record<string, string> => ({
    ...headers,
    ...(session !== undefined && { "Mcp-Session-Id": session }),
    ...(session !== undefined && revision >= "2025-06-18" && { "MCP-Protocol-Version": revision }),
  });
  const post = async (message: unknown, hear: (message: unknown) => void): Promise<void> => {
    const answer = await httpAsk(url, { headers: { Accept: acceptsBoth, ...sessionHeaders() }, body: message });
    const minted = answer.headers["mcp-session-id"];
    if (typeof minted === "string") session = minted;
    void deliver(answer, hear, open);
  };
  return {
    async request(message, hear) {
      await post(message, hear);
      return {};
    },
    send: post,
    async initialized(hear) {
      const stream = await httpAsk(url, {
        method: "GET",
        headers: { Accept: "text/event-stream", ...sessionHeaders() },
      });
      if (!stream.isStream) throw new Error(`GET answered ${stream.status}`);
      void deliver(stream, hear, open);
    },
    async close() {
      const ended = await httpAsk(url, { method: "DELETE", headers: sessionHeaders() });
      await ended.text();
      for (const answer of open) answer.hangUp();
    },
  };
}

async function deliver(answer: HttpAnswer, hear: (message: unknown) => void, open: Set<HttpAnswer>): Promise<void> {
  if (!answer.isStream) {
    const text = await answer.text();
    // A refusal without a word would leave the question open for ever.
    if (text !== "") hear(answer.headers["content-type"]?.startsWith("application/json") ? JSON.parse(text) : text);
    else if (answer.status >= 400) hear(`HTTP ${answer.status} without a body`);
    return;
  }
  open.add(answer);
  try {
    for await (const { data } of answer.events()) if (data !== "") hear(JSON.parse(data));
  } catch (cause) {
    // The one way a stream of ours breaks is that we hang up.
    if (!(cause instanceof Error) || !("code" in cause)) throw cause;
  } finally {
    open.delete(answer);
  }
}
