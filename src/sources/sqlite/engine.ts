/** Asks a database file in a process of its own, which is ended when a question takes too long: SQLite cannot be interrupted from here. */
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { invalid, ResourceError } from "../../errors.ts";
import type { AllowOptions } from "../database/allow-list.ts";
import type { Answers, SqliteQuery } from "./queries.ts";

export interface ToEngine {
  readonly path: string;
  readonly immutable: boolean;
  readonly allow: AllowOptions;
  readonly question: SqliteQuery;
}

export type FromEngine =
  | { readonly answer: Answers[SqliteQuery["kind"]]; readonly identity: string }
  /** A number of SQLite's, or the name of a fault of the system. */
  | { readonly fault: number | string; readonly message: string };

export interface Engine {
  ask<Q extends SqliteQuery>(question: Q, signal: AbortSignal): Promise<EngineReply<Q>>;
  /** Afterwards nothing runs. */
  close(): Promise<void>;
}

export interface EngineReply<Q extends SqliteQuery> {
  readonly answer: Answers[Q["kind"]];
  /** Which file it was asked of. */
  readonly identity: string;
}

export interface EngineOptions {
  readonly path: string;
  readonly immutable: boolean;
  /** What may be spoken of. Nothing else leaves the process. */
  readonly allow: AllowOptions;
  readonly timeoutMs: number;
  /** How long the process, and with it the file, stays open for the next question. */
  readonly idleMs?: number;
}

interface Job {
  readonly question: SqliteQuery;
  readonly signal: AbortSignal;
  resolve(said: FromEngine): void;
  reject(cause: ResourceError): void;
}

const maxWaiting = 200;

export function createEngine({ path, immutable, allow, timeoutMs, idleMs = 30_000 }: EngineOptions): Engine {
  const queue: Job[] = [];
  let child: ChildProcess | undefined;
  let current: Job | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  /** Processes that have not ended yet. */
  const living = new Set<Promise<void>>();

  function start(): ChildProcess {
    // Processes cost milliseconds to load, and serving starts without them.
    const { fork } = process.getBuiltinModule("node:child_process");
    const started = fork(fileURLToPath(new URL("./engine-process.ts", import.meta.url)), [], {
      execArgv: [],
      env: {},
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    started.on("message", (said: FromEngine) => {
      if (child !== started) return;
      const job = current;
      rest();
      job?.resolve(said);
      next();
    });
    const gone = new Promise<void>((resolve) => {
      const over = (): void => {
        resolve();
        if (child !== started) return;
        child = undefined;
        const job = current;
        rest();
        // A file that brings SQLite down does so each time.
        job?.reject(new ResourceError("unavailable", "the database file brought its reader down", { passing: false }));
        next();
      };
      started.once("exit", over);
      started.once("error", over);
    });
    living.add(gone);
    void gone.then(() => living.delete(gone));
    started.unref();
    return started;
  }

  function rest(): void {
    current = undefined;
    clearTimeout(timer);
    child?.channel?.unref();
    timer = setTimeout(stop, idleMs).unref();
  }

  function stop(): void {
    clearTimeout(timer);
    const ended = child;
    child = undefined;
    // Whoever waits for its end must not be left by a program that has nothing else to wait for.
    ended?.ref();
    ended?.kill("SIGKILL");
  }

  function next(): void {
    if (current) return;
    const job = queue.shift();
    if (job === undefined) return;
    if (job.signal.aborted) {
      job.reject(cancelled(job.signal));
      return next();
    }
    child ??= start();
    current = job;
    clearTimeout(timer);
    child.channel?.ref();
    timer = setTimeout(() => {
      stop();
      current = undefined;
      job.reject(
        new ResourceError(
          "unavailable",
          `the database file took longer than ${timeoutMs} ms; ask for less, or raise "timeoutMs"`,
          {
            passing: false,
          },
        ),
      );
      next();
    }, timeoutMs);
    child.send({ path, immutable, allow, question: job.question } satisfies ToEngine, () => undefined);
  }

  function enqueue(question: SqliteQuery, signal: AbortSignal): Promise<FromEngine> {
    if (isClosed || signal.aborted) throw cancelled(signal);
    if (queue.length >= maxWaiting)
      throw new ResourceError("busy", "many questions about this file wait already; come back in a second", {
        details: { retryAfterMs: 1000 },
      });
    return new Promise((resolve, reject) => {
      // What runs is let run: it ends by itself or by its time. Whoever leaves does not wait for it.
      const leave = (): void => reject(cancelled(signal));
      signal.addEventListener("abort", leave, { once: true });
      const over = (): void => signal.removeEventListener("abort", leave);
      queue.push({
        question,
        signal,
        resolve(said) {
          over();
          resolve(said);
        },
        reject(cause) {
          over();
          reject(cause);
        },
      });
      next();
    });
  }

  return {
    async ask<Q extends SqliteQuery>(question: Q, signal: AbortSignal) {
      const said = await enqueue(question, signal);
      if ("fault" in said) throw toError(said.fault, said.message, immutable);
      return said as EngineReply<Q>;
    },

    async close() {
      isClosed = true;
      const left = [...(current ? [current] : []), ...queue.splice(0)];
      current = undefined;
      stop();
      for (const job of left) job.reject(new ResourceError("cancelled", "the house is closing"));
      await Promise.all(living);
    },
  };
}

function cancelled(signal: AbortSignal): ResourceError {
  return new ResourceError("cancelled", "the question was withdrawn", { cause: signal.reason });
}

/** By the first byte of SQLite's number; the rest says where it was noticed. */
function toError(fault: number | string, message: string, immutable: boolean): ResourceError {
  const cause = new Error(message);
  delete cause.stack;
  const lasting = (says: string) => new ResourceError("unavailable", says, { cause, passing: false });
  const passing = (says: string) => new ResourceError("unavailable", says, { cause });
  if (fault === "KEY") return invalid("that is no key of a row of this table; take it from the page before, as it is");
  if (typeof fault === "string")
    return fault === "ENOENT"
      ? passing("the database file is not there just now")
      : new ResourceError("unavailable", "the database file cannot be opened; check who may read it", {
          cause,
          passing: false,
        });
  switch (fault & 0xff) {
    case 5:
    case 6:
      return passing("the database is locked by someone who writes; try again");
    case 7:
    case 18:
      return new ResourceError("too-large", "what was asked for needs more memory than is given to it; ask for less", {
        cause,
      });
    case 11:
      return lasting("the database file is damaged; restore it from a copy");
    case 26:
      return lasting('the file is no SQLite database; check "path"');
    case 8:
    case 14:
      return lasting(
        immutable
          ? "the database file cannot be opened; check who may read it"
          : 'the database file cannot be opened: where its folder cannot be written to, and nothing writes to the file, set "immutable"',
      );
    case 10:
      return passing("the database file cannot be read just now; try again");
    case 1:
      return new ResourceError(
        "unsupported",
        "SQLite refuses to read that: the schema of the file may not fit this version, or a view names what is gone",
        {
          cause,
        },
      );
    default:
      return new ResourceError("unexpected", "SQLite refuses the question; the log says more", { cause });
  }
}
