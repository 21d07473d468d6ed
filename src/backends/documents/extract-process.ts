/** Handle of one process that extracts text from documents. */
import { fileURLToPath } from "node:url";
import { createFrameReader, encodeHeader, type Response } from "./extract-frames.ts";
import { broken, type Failure, type Outcome, toFailure, tooMuchMemory } from "./extract-outcome.ts";

export interface ExtractProcess {
  /** One document at a time. */
  run(mimeType: string, bytes: Buffer, settle: (outcome: Outcome) => void): void;
  /** Kills the process. `settle` is not called for the current document. */
  stop(): void;
}

interface ExtractProcessOptions {
  /** Limit of resident memory, including that of the process itself. */
  readonly maxMiB: number;
  /** Called once, when the process can read no more documents. */
  ended(): void;
}

/** Memory of an idle process outside the heap. */
const restMiB = 80;
const documentsPerProcess = 200;
/** A process that still uses this share of its limit after a document is retired. */
const retiredAt = 0.75;
/** Signals of a process that ran out of memory: killed by its watchdog or the system, or because its heap is full. */
const memorySignals: ReadonlySet<string> = new Set(["SIGKILL", "SIGABRT", "SIGTRAP", "SIGILL"]);

export function createExtractProcess({ maxMiB, ended }: ExtractProcessOptions): ExtractProcess {
  // Loaded late: the module takes milliseconds to load, and most servers never need it.
  const { spawn } = process.getBuiltinModule("node:child_process");
  const program = fileURLToPath(new URL("./extract-child.ts", import.meta.url));
  const flags = [`--max-old-space-size=${maxMiB - restMiB}`, "--max-semi-space-size=8"];
  const child = spawn(process.execPath, [program, `${maxMiB}`, `${process.pid}`], {
    // One arena: memory freed by one thread can be reused by another. The single executable takes flags from the environment only.
    env: { MALLOC_ARENA_MAX: "1", NODE_OPTIONS: flags.join(" ") },
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
    // Memory left over from earlier documents must not count against the next one.
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
  // Ignored: the "exit" event reports the end of the process.
  child.stdin.on("error", () => undefined);
  child.stdout.on("error", () => undefined);
  child.once("error", (cause) => fail(broken(cause)));
  child.once("exit", (code, signal) => {
    const isMemory = signal === null ? code === 134 : memorySignals.has(signal);
    fail(isMemory ? tooMuchMemory(maxMiB) : broken());
  });
  // An idle process does not keep the program running; a pending document has a timer that does.
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
