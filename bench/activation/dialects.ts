/** A model behind HTTP, whichever of the two common dialects it speaks. */

export type Dialect = "openai" | "anthropic";

export interface Endpoint {
  readonly dialect: Dialect;
  /** Up to, and without, `/chat/completions` or `/v1/messages`. */
  readonly url: string;
  readonly model: string;
  readonly key: string;
}

export interface ToolChoice {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type Turn =
  | { readonly who: "user"; readonly text: string }
  | { readonly who: "model"; readonly text: string; readonly uses: readonly ToolUse[] }
  | { readonly who: "tools"; readonly results: readonly { readonly id: string; readonly text: string }[] };

export interface Conversation {
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly ToolChoice[];
}

export interface Said {
  readonly text: string;
  readonly uses: readonly ToolUse[];
}

const attempts = 4;
const timeoutMs = 120_000;
const maxTokens = 1500;

/** What the model says next. What may pass (too many questions, a fault of theirs) is tried again. */
export async function ask(endpoint: Endpoint, conversation: Conversation, signal?: AbortSignal): Promise<Said> {
  const { dialect, model } = endpoint;
  const { path, headers, body } =
    dialect === "openai" ? toOpenai(endpoint, conversation) : toAnthropic(endpoint, conversation);
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(`${endpoint.url.replace(/\/+$/, "")}${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ model, ...body }),
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(signal ? [signal] : [])]),
    });
    if (response.ok) return (dialect === "openai" ? fromOpenai : fromAnthropic)(await response.json());
    const why = (await response.text()).slice(0, 300);
    const mayPass = response.status === 429 || response.status >= 500;
    if (!mayPass || attempt === attempts) throw new Error(`the model answered ${response.status}: ${why}`);
    const seconds = Number(response.headers.get("retry-after") ?? 2 ** attempt);
    await new Promise((resolve) => setTimeout(resolve, Math.min(60, Number.isFinite(seconds) ? seconds : 5) * 1000));
  }
}

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

function toOpenai({ key }: Endpoint, { system, turns, tools }: Conversation): Sent {
  const messages = turns.flatMap((turn): object[] => {
    if (turn.who === "user") return [{ role: "user", content: turn.text }];
    if (turn.who === "tools")
      return turn.results.map(({ id, text }) => ({ role: "tool", tool_call_id: id, content: text }));
    const calls = turn.uses.map(({ id, name, arguments: given }) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(given) },
    }));
    return [{ role: "assistant", content: turn.text || null, ...(calls.length > 0 && { tool_calls: calls }) }];
  });
  const functions = tools.map(({ name, description, schema }) => ({
    type: "function",
    function: { name, description, parameters: schema },
  }));
  return {
    path: "/chat/completions",
    headers: { Authorization: `Bearer ${key}` },
    body: {
      messages: [{ role: "system", content: system }, ...messages],
      ...(functions.length > 0 && { tools: functions }),
    },
  };
}

function toAnthropic({ key }: Endpoint, { system, turns, tools }: Conversation): Sent {
  const messages = turns.map((turn): object => {
    if (turn.who === "user") return { role: "user", content: turn.text };
    if (turn.who === "tools")
      return {
        role: "user",
        content: turn.results.map(({ id, text }) => ({ type: "tool_result", tool_use_id: id, content: text })),
      };
    const uses = turn.uses.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input }));
    return { role: "assistant", content: [...(turn.text ? [{ type: "text", text: turn.text }] : []), ...uses] };
  });
  const choices = tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema }));
  return {
    path: "/v1/messages",
    headers: { "x-api-key": key, "anthropic-version": "2023-06-01" },
    body: { system, messages, max_tokens: maxTokens, ...(choices.length > 0 && { tools: choices }) },
  };
}

function fromOpenai(answer: unknown): Said {
  const message = at(at(at(answer, "choices"), 0), "message");
  const text = at(message, "content");
  const calls = at(message, "tool_calls");
  return {
    text: typeof text === "string" ? text : "",
    uses: (Array.isArray(calls) ? calls : []).map((call: unknown) => ({
      id: String(at(call, "id")),
      name: String(at(at(call, "function"), "name")),
      arguments: parseArguments(at(at(call, "function"), "arguments")),
    })),
  };
}

function fromAnthropic(answer: unknown): Said {
  const content = at(answer, "content");
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return {
    text: blocks
      .filter((block) => at(block, "type") === "text")
      .map((block) => String(at(block, "text")))
      .join(""),
    uses: blocks
      .filter((block) => at(block, "type") === "tool_use")
      .map((block) => ({
        id: String(at(block, "id")),
        name: String(at(block, "name")),
        arguments: asRecord(at(block, "input")),
      })),
  };
}

/** Models write arguments as text, and now and then as no JSON at all. */
function parseArguments(text: unknown): Readonly<Record<string, unknown>> {
  try {
    return asRecord(JSON.parse(typeof text === "string" && text !== "" ? text : "{}"));
  } catch {
    return { unreadable: String(text) };
  }
}

export function asRecord(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

/** A member of what came from JSON. */
export function at(value: unknown, key: string | number): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string | number, unknown>>)[key]
    : undefined;
}
