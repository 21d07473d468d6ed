/** Reads request bodies within size limits. */
import type { IncomingMessage } from "node:http";
import { type ByteShare, createBytePool } from "./byte-pool.ts";
import type { GrowingBuffer } from "./growing-buffer.ts";
import { createGrowingBuffer } from "./growing-buffer.ts";

interface BodyLimits {
  /** Limit of one body. */
  readonly maxBytes: number;
  /** Limit of all bodies that are arriving. Beyond it, the largest is refused as "busy". */
  readonly maxTotalBytes: number;
}

/** "already-read" if something else has read the body, and left nothing of it. */
export type RequestBody = Buffer | "too-large" | "busy" | "already-read";

/** Returns a function that calls back once: with the bytes, or an error. Never, if the client disconnects first. */
export function createBodyReader({ maxBytes, maxTotalBytes }: BodyLimits) {
  const pool = createBytePool(maxTotalBytes);

  return (request: IncomingMessage, done: (body: RequestBody) => void): void => {
    // NaN if the length is not announced.
    const announced = Number(request.headers["content-length"]);
    if (announced > maxBytes) return done("too-large");
    // Nearly every body is one chunk. Incomplete bodies are counted, so that many slow ones cannot fill the memory.
    let first: Buffer | undefined;
    let all: GrowingBuffer | undefined;
    let share: ByteShare | undefined;
    let length = 0;
    let over = false;

    function release(): void {
      over = true;
      first = all = undefined;
      share?.resize(0);
    }
    function finish(body: RequestBody): void {
      release();
      done(body);
    }

    request.on("data", (data: Buffer | string) => {
      if (over) return;
      // An app may have set an encoding.
      const chunk = typeof data === "string" ? Buffer.from(data, request.readableEncoding ?? "utf8") : data;
      length += chunk.length;
      if (length > maxBytes) return finish("too-large");
      if (first === undefined) {
        first = chunk;
        if (length === announced) return;
        request.once("close", release);
        share = pool.open(() => finish("busy"));
      } else {
        if (all === undefined) {
          all = createGrowingBuffer();
          all.append(first);
        }
        all.append(chunk);
      }
      share?.resize(length);
    });
    request.on("end", () => {
      if (!over) finish(all?.take() ?? first ?? Buffer.alloc(0));
    });
    // An app may have paused it to wait for its own checks.
    if (request.isPaused()) request.resume();
  };
}

/** Whether the body can no longer be read from the request. */
export function isAlreadyRead(request: IncomingMessage): boolean {
  return request.readableEnded || request.readableDidRead;
}

/**
 * The bytes of a body that an app has read and perhaps parsed. A parsed value becomes text again, so that it passes the same checks as
 * every other body.
 */
export function bytesOfBody(body: unknown, maxBytes: number): RequestBody {
  if (body === undefined) return "already-read";
  const bytes =
    body instanceof Uint8Array ? Buffer.from(body.buffer, body.byteOffset, body.length) : Buffer.from(textOf(body));
  return bytes.length > maxBytes ? "too-large" : bytes;
}

/** Empty, which is no JSON, if there is no text: for a circular value, or one that nests too deep. */
function textOf(body: unknown): string {
  if (typeof body === "string") return body;
  try {
    return JSON.stringify(body) ?? "";
  } catch {
    return "";
  }
}

/**
 * Reads and discards, so that an early response is not lost when the connection closes while the client still sends. Calls
 * back once: when the body has ended, or has taken too long.
 */
export function discard(request: IncomingMessage, maxBytes: number, done: () => void): void {
  if (request.complete || request.destroyed) return done();
  let left = maxBytes;
  let over = false;
  function finish(): void {
    if (over) return;
    over = true;
    done();
  }
  request.on("data", (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) finish();
  });
  request.once("end", finish);
  request.once("close", finish);
}
