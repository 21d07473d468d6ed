/** Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html), independently of the server's own code. */

export interface ServerSentEvent {
  readonly event: string;
  readonly data: string;
  readonly id?: string;
  readonly retry?: string;
}

/** Comments are dropped; events without data are given, because they carry ids. */
export async function* eventsIn(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ServerSentEvent> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      const event = parseEvent(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (event) yield event;
    }
  }
}

function parseEvent(block: string): ServerSentEvent | undefined {
  const fields = new Map<string, string[]>();
  for (const line of block.split("\n")) {
    if (line === "" || line.startsWith(":")) continue;
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    fields.set(name, [...(fields.get(name) ?? []), value]);
  }
  if (fields.size === 0) return undefined;
  const id = fields.get("id")?.at(-1);
  const retry = fields.get("retry")?.at(-1);
  return {
    event: fields.get("event")?.at(-1) ?? "message",
    data: (fields.get("data") ?? []).join("\n"),
    ...(id !== undefined && { id }),
    ...(retry !== undefined && { retry }),
  };
}
