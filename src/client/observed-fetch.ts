/** Hears what the official transports keep to themselves: when the stream that a server speaks on opens, and when an answer breaks off. */
import { ResourceError } from "../errors.ts";
import { withBoundedBody } from "./bounded-body.ts";
import { brokeOffCode } from "./remote-error.ts";
import type { Fetch } from "./own-headers.ts";

/** What is heard of the stream on which a server speaks of its own accord. */
export interface StreamObserver {
  /** The stream is open: for the first time, or after it was lost. */
  opened(): void;
  /** The server has no such stream. */
  refused(): void;
  /** The stream is gone, and the session with it. */
  lost(): void;
}

const streamType = "text/event-stream";
/** As a server says that it failed. */
const refusedCode = -32_603;

/** `isOldest` where the stream is the session, as in HTTP with SSE. */
export function createObservedFetch(ask: Fetch, ear: StreamObserver, isOldest: boolean): Fetch {
  let wasOpen = false;
  const fetch: Fetch = async (url, init) => withBoundedBody(await ask(url, init));

  async function openStream(url: string | URL, init: RequestInit | undefined): Promise<Response> {
    // It would be another session, of which nothing that was agreed on holds.
    if (isOldest && wasOpen) throw new TypeError("the stream is lost");
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (cause) {
      // The transport itself tries again what was open once.
      if (!isOldest && !wasOpen && !init?.signal?.aborted) ear.lost();
      throw cause;
    }
    if (response.ok) {
      wasOpen = true;
      ear.opened();
      return isOldest ? withEnd(response, () => ear.lost()) : response;
    }
    // Without its stream the oldest way does not begin, and says why itself.
    if (isOldest) return response;
    if (response.status !== 405) ear.lost();
    else if (!wasOpen) ear.refused();
    return response;
  }

  return async (url, init) => {
    // What is asked for on the way to sign in is no stream.
    if (isGet(init) && new Headers(init?.headers).get("accept")?.includes(streamType)) return openStream(url, init);
    const response = await fetch(url, init);
    if (isOldest || !response.ok || !response.headers.get("content-type")?.startsWith(streamType)) return response;
    const id = requestId(init?.body);
    // Without this, a question whose answer was cut off would wait for it until its time is up.
    if (id === undefined) return response;
    return withEnd(response, (isResumable, cause) => {
      if (cause instanceof ResourceError) return refused(id, cause);
      return isResumable ? undefined : brokeOff(id);
    });
  };
}

function isGet(init: RequestInit | undefined): boolean {
  return (init?.method ?? "GET") === "GET";
}

function requestId(body: unknown): string | number | undefined {
  if (typeof body !== "string") return undefined;
  const { id, method } = JSON.parse(body) as { readonly id?: unknown; readonly method?: unknown };
  return method !== undefined && (typeof id === "string" || typeof id === "number") ? id : undefined;
}

function brokeOff(id: string | number): Uint8Array {
  return lastWord(id, { code: brokeOffCode, message: "the answer broke off" });
}

function refused(id: string | number, { kind, message }: ResourceError): Uint8Array {
  return lastWord(id, { code: refusedCode, message, data: { reason: kind } });
}

/** The answer of last resort. Whoever has been answered already does not hear it. */
function lastWord(id: string | number, error: object): Uint8Array {
  return new TextEncoder().encode(`\n\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, error })}\n\n`);
}

/** Calls `end` when the body ends or breaks off, and why; what it gives are the last bytes. */
function withEnd(response: Response, end: (isResumable: boolean, cause?: unknown) => Uint8Array | void): Response {
  if (!response.body) return response;
  const reader = response.body.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  const sawId = createIdScanner();
  let isResumable = false;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      let failure: unknown;
      const chunk = await reader.read().catch((cause: unknown) => {
        failure = cause;
        return undefined;
      });
      if (chunk?.value) {
        isResumable ||= sawId(chunk.value);
        controller.enqueue(chunk.value);
        return;
      }
      const last = end(isResumable, failure);
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
