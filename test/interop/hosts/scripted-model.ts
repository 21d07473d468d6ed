/**
 * A model for hosts that can be pointed to one: it asks for one resource with the tool `read_resource`, if a URI is given, then ends. Speaks the APIs of
 * OpenAI (chat completions), Anthropic (messages) and Google (generateContent), as far as these hosts use them.
 */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface ScriptedModel extends AsyncDisposable {
  readonly url: string;
  /** All requests so far. */
  readonly heard: readonly string[];
}

const callId = "call_pressmark";

export async function startScriptedModel(uri?: string): Promise<ScriptedModel> {
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    heard.push(body);
    const tool = uri === undefined || isAnswered(body) ? undefined : readingTool(body);
    const path = request.url ?? "";
    const isStream = body.includes('"stream":true') || path.includes("streamGenerateContent");
    response.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
    const events = path.includes("/messages")
      ? anthropic(tool, uri)
      : path.includes("enerateContent")
        ? google(tool, uri)
        : openai(tool, uri);
    if (isStream) response.end(events.stream.map(asEvent).join(""));
    else response.end(JSON.stringify(events.whole));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heard,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

function isAnswered(body: string): boolean {
  return body.includes(callId) || body.includes("functionResponse");
}

/** As the host names it; most put the name of the server before it. */
function readingTool(body: string): string | undefined {
  return /(?:mcp_{1,2}(?:plugin_)?)?pressmark[\w-]*read_resource\b|(?<="name":")read_resource(?=")/.exec(body)?.[0];
}

interface Events {
  readonly whole: object;
  readonly stream: readonly (object | "[DONE]")[];
}

function asEvent(event: object | "[DONE]"): string {
  if (event === "[DONE]") return `data: ${event}\n\n`;
  const type = "type" in event ? `event: ${String(event.type)}\n` : "";
  return `${type}data: ${JSON.stringify(event)}\n\n`;
}

function openai(name: string | undefined, uri: string | undefined): Events {
  const call = { index: 0, id: callId, type: "function", function: { name, arguments: JSON.stringify({ uri }) } };
  const message =
    name === undefined
      ? { role: "assistant", content: "done" }
      : { role: "assistant", content: null, tool_calls: [call] };
  const finish = name === undefined ? "stop" : "tool_calls";
  const of = { id: "c", created: 1, model: "m" };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  const chunk = (more: object) => ({ ...of, object: "chat.completion.chunk", ...more });
  return {
    whole: { ...of, object: "chat.completion", choices: [{ index: 0, message, finish_reason: finish }], usage },
    stream: [
      chunk({ choices: [{ index: 0, delta: message, finish_reason: null }] }),
      chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] }),
      // By itself, as the API does.
      chunk({ choices: [], usage }),
      "[DONE]",
    ],
  };
}

function anthropic(name: string | undefined, uri: string | undefined): Events {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const of = { id: "msg_1", type: "message", role: "assistant", model: "m", usage };
  const isCall = name !== undefined;
  const block = isCall ? { type: "tool_use", id: callId, name, input: { uri } } : { type: "text", text: "done" };
  const delta = isCall
    ? { type: "input_json_delta", partial_json: JSON.stringify({ uri }) }
    : { type: "text_delta", text: "done" };
  const stop_reason = isCall ? "tool_use" : "end_turn";
  return {
    whole: { ...of, content: [block], stop_reason },
    stream: [
      { type: "message_start", message: { ...of, content: [], stop_reason: null } },
      {
        type: "content_block_start",
        index: 0,
        content_block: isCall ? { ...block, input: {} } : { ...block, text: "" },
      },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ],
  };
}

function google(name: string | undefined, uri: string | undefined): Events {
  const part = name === undefined ? { text: "done" } : { functionCall: { name, args: { uri } } };
  const whole = {
    candidates: [{ content: { role: "model", parts: [part] }, finishReason: "STOP", index: 0 }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
  return { whole, stream: [whole] };
}
