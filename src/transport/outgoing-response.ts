/** The response of one request. Node's `ServerResponse` is one, and so is `WebResponse`. */
import type { OutgoingHttpHeaders } from "node:http";

/** The part of `ServerResponse` that the transport uses, with the same promises. */
export interface OutgoingResponse {
  /** Sent as X-Request-Id. Absent on a server that is not our own. */
  requestId?: string;
  /** True from `writeHead` on. */
  readonly headersSent: boolean;
  /** The client is gone, or has everything. */
  readonly destroyed: boolean;
  /** Bytes that the client has not taken. */
  readonly writableLength: number;
  setHeader(name: string, value: string): unknown;
  appendHeader(name: string, value: string): unknown;
  writeHead(status: number, headers?: OutgoingHttpHeaders): unknown;
  flushHeaders(): void;
  write(chunk: string | Uint8Array, flushed?: () => void): boolean;
  cork(): void;
  uncork(): void;
  end(text?: string): unknown;
  /** Emits "timeout" when nothing was taken for this long; 0 never does. */
  setTimeout(ms: number, listener?: () => void): unknown;
  /** Cuts the response off. */
  destroy(): unknown;
  on(event: "close" | "timeout", listener: (this: OutgoingResponse) => void): this;
  once(event: "close", listener: () => void): this;
  off(event: "close", listener: () => void): this;
}
