/** A line over HTTP with SSE (2024-11-05): one stream down, posts up. */
import type { Revision } from "../../wire/schemas.ts";
import { createLine } from "./create-line.ts";
import type { ServerSentEvent } from "./event-stream.ts";
import { httpAsk } from "./http-ask.ts";
import type { Line } from "./line.ts";

export interface SseLineOptions {
  /** Sent with everything. */
  readonly headers?: Readonly<Record<string, string>>;
}

export async function sseLine(revision: Revision, url: string, { headers = {} }: SseLineOptions = {}): Promise<Line> {
  const stream = await httpAsk(url, { method: "GET", headers: { Accept: "text/event-stream", ...headers } });
  if (!stream.isStream) throw new Error(`GET ${url} answered ${stream.status}`);
  const events = stream.events();
  const first = await events.next();
  if (first.done || first.value.event !== "endpoint") throw new Error("the first event names no endpoint");
  const endpoint = new URL(first.value.data, url).href;
  let hearer: ((message: unknown) => void) | undefined;
  void deliver(events, (message) => hearer?.(message));

  const post = async (message: unknown, hear: (message: unknown) => void): Promise<void> => {
    hearer = hear;
    const answer = await httpAsk(endpoint, { headers, body: message });
    const text = await answer.text();
    if (answer.status !== 202) throw new Error(`a post answered ${answer.status}: ${text}`);
  };
  return createLine("sse", revision, {
    async request(message, hear) {
      await post(message, hear);
      return {};
    },
    send: post,
    async close() {
      stream.hangUp();
    },
  });
}

async function deliver(events: AsyncGenerator<ServerSentEvent>, hear: (message: unknown) => void): Promise<void> {
  try {
    for await (const { event, data } of events) {
      if (event !== "message") throw new Error(`an event named ${event}`);
      hear(JSON.parse(data));
    }
  } catch (cause) {
    // The one way a stream of ours breaks is that we hang up.
    if (!(cause instanceof Error) || !("code" in cause)) throw cause;
  }
}
