/** Hears what the official transports keep to themselves: when the stream that a server speaks on opens, and when an answer breaks off. */
import { brokeOffCode } from "./failure.ts";

/** What is heard of the stream on which a server speaks of its own accord. */
export interface Ear {
  /** The stream is open: for the first time, or after it was lost. */
  opened(): void;
  /** The server has no such stream. */
  refused(): void;
  /** The stream is gone, and the session with it. */
  lost(): void;
}

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** `isOldest` where the stream is the session, as in HTTP with SSE. */
export function createHearingFetch(fetch: Fetch, ear: Ear, isOldest: boolean): Fetch {
  let streams = 0;

  async function openStream(url: string | URL, init: RequestInit | undefined): Promise<Response> {
    const isFirst = streams === 0;
    streams += 1;
    // It would be another session, of which nothing that was agreed on holds.
    if (isOldest && !isFirst) throw new TypeError("the stream is lost");
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (cause) {
      // The transport itself tries again what was open once.
      if (isFirst && !init?.signal?.aborted) ear.lost();
      throw cause;
    }
    if (response.ok) {
      ear.opened();
      return isOldest ? withEnd(response, () => ear.lost()) : response;
    }
    if (response.status !== 405) ear.lost();
    else if (isFirst) ear.refused();
    return response;
  }

  return async (url, init) => {
    if ((init?.method ?? "GET") === "GET") return openStream(url, init);
    const response = await fetch(url, init);
    if (isOldest || !response.ok || !response.headers.get("content-type")?.startsWith("text/event-stream"))
      return response;
    const id = requestId(init?.body);
    // Without this, a question whose answer was cut off would wait for it until its time is up.
    return id === undefined ? response : withEnd(response, (isResumable) => (isResumable ? undefined : brokeOff(id)));
  };
}

function requestId(body: unknown): string | number | undefined {
  if (typeof body !== "string") return undefined;
  const { id, method } = JSON.parse(body) as { readonly id?: unknown; readonly method?: unknown };
  return method !== undefined && (typeof id === "string" || typeof id === "number") ? id : undefined;
}

/** The answer of last resort. Whoever has been answered already does not hear it. */
function brokeOff(id: string | number): Uint8Array {
  const error = { code: brokeOffCode, message: "the answer broke off" };
  return new TextEncoder().encode(`\n\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, error })}\n\n`);
}

/** Calls `end` when the body ends or breaks off; what it gives are the last bytes. */
function withEnd(response: Response, end: (isResumable: boolean) => Uint8Array | void): Response {
  if (!response.body) return response;
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const sawId = createIdScanner();
  let isResumable = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const chunk = await reader.read().catch(() => undefined);
      if (chunk?.value) {
        isResumable ||= sawId(chunk.value);
        controller.enqueue(chunk.value);
        return;
      }
      const last = end(isResumable);
      if (last) controller.enqueue(last);
      controller.close();
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

/** Whether events have ids: then the transport takes the stream up again by itself. */
function createIdScanner(): (chunk: Uint8Array) => boolean {
  const decoder = new TextDecoder();
  let tail = "\n";
  return (chunk) => {
    const text = tail + decoder.decode(chunk, { stream: true });
    tail = text.slice(-4);
    return /[\r\n]id:/.test(text);
  };
}
