/**
 * A model's place, taken by a script: an HTTP server that speaks both dialects and always does the same. It reads only what it was told to
 * read, searches where it may, and answers with what it has before it, so that each form shows what it makes possible.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { asRecord, at } from "./dialects.ts";

export interface StandIn extends AsyncDisposable {
  /** For the endpoint of either dialect. */
  readonly urls: { readonly openai: string; readonly anthropic: string };
  /** What it was asked, as it came. */
  readonly asked: readonly { readonly path: string; readonly body: Readonly<Record<string, unknown>> }[];
}

export interface StandInOptions {
  readonly key: string;
  /** So many questions are turned away first, as those of a busy model are. */
  readonly busy?: number;
}

/** What the script has before it, whatever the dialect. */
export interface Scene {
  readonly system: string;
  readonly question: string;
  readonly tools: readonly string[];
  /** What each call gave, oldest first. */
  readonly done: readonly { readonly tool: string; readonly result: string }[];
}

type Act = { readonly say: string } | { readonly use: string; readonly with: Readonly<Record<string, unknown>> };

export async function startStandIn({ key, busy = 0 }: StandInOptions): Promise<StandIn> {
  const asked: { path: string; body: Readonly<Record<string, unknown>> }[] = [];
  let turnedAway = 0;
  let ids = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const send = (status: number, body: object, headers: Record<string, string> = {}) => {
      response.writeHead(status, { "Content-Type": "application/json", ...headers });
      response.end(JSON.stringify(body));
    };
    const path = request.url ?? "";
    const dialect = path === "/v1/chat/completions" ? "openai" : path === "/v1/messages" ? "anthropic" : undefined;
    if (request.method !== "POST" || !dialect) return send(404, { error: { message: `nothing at ${path}` } });
    const given =
      dialect === "openai" ? request.headers.authorization?.replace(/^Bearer /, "") : request.headers["x-api-key"];
    if (given !== key) return send(401, { error: { message: "who are you?" } });
    if (turnedAway < busy) {
      turnedAway += 1;
      return send(429, { error: { message: "busy" } }, { "Retry-After": "0" });
    }
    let body: Readonly<Record<string, unknown>>;
    try {
      body = asRecord(JSON.parse(Buffer.concat(await request.toArray()).toString()));
    } catch {
      return send(400, { error: { message: "no JSON" } });
    }
    asked.push({ path, body });
    if (!Array.isArray(body["messages"]) || typeof body["model"] !== "string")
      return send(400, { error: { message: "model and messages are missing" } });
    if (dialect === "anthropic" && typeof body["max_tokens"] !== "number")
      return send(400, { error: { message: "max_tokens is missing" } });
    const scene = dialect === "openai" ? fromOpenai(body) : fromAnthropic(body);
    const act = decide(scene);
    ids += 1;
    send(200, dialect === "openai" ? toOpenai(act, `call_${ids}`) : toAnthropic(act, `toolu_${ids}`));
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    urls: { openai: `http://127.0.0.1:${port}/v1`, anthropic: `http://127.0.0.1:${port}` },
    asked,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * The script. Without instructions or tools it answers out of its head; told to look, it reads the resource whose name shares most with the
 * question; with tools it searches, and with both it also looks at the list when a search finds nothing.
 */
export function decide({ system, question, tools, done }: Scene): Act {
  const { tool, result = "" } = done.at(-1) ?? {};
  const isTold = /before you answer/i.test(system);
  const read = (uri: string | undefined): Act => (uri === undefined ? atLoss : { use: "read_resource", with: { uri } });
  switch (tool) {
    case "search_resources": {
      const found = /^\w+:\/\/\S+$/m.exec(result)?.[0];
      return found === undefined && isTold ? { use: "list_resources", with: {} } : read(found);
    }
    case "list_resources":
      return read(nearestUri(result, question));
    case "read_resource":
    case "read_mcp_resource":
      return { say: result };
    default:
  }
  if (tools.includes("search_resources")) return { use: "search_resources", with: { query: question.slice(0, 200) } };
  const uri = isTold ? nearestUri(system, question) : undefined;
  return uri === undefined ? atLoss : { use: "read_mcp_resource", with: { server: "pressmark", uri } };
}

const atLoss: Act = { say: "I do not know." };

/** The URI in a text whose name shares most with the question. */
function nearestUri(text: string, question: string): string | undefined {
  let best: string | undefined;
  let most = 0;
  const wanted = question.toLowerCase();
  for (const [uri] of text.matchAll(/\w+:\/\/[^\s),]+/g)) {
    const name = decodeURIComponent(uri.split("/").at(-1) ?? "")
      .toLowerCase()
      .replace(/\.\w+$/, "");
    const shared = name
      .split(/[\s_.-]+/)
      .flatMap((word) => pairs(word))
      .filter((pair) => wanted.includes(pair)).length;
    if (shared > most) {
      best = uri;
      most = shared;
    }
  }
  return best;
}

function pairs(word: string): readonly string[] {
  const size = /^[\x21-\x7e]+$/.test(word) ? 4 : 2;
  return Array.from({ length: Math.max(0, word.length - size + 1) }, (_, from) => word.slice(from, from + size));
}

function fromOpenai(body: Readonly<Record<string, unknown>>): Scene {
  const messages = listOf(body["messages"]);
  const of = (role: string) => messages.filter((message) => at(message, "role") === role);
  const calls = of("assistant").flatMap((message) => listOf(at(message, "tool_calls")));
  return {
    system: of("system")
      .map((message) => String(at(message, "content")))
      .join("\n"),
    question: String(at(of("user")[0], "content") ?? ""),
    tools: listOf(body["tools"]).map((tool) => String(at(at(tool, "function"), "name"))),
    done: of("tool").map((message) => {
      const call = calls.find((each) => at(each, "id") === at(message, "tool_call_id"));
      return { tool: String(at(at(call, "function"), "name")), result: String(at(message, "content")) };
    }),
  };
}

function fromAnthropic(body: Readonly<Record<string, unknown>>): Scene {
  const messages = listOf(body["messages"]);
  const blocks = messages.flatMap((message) => listOf(at(message, "content")));
  const of = (type: string) => blocks.filter((block) => at(block, "type") === type);
  return {
    system: String(body["system"] ?? ""),
    question: String(at(messages[0], "content") ?? ""),
    tools: listOf(body["tools"]).map((tool) => String(at(tool, "name"))),
    done: of("tool_result").map((block) => {
      const use = of("tool_use").find((each) => at(each, "id") === at(block, "tool_use_id"));
      return { tool: String(at(use, "name")), result: String(at(block, "content")) };
    }),
  };
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function toOpenai(act: Act, id: string): object {
  const message =
    "say" in act
      ? { role: "assistant", content: act.say }
      : {
          role: "assistant",
          content: null,
          tool_calls: [{ id, type: "function", function: { name: act.use, arguments: JSON.stringify(act.with) } }],
        };
  return { choices: [{ index: 0, message, finish_reason: "say" in act ? "stop" : "tool_calls" }] };
}

function toAnthropic(act: Act, id: string): object {
  const content =
    "say" in act ? [{ type: "text", text: act.say }] : [{ type: "tool_use", id, name: act.use, input: act.with }];
  return { role: "assistant", content, stop_reason: "say" in act ? "end_turn" : "tool_use" };
}
