/** Queries a database file in a separate process, which is killed when a query takes too long: SQLite cannot be interrupted from here. */
import type { ChildProcess } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type CostAccount, costAccount } from "../../lib/cost-account.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import {
  cancelled,
  invalid,
  lastingFailure,
  ResourceError,
  shuttingDown,
  unavailable,
  unsupported,
} from "../../errors.ts";
import type { AllowOptions } from "../../backends/sql/allow-list.ts";
import type { QueryResults, SqliteQuery } from "./queries.ts";

export interface ToEngine {
  readonly path: string;
  readonly immutable: boolean;
  readonly allow: AllowOptions;
  readonly query: SqliteQuery;
}

export type FromEngine =
  | { readonly result: QueryResults[SqliteQuery["kind"]]; readonly identity: string }
  /** An SQLite result code, or the code of a system error. */
  | { readonly fault: number | string; readonly message: string };

export interface Engine {
  query<Q extends SqliteQuery>(query: Q, signal: AbortSignal): Promise<EngineReply<Q>>;
  /** Nothing runs after it resolves. */
  close(): Promise<void>;
}

interface EngineReply<Q extends SqliteQuery> {
  readonly result: QueryResults[Q["kind"]];
  /** Identity of the file that was queried. */
  readonly identity: string;
}

interface EngineOptions {
  readonly path: string;
  readonly immutable: boolean;
  /** What is served. Nothing else leaves the process. */
  readonly allow: AllowOptions;
  readonly timeoutMs: number;
  /** How long the process keeps the file open for the next query. */
  readonly idleMs?: number;
}

interface Job {
  readonly query: SqliteQuery;
  readonly signal: AbortSignal;
  readonly account: CostAccount | undefined;
  startMs: number;
  resolve(reply: FromEngine): void;
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
    // Loading this takes milliseconds, which the start does not need to wait for.
    const { fork } = process.getBuiltinModule("node:child_process");
    const started = fork(fileURLToPath(new URL("./engine-process.ts", import.meta.url)), [], {
      execArgv: [],
      env: {},
      serialization: "advanced",
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    started.on("message", (reply: FromEngine) => {
      if (child !== started) return;
      const job = current;
      rest();
      job?.resolve(reply);
      next();
    });
    const gone = new Promise<void>((resolve) => {
      const over = (): void => {
        resolve();
        if (child !== started) return;
        child = undefined;
        const job = current;
        rest();
        // A file that crashes SQLite does so each time.
        job?.reject(lastingFailure("the database file crashed its reader process"));
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

  function endJob(): void {
    current?.account?.charge("processMs", monotonicMs() - current.startMs);
    current = undefined;
  }

  function rest(): void {
    endJob();
    clearTimeout(timer);
    child?.channel?.unref();
    timer = setTimeout(stop, idleMs).unref();
  }

  function stop(): void {
    clearTimeout(timer);
    const ended = child;
    child = undefined;
    // The program must not exit while something waits for the end of this process.
    ended?.ref();
    ended?.kill("SIGKILL");
  }

  function next(): void {
    if (current) return;
    const job = queue.shift();
    if (job === undefined) return;
    if (job.signal.aborted) {
      job.reject(cancelled(job.signal.reason));
      return next();
    }
    child ??= start();
    current = job;
    job.startMs = monotonicMs();
    clearTimeout(timer);
    child.channel?.ref();
    timer = setTimeout(() => {
      stop();
      endJob();
      job.reject(lastingFailure(`the query took longer than ${timeoutMs} ms; request less, or raise "timeoutMs"`));
      next();
    }, timeoutMs);
    child.send({ path, immutable, allow, query: job.query } satisfies ToEngine, () => undefined);
  }

  function enqueue(query: SqliteQuery, signal: AbortSignal): Promise<FromEngine> {
    if (isClosed || signal.aborted) throw cancelled(signal.reason);
    if (queue.length >= maxWaiting)
      throw new ResourceError("busy", "too many queries for this file are waiting; try again in a second", {
        details: { retryAfterMs: 1000 },
      });
    const { promise, resolve, reject } = Promise.withResolvers<FromEngine>();
    queue.push({ query, signal, account: costAccount(), startMs: 0, resolve, reject });
    next();
    // A running query is not stopped: it ends by itself or at its deadline. The cancelled caller does not wait for it.
    return unlessAborted(promise, signal, cancelled);
  }

  return {
    async query<Q extends SqliteQuery>(query: Q, signal: AbortSignal) {
      const reply = await enqueue(query, signal);
      if ("fault" in reply) throw toError(reply.fault, reply.message, immutable);
      return reply as EngineReply<Q>;
    },

    async close() {
      isClosed = true;
      const left = [...(current ? [current] : []), ...queue.splice(0)];
      current = undefined;
      stop();
      for (const job of left) job.reject(shuttingDown());
      await Promise.all(living);
    },
  };
}

/** By the primary result code; the extended code says where it was noticed. */
function toError(fault: number | string, message: string, immutable: boolean): ResourceError {
  const cause = new Error(message);
  delete cause.stack;
  const lasting = (says: string) => lastingFailure(says, cause);
  const passing = (says: string) => unavailable(says, cause);
  if (fault === "KEY") return invalid("not a key of a row in this table; copy it unchanged from the previous page");
  if (typeof fault === "string")
    return fault === "ENOENT"
      ? passing("the database file does not exist at present")
      : lastingFailure("the database file cannot be opened; check its permissions", cause);
  switch (fault & 0xff) {
    case 5:
    case 6:
      return passing("the database is locked by a writer; try again");
    case 7:
    case 18:
      return new ResourceError("too-large", "the query needs more memory than allowed; request less", {
        cause,
      });
    case 11:
      return lasting("the database file is damaged; restore it from a backup");
    case 26:
      return lasting('the file is not an SQLite database; check "path"');
    case 8:
    case 14:
      return lasting(
        immutable
          ? "the database file cannot be opened; check its permissions"
          : 'the database file cannot be opened: if its folder is read-only and nothing writes to the file, set "immutable"',
      );
    case 10:
      return passing("the database file cannot be read at present; try again");
    case 1:
      return unsupported(
        "SQLite cannot read this: the schema may not fit this version, or a view names what no longer exists",
        cause,
      );
    default:
      return new ResourceError("unexpected", "SQLite rejects the query; see the log", { cause });
  }
}
