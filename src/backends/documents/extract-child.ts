/**
 * The process that extracts text from documents, one at a time. It reads requests from standard input, writes responses to standard output,
 * and ends when its input ends. A watchdog thread kills it when a document takes too much memory.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { DocumentError } from "./document-error.ts";
import { documentText } from "./document-text.ts";
import { createFrameReader, encodeHeader, type Request, type Response } from "./extract-frames.ts";

// Printed text would be taken for a response.
for (const name of ["log", "info", "debug", "warn", "error", "trace"] as const) console[name] = () => undefined;

const [maxMiB, parent] = process.argv.slice(2).map(Number);
/** 1 while a document is being read. */
const busy = new Int32Array(new SharedArrayBuffer(4));
const watchdog = new Worker(new URL("./extract-watchdog.ts", import.meta.url), {
  workerData: { busy, maxBytes: maxMiB! * 1024 * 1024, parent },
  execArgv: [],
});
await once(watchdog, "online");

const read = createFrameReader<Request>(({ mimeType }, bytes) => void answer(mimeType, new Uint8Array(bytes.buffer)));
process.stdin.on("data", (piece: Buffer) => {
  // Set from the first bytes of a document on.
  setBusy(1);
  read(piece);
});
process.stdin.on("end", () => process.exit());

async function answer(mimeType: string, bytes: Uint8Array): Promise<void> {
  const { result, text } = await extract(bytes, mimeType);
  process.stdout.write(encodeHeader({ result, byteLength: text.length, rssBytes: process.memoryUsage.rss() }));
  process.stdout.write(text);
  setBusy(0);
}

async function extract(
  bytes: Uint8Array,
  mimeType: string,
): Promise<{ readonly result: Response["result"]; readonly text: Uint8Array }> {
  try {
    const { text, mimeType: ofText } = await documentText(bytes, mimeType);
    return { result: { mimeType: ofText }, text: new TextEncoder().encode(text) };
  } catch (cause) {
    const result =
      cause instanceof DocumentError
        ? { fault: cause.fault, message: cause.message }
        : ({ fault: "malformed", message: "it is damaged" } as const);
    return { result, text: new Uint8Array() };
  }
}

function setBusy(value: 0 | 1): void {
  Atomics.store(busy, 0, value);
  Atomics.notify(busy, 0);
}
