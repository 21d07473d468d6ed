/** MCP over stdin and stdout: one message per line, and nothing else. */
import type { Readable, Writable } from "node:stream";
import type { Edge, Reply, Wire } from "../protocol/edge.ts";
import type { Caller } from "../resources.ts";
import type { Line } from "./lines.ts";
import { createLines } from "./lines.ts";
import { parseMessage } from "./parse-message.ts";
import { atMost, createUnderWay } from "./under-way.ts";
import { writeWire } from "./wire-bytes.ts";

export interface StdioOptions {
  readonly input?: Readable;
  readonly output?: Writable;
  readonly caller?: Caller;
  /** Of one message. */
  readonly maxMessageBytes?: number;
  /** How much may wait for a slow reader before no more is read. */
  readonly highWaterBytes?: number;
  /** For questions that are under way when the input ends. A listen, or whatever has said something on the way, is not waited for. */
  readonly graceMs?: number;
  /** Ends the conversation as the end of the input does. */
  readonly signal?: AbortSignal;
}

/** Resolves when the conversation is over: the input ended, the output broke, or the signal came. Never rejects. */
export async function serveStdio(
  edge: Edge,
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
  const underWay = createUnderWay();
  const lines = createLines(maxMessageBytes);
  const inputEnded = Promise.withResolvers<void>();
  const outputBroke = Promise.withResolvers<void>();
  /** Set while the reader is slow. */
  let slow: PromiseWithResolvers<void> | undefined;
  let silent = false;

  function write(wire: Wire): void | Promise<void> {
    if (silent) return;
    writeWire(output, "", wire, "\n", flushed);
    if (output.writableLength <= highWaterBytes) return;
    slow ??= Promise.withResolvers();
    return slow.promise;
  }

  function flushed(): void {
    if (slow === undefined || output.writableLength > highWaterBytes) return;
    release();
    takeLines();
  }

  function release(): void {
    slow?.resolve();
    slow = undefined;
  }

  function takeLines(): void {
    for (;;) {
      // Who does not read its answers is not asked for more questions.
      if (slow !== undefined || silent) return void input.pause();
      const line = lines.next();
      if (line === undefined) return void input.resume();
      take(line);
    }
  }

  function take(line: Line): void {
    if (line === "too-long")
      return void write(edge.error(null, -32600, `a message may have ${maxMessageBytes} bytes at most`));
    if (line.every(isBlank)) return;
    const parsed = parseMessage(line);
    if (!parsed.ok) return void write(edge.error(null, -32700, parsed.message));

    let over = false;
    let waitedFor = true;
    function settle(): void {
      if (waitedFor) underWay.end();
      waitedFor = false;
    }
    const reply: Reply = {
      notify(wire) {
        if (over) return;
        settle();
        return write(wire);
      },
      end(wire) {
        if (over) return;
        over = true;
        settle();
        if (wire !== undefined) void write(wire);
      },
    };
    underWay.begin();
    session.receive(parsed.body, reply);
  }

  function takeChunk(chunk: Buffer | string): void {
    lines.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    takeLines();
  }

  function takeRest(): void {
    const rest = silent ? undefined : lines.rest();
    if (rest !== undefined) take(rest);
    inputEnded.resolve();
  }

  /** Nobody reads any more. */
  function breakOff(): void {
    silent = true;
    release();
    outputBroke.resolve();
  }

  const session = edge.session({ caller, signal: controller.signal, send: write }, { modern: true });
  const ended = () => inputEnded.resolve();
  input.on("data", takeChunk).on("end", takeRest).on("error", ended).on("close", ended);
  output.on("error", breakOff).on("close", breakOff);
  signal?.addEventListener("abort", ended, { once: true });
  if (signal?.aborted) ended();

  await Promise.race([inputEnded.promise, outputBroke.promise]);
  input.off("data", takeChunk).pause();
  await atMost(graceMs, Promise.race([underWay.idle(), outputBroke.promise]));
  session.close();
  controller.abort();
  silent = true;
  release();
  signal?.removeEventListener("abort", ended);
  input.off("end", takeRest).off("error", ended).off("close", ended);
  await flushOutput();

  async function flushOutput(): Promise<void> {
    if (output.writableLength === 0 || output.destroyed) return;
    const left = Promise.withResolvers<void>();
    output.write("", () => left.resolve());
    await atMost(graceMs, Promise.race([left.promise, outputBroke.promise]));
  }
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0d || byte === 0x09;
}
