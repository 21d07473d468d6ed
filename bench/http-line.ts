/** One kept-alive HTTP connection on a raw socket: a client that costs as little as it can. */
import { connect, type Socket } from "node:net";

export interface HttpAnswer {
  readonly status: number;
  readonly head: string;
  /** Bytes of the body as they came over the wire. */
  readonly bytes: number;
  /** The body, where it was asked for. */
  readonly body: string;
}

export interface HttpLine {
  /** One question at a time. */
  ask(head: string, body: string, keep?: boolean): Promise<HttpAnswer>;
  close(): void;
}

export async function openHttpLine(port: number): Promise<HttpLine> {
  const socket = await openSocket(port);
  let settle: { resolve(answer: HttpAnswer): void; reject(error: Error): void } | undefined;
  let keeping = false;
  let status = 0;
  let head = "";
  let expected = -1;
  let bytes = 0;
  let early: Buffer | undefined;
  let tail = "";
  let kept: Buffer[] = [];

  socket.on("data", (chunk) => {
    if (head === "") {
      const seen = early ? Buffer.concat([early, chunk]) : chunk;
      const end = seen.indexOf("\r\n\r\n");
      if (end < 0) {
        early = seen;
        return;
      }
      head = seen.toString("latin1", 0, end);
      status = Number(head.slice(9, 12));
      const length = /\r\ncontent-length: (\d+)/i.exec(head);
      expected = length ? Number(length[1]) : /\r\ntransfer-encoding: chunked/i.test(head) ? -1 : 0;
      chunk = seen.subarray(end + 4);
    }
    bytes += chunk.length;
    if (keeping) kept.push(chunk);
    if (expected < 0) {
      // A body of JSON has no bare line break, so these bytes can only be the last chunk.
      tail = (tail + chunk.toString("latin1", Math.max(0, chunk.length - 5))).slice(-5);
      if (tail !== "0\r\n\r\n") return;
    } else if (bytes < expected) {
      return;
    }
    const answer = { status, head, bytes, body: keeping ? textOf(Buffer.concat(kept), expected < 0) : "" };
    const done = settle;
    settle = undefined;
    head = tail = "";
    bytes = 0;
    kept = [];
    early = undefined;
    done?.resolve(answer);
  });
  const fail = (error: Error) => settle?.reject(error);
  socket.on("error", fail);
  socket.on("close", () => fail(new Error("the server hung up")));

  return {
    ask(requestHead, body, keep = false) {
      keeping = keep;
      return new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error("the server hung up"));
        settle = { resolve, reject };
        socket.write(`${requestHead}${Buffer.byteLength(body)}\r\n\r\n${body}`);
      });
    },
    close: () => socket.destroy(),
  };
}

export function openSocket(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    socket.setNoDelay(true);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

/** The text of a body; of an event stream, its last event. */
function textOf(body: Buffer, chunked: boolean): string {
  const text = (chunked ? joinChunks(body) : body).toString().trimEnd();
  return text.startsWith("{") ? text : text.slice(text.lastIndexOf("\ndata: ") + "\ndata: ".length);
}

function joinChunks(body: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = body.indexOf("\r\n", at);
    const size = Number.parseInt(body.toString("latin1", at, lineEnd), 16);
    if (size === 0) return Buffer.concat(chunks);
    chunks.push(body.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
