/** A response for the HTTP core that becomes a web-standard `Response`. */
import { EventEmitter } from "node:events";
import type { OutgoingHttpHeaders } from "node:http";
import type { OutgoingResponse } from "./outgoing-response.ts";

interface QueuedChunk {
  readonly bytes: Uint8Array;
  readonly flushed: (() => void) | undefined;
}

const encoder = new TextEncoder();

/**
 * What ends before anything was flushed has its whole body at once; anything else is a stream, of which the reader takes one chunk at a
 * time, so that `writableLength` is what the reader has not taken.
 */
export class WebResponse extends EventEmitter implements OutgoingResponse {
  /** Resolves as soon as there is something to send. */
  readonly ready: Promise<Response>;
  readonly #resolve: (response: Response) => void;
  readonly #headers = new Headers();
  readonly #isHead: boolean;
  #status: number | undefined;
  #queue: QueuedChunk[] = [];
  #length = 0;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  /** The reader waits for the next chunk. */
  #wanted: (() => void) | undefined;
  #isCorked = false;
  #isEnded = false;
  #isClosed = false;
  #timeoutMs = 0;
  #timer: NodeJS.Timeout | undefined;

  /** A response to HEAD has no body. */
  constructor(isHead: boolean) {
    super();
    this.#isHead = isHead;
    const { promise, resolve } = Promise.withResolvers<Response>();
    this.ready = promise;
    this.#resolve = resolve;
  }

  get headersSent(): boolean {
    return this.#status !== undefined;
  }

  get destroyed(): boolean {
    return this.#isClosed;
  }

  get writableLength(): number {
    return this.#length;
  }

  setHeader(name: string, value: string): void {
    this.#headers.set(name, value);
  }

  appendHeader(name: string, value: string): void {
    this.#headers.append(name, value);
  }

  writeHead(status: number, headers: OutgoingHttpHeaders = {}): void {
    this.#status = status;
    for (const [name, value] of Object.entries(headers))
      // Connections belong to the runtime.
      if (value !== undefined && name !== "Connection") this.#headers.set(name, String(value));
  }

  flushHeaders(): void {
    if (this.#stream === undefined && !this.#isClosed) this.#open();
  }

  write(chunk: string | Uint8Array, flushed?: () => void): boolean {
    if (this.#isEnded || this.#isClosed) return false;
    this.#add(chunk, flushed);
    if (!this.#isCorked) this.#pump();
    return true;
  }

  cork(): void {
    this.#isCorked = true;
  }

  uncork(): void {
    this.#isCorked = false;
    this.#pump();
  }

  end(text?: string): void {
    if (this.#isEnded || this.#isClosed) return;
    if (text !== undefined) this.#add(text);
    this.#isEnded = true;
    this.#isCorked = false;
    if (this.#stream) return this.#pump();
    const isEmpty = this.#isHead || this.#queue.length === 0;
    this.#respond(isEmpty ? null : new Blob(this.#queue.map(({ bytes }) => bytes as Uint8Array<ArrayBuffer>)));
    queueMicrotask(() => this.#close());
  }

  setTimeout(ms: number, listener?: () => void): void {
    this.#timeoutMs = ms;
    if (listener) this.once("timeout", listener);
    this.#watch();
  }

  destroy(): void {
    if (this.#isClosed) return;
    // A reader must not take it for complete.
    this.#stream?.error(new Error("the response was cut off"));
    this.abandon();
  }

  /** The client is gone. */
  abandon(): void {
    if (this.#isClosed) return;
    if (this.#stream === undefined) this.#respond(null, 503);
    // An error would be reported by some runtimes.
    else if (this.#stream.desiredSize !== null) this.#stream.close();
    this.#close();
  }

  #add(chunk: string | Uint8Array, flushed?: () => void): void {
    const bytes = typeof chunk === "string" ? encoder.encode(chunk) : chunk;
    this.#queue.push({ bytes, flushed });
    this.#length += bytes.length;
  }

  #respond(body: Blob | ReadableStream | null, status = this.#status ?? 500): void {
    this.#resolve(new Response(body, { status, headers: this.#headers }));
  }

  #open(): void {
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => void (this.#stream = controller),
        pull: () => this.#pull(),
        cancel: () => this.#close(),
      },
      { highWaterMark: 0 },
    );
    this.#respond(body);
  }

  #pull(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wanted = resolve;
    this.#pump();
    return promise;
  }

  /** Passes on one chunk if the reader wants it, and the end after the last one. */
  #pump(): void {
    this.flushHeaders();
    const next = this.#wanted && this.#queue.shift();
    if (next) {
      const taken = this.#wanted;
      this.#wanted = undefined;
      this.#length -= next.bytes.length;
      this.#stream?.enqueue(next.bytes);
      this.#watch();
      taken?.();
      next.flushed?.();
    }
    if (!this.#isEnded || this.#queue.length > 0 || this.#isClosed) return;
    this.#stream?.close();
    this.#close();
  }

  /** Starts the time limit again. */
  #watch(): void {
    clearTimeout(this.#timer);
    if (this.#timeoutMs <= 0 || this.#isClosed) return;
    this.#timer = setTimeout(() => this.emit("timeout"), this.#timeoutMs);
    this.#timer.unref?.();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#queue = [];
    this.#length = 0;
    clearTimeout(this.#timer);
    this.#wanted?.();
    this.emit("close");
  }
}
