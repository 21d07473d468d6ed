/** One process that takes text out of documents, as it is seen from here. */
import { fileURLToPath } from "node:url";
import { createFrameReader, encodeHeader, type Response } from "./extract-frames.ts";
import { broken, type Failure, type Outcome, toFailure, tooMuchMemory } from "./extract-outcome.ts";

export interface ExtractProcess {
  /** One document at a time. */
  run(mimeType: string, bytes: Buffer, settle: (outcome: Outcome) => void): void;
  /** Ends the process. The document that it reads is not settled. */
  stop(): void;
}

export interface ExtractProcessOptions {
  /** Of resident memory, with what the process takes by itself. */
  readonly maxMiB: number;
  /** Called once, when it can read no more documents. */
  ended(): void;
}

/** What a process takes before it reads anything, which is not in the heap. */
const restMiB = 80;
const documentsPerProcess = 200;
/** A process that holds so much of its limit after a document reads no more of them. */
const retiredAt = 0.75;
/** How a process ends that runs out of memory: by its own thread or by the system, or because its heap is full. */
const memorySignals: ReadonlySet<string> = new Set(["SIGKILL", "SIGABRT", "SIGTRAP", "SIGILL"]);

export function createExtractProcess({ maxMiB, ended }: ExtractProcessOptions): ExtractProcess {
  // Processes cost milliseconds to load, and serving starts without them.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const program = fileURLToPath(new URL("./extract-child.ts", import.meta.url));
  const flags = [`--max-old-space-size=${maxMiB - restMiB}`, "--max-semi-space-size=8"];
  const child = spawn(process.execPath, [...flags, program, `${maxMiB}`, `${process.pid}`], {
    // One arena: what one thread of the process frees, another can use.
    env: { MALLOC_ARENA_MAX: "1" },
    stdio: ["pipe", "pipe", "ignore"],
    windowsHide: true,
  });
  let settleRunning: ((outcome: Outcome) => void) | undefined;
  let documents = 0;
  let isOver = false;

  function stop(): void {
    if (isOver) return;
    isOver = true;
    settleRunning = undefined;
    child.kill("SIGKILL");
    ended();
  }

  function fail(reason: Failure): void {
    const settle = settleRunning;
    stop();
    settle?.(reason);
  }

  const take = createFrameReader<Response>(({ result, rssBytes }, bytes) => {
    const settle = settleRunning;
    settleRunning = undefined;
    // What documents leave behind must not count against the next one.
    if (rssBytes > maxMiB * retiredAt * 1024 * 1024 || documents >= documentsPerProcess) stop();
    settle?.("fault" in result ? toFailure(result.fault, result.message) : { ...result, text: bytes });
  });
  child.stdout.on("data", (piece: Buffer) => {
    try {
      if (!isOver) take(piece);
    } catch (cause) {
      fail(broken(cause));
    }
  });
  // That it has ended is said by "exit".
  child.stdin.on("error", () => undefined);
  child.stdout.on("error", () => undefined);
  child.once("error", (cause) => fail(broken(cause)));
  child.once("exit", (code, signal) => {
    const isMemory = signal === null ? code === 134 : memorySignals.has(signal);
    fail(isMemory ? tooMuchMemory(maxMiB) : broken());
  });
  // Nothing that is idle keeps the program running; whoever waits for a document has a timer.
  child.unref();
  for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref();

  return {
    run(mimeType, bytes, settled) {
      if (isOver) return settled(broken());
      documents += 1;
      settleRunning = settled;
      child.stdin.write(encodeHeader({ mimeType, byteLength: bytes.length }));
      child.stdin.write(bytes);
    },
    stop,
  };
}
