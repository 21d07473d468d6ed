/** Observes what the official transports do not report: when the server's event stream opens, and when a response breaks off. */
import { ResourceError } from "../errors.ts";
import { withBoundedBody } from "./bounded-body.ts";
import { brokeOffCode } from "./remote-error.ts";
import type { Fetch } from "./own-headers.ts";

/** Events of the stream on which a server sends notifications. */
export interface StreamObserver {
  /** The stream is open: for the first time, or after it was lost. */
  opened(): void;
  /** The server has no such stream. */
  refused(): void;
  /** The stream is gone, and the session with it. */
  lost(): void;
}

const streamType = "text/event-stream";
/** Error code of a server failure. */
const refusedCode = -32_603;

/** `isOldest` if the stream is the session, as in HTTP with SSE. */
export function createObservedFetch(inner: Fetch, observer: StreamObserver, isOldest: boolean): Fetch {
  let wasOpen = false;
  const fetch: Fetch = async (url, init) => withBoundedBody(await inner(url, init));

  async function openStream(url: string | URL, init: RequestInit | undefined): Promise<Response> {
    // It would be a new session, without anything that was negotiated.
    if (isOldest && wasOpen) throw new TypeError("the stream is lost");
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (cause) {
      // The transport itself reopens a stream that was open once.
      if (!isOldest && !wasOpen && !init?.signal?.aborted) observer.lost();
      throw cause;
    }
    if (response.ok) {
      wasOpen = true;
      observer.opened();
      return isOldest ? withEnd(response, () => observer.lost()) : response;
    }
    // The oldest transport cannot start without its stream, and reports why itself.
    if (isOldest) return response;
    if (!hasNoStream(response, init)) observer.lost();
    else if (!wasOpen) observer.refused();
    return response;
  }

  return async (url, init) => {
    // Requests during sign-in are not streams.
    if (isGet(init) && new Headers(init?.headers).get("accept")?.includes(streamType)) return openStream(url, init);
    const response = await fetch(url, init);
    if (isOldest || !response.ok || !response.headers.get("content-type")?.startsWith(streamType)) return response;
    const id = requestId(init?.body);
    // Without this, a request whose response was cut off would wait until its timeout.
    if (id === undefined) return response;
    return withEnd(response, (isResumable, cause) => {
      if (cause instanceof ResourceError) return refused(id, cause);
      return isResumable ? undefined : brokeOff(id);
    });
  };
}

/** 404 means a lost session if there was one; otherwise the server has only a route for POST. */
function hasNoStream({ status }: Response, init: RequestInit | undefined): boolean {
  return status === 405 || (status === 404 && !new Headers(init?.headers).has("mcp-session-id"));
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
  return finalError(id, { code: brokeOffCode, message: "the response broke off" });
}

function refused(id: string | number, { kind, message }: ResourceError): Uint8Array {
  return finalError(id, { code: refusedCode, message, data: { reason: kind } });
}

/** A final error response. The client ignores it if it already has a response. */
function finalError(id: string | number, error: object): Uint8Array {
  return new TextEncoder().encode(`\n\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, error })}\n\n`);
}

/** Calls `end` with the reason when the body ends or breaks off; its result is appended to the body. */
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

/** Returns whether events have ids: then the transport resumes the stream by itself. */
function createIdScanner(): (chunk: Uint8Array) => boolean {
  const decoder = new TextDecoder();
  let tail = "\n";
  return (chunk) => {
    const text = tail + decoder.decode(chunk, { stream: true });
    tail = text.slice(-4);
    return /[\r\n]id:/.test(text);
  };
}
