/** MCP over stdin and stdout: one message per line. */
import type { Readable, Writable } from "node:stream";
import { isDoneWithin } from "../lib/is-done-within.ts";
import type { Protocol, Reply, WireBytes } from "../protocol/protocol.ts";
import type { Caller } from "../resources.ts";
import type { InputLine } from "./lines.ts";
import { createLines } from "./lines.ts";
import { parseMessageBytes } from "./parse-message.ts";
import { createInFlight } from "./in-flight.ts";
import { writeWire } from "./wire-bytes.ts";

export interface StdioOptions {
  readonly input?: Readable;
  readonly output?: Writable;
  readonly caller?: Caller;
  /** Limit of one message. */
  readonly maxMessageBytes?: number;
  /** Bytes that may wait for a slow reader before reading stops. */
  readonly highWaterBytes?: number;
  /** Time for running requests after the end of the input, and for a reader that accepts nothing. Listens are not waited for. */
  readonly graceMs?: number;
  /** Ends the session as the end of the input does: earlier requests get responses, every listen its result. */
  readonly signal?: AbortSignal;
}

/** Interval of checks for more input while stopping. */
const lookMs = 10;
/** Maximum number of running requests: their responses all go to one reader. */
const maxUnderWay = 64;

/** Resolves when the session is over: the input ended, the output broke, or the signal was aborted. Never rejects. */
export async function serveStdio(
  protocol: Protocol,
  {
    input = process.stdin,
    output = process.stdout,
    caller = { id: "local" },
    maxMessageBytes = 4 * 1024 * 1024,
    highWaterBytes = 64 * 1024,
    graceMs = 5000,
    signal,
  }: StdioOptions = {},
): Promise<void> {
  const controller = new AbortController();
  const underWay = createInFlight();
  const lines = createLines(maxMessageBytes);
  const inputEnded = Promise.withResolvers<void>();
  const allTaken = Promise.withResolvers<void>();
  const outputBroke = Promise.withResolvers<void>();
  const stopped = Promise.withResolvers<void>();
  /** Aborted when no more input is read. */
  const unread = new AbortController();
  /** Set while the reader is slow. */
  let slow: PromiseWithResolvers<void> | undefined;
  let silent = false;
  /** No more bytes will come. */
  let complete = false;
  let taking = false;
  let chunkCount = 0;
  let takenCount = 0;
  let flushedCount = 0;

  function write(wire: WireBytes): void | Promise<void> {
    if (silent) return;
    writeWire(output, "", wire, "\n", flushed);
    if (output.writableLength <= highWaterBytes) return;
    slow ??= Promise.withResolvers();
    return slow.promise;
  }

  function flushed(): void {
    flushedCount++;
    if (slow === undefined || output.writableLength > highWaterBytes) return;
    release();
    takeLines();
  }

  function release(): void {
    slow?.resolve();
    slow = undefined;
  }

  /** Stops reading requests while responses are unread. */
  function isReady(): boolean {
    return slow === undefined && !silent && underWay.count < maxUnderWay;
  }

  function takeLines(): void {
    // A synchronous response calls this again.
    if (taking) return;
    taking = true;
    while (isReady()) {
      // A line cut off by the signal is not a message.
      const line = lines.next() ?? (complete && !signal?.aborted ? lines.rest() : undefined);
      if (line !== undefined) {
        takenCount++;
        take(line);
        continue;
      }
      taking = false;
      if (complete) allTaken.resolve();
      else input.resume();
      return;
    }
    taking = false;
    input.pause();
  }

  function take(line: InputLine): void {
    if (line === "too-long")
      return void write(protocol.error(null, -32600, `a message may have ${maxMessageBytes} bytes at most`));
    if (line.every(isBlank)) return;
    const parsed = parseMessageBytes(line);
    if (!parsed.ok) return void write(protocol.error(null, -32700, parsed.message));

    const isQuestion = !protocol.isListen?.(parsed.body);
    let over = false;
    const reply: Reply = {
      notify: (wire) => (over ? undefined : write(wire)),
      lost: () => unread.signal,
      end(wire) {
        if (over) return;
        over = true;
        if (wire !== undefined) void write(wire);
        if (!isQuestion) return;
        const wasFull = underWay.count === maxUnderWay;
        underWay.end();
        if (wasFull) takeLines();
      },
    };
    if (isQuestion) underWay.begin();
    session.receive(parsed.body, reply);
  }

  function takeChunk(chunk: Buffer | string): void {
    chunkCount++;
    lines.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    takeLines();
  }

  /** Lines may be left: a stream that was paused with its last bytes ends anyway. */
  function endInput(): void {
    complete = true;
    takeLines();
    inputEnded.resolve();
  }

  /** The output is closed. */
  function breakOff(): void {
    silent = true;
    release();
    outputBroke.resolve();
  }

  const session = protocol.session({ caller, signal: controller.signal, send: write }, { modern: true });
  const stop = () => stopped.resolve();
  input.on("data", takeChunk).on("end", endInput).on("error", endInput).on("close", endInput);
  output.on("error", breakOff).on("close", breakOff);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted) stop();

  await Promise.race([inputEnded.promise, outputBroke.promise, stopped.promise]);
  if (!complete && !silent) await whileMoving(Promise.race([readAll(), outputBroke.promise]), () => takenCount);
  endInput();
  if (!silent) await whileMoving(Promise.race([allTaken.promise, outputBroke.promise]), () => takenCount);
  // Nothing more is accepted.
  taking = true;
  unread.abort();
  input.off("data", takeChunk).off("end", endInput).pause();
  const closing = signal?.aborted ? protocol.close().catch(() => undefined) : undefined;
  await isDoneWithin(Promise.race([Promise.all([closing, underWay.idle()]), outputBroke.promise]), graceMs);
  session.close();
  controller.abort();
  silent = true;
  release();
  signal?.removeEventListener("abort", stop);
  input.off("error", endInput).off("close", endInput);
  await flushOutput();

  /** Resolves when everything sent before has been read: no bytes arrived while waiting. */
  async function readAll(): Promise<void> {
    for (let before = -1; before !== chunkCount || !isReady();) {
      before = chunkCount;
      await new Promise((resolve) => setTimeout(resolve, lookMs));
      if (complete || silent) return;
    }
  }

  async function flushOutput(): Promise<void> {
    if (output.writableLength === 0 || output.destroyed) return;
    const left = Promise.withResolvers<void>();
    output.write("", () => left.resolve());
    await whileMoving(Promise.race([left.promise, outputBroke.promise]), () => flushedCount);
  }

  /** Resolves when the promise does, or when the count has not changed for the grace period. */
  async function whileMoving(promise: Promise<void>, count: () => number): Promise<void> {
    for (let before = -1, now = count(); now !== before; now = count()) {
      before = now;
      if (await isDoneWithin(promise, graceMs)) return;
    }
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x09;
}
