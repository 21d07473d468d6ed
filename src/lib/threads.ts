/** Work that may take long runs in threads of its own: it delays nothing else, and it is ended when it takes too much. */
import type { Worker } from "node:worker_threads";

/** What the thread is asked: the exported function of a module, and its arguments. */
export interface ThreadRequest {
  readonly module: string;
  readonly name: string;
  readonly args: readonly unknown[];
}

export type ThreadReply = { readonly value: unknown } | { readonly failure: string };

/** Calls an exported function of the module, in the thread, after those that were called before. Arguments and result are cloned. */
export type ThreadCall = <T>(name: string, ...args: readonly unknown[]) => Promise<T>;

export interface Threads {
  /**
   * Gives one thread to this work alone until it settles: what a call leaves in the module, the next one finds there. What is in a thread
   * already stays there.
   */
  use<T>(module: URL, work: (call: ThreadCall) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Afterwards nothing runs. */
  close(): void;
}

export interface ThreadsOptions {
  readonly name: string;
  /** How many may run at once; further work waits. */
  readonly max: number;
  /** A call that takes longer is ended. */
  readonly deadlineMs: number;
  /** What a thread may hold. */
  readonly maxMiB: number;
  /** An idle thread holds memory, and starting one takes some hundredths of a second. */
  readonly idleMs?: number;
}

let shared: Threads | undefined;

/** Calls an exported function of a module in a thread that it shares with others. Rejects with a ThreadOverrun after 15 s. */
export function callInThread<T>(module: URL, name: string, ...args: readonly unknown[]): Promise<T> {
  shared ??= createThreads({ name: "pressmark-work", max: 2, deadlineMs: 15_000, maxMiB: 1024 });
  return shared.use(module, (call) => call<T>(name, ...args));
}

/** A call took more than it may; the message says what: `more than 30 s`. */
export class ThreadOverrun extends Error {
  override readonly name = "ThreadOverrun";
}

interface Thread {
  readonly call: (module: URL, name: string, args: readonly unknown[]) => Promise<unknown>;
  /** No one waits for what it is at: it no longer keeps the process alive. */
  readonly abandon: () => void;
  /** Ends it; a call that is running rejects with this. */
  readonly stop: (cause: Error) => void;
  readonly isGone: () => boolean;
}

export function createThreads({ name, max, deadlineMs, maxMiB, idleMs = 10_000 }: ThreadsOptions): Threads {
  const idle: { readonly thread: Thread; readonly timer: NodeJS.Timeout }[] = [];
  const threads = new Set<Thread>();
  const waiting: ((thread: Thread) => void)[] = [];
  let isClosed = false;

  function start(): Thread {
    // Threads take milliseconds to load, and serving starts without them.
    const { Worker: Started } = process.getBuiltinModule("node:worker_threads");
    const worker = new Started(new URL("./thread-worker.ts", import.meta.url), {
      name,
      env: {},
      execArgv: [],
      // Keeps the thread's output out of stdout, which may carry the protocol.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: maxMiB },
    });
    const thread = createThread(worker, deadlineMs, () => {
      threads.delete(thread);
      const at = idle.findIndex((each) => each.thread === thread);
      if (at >= 0) clearTimeout(idle.splice(at, 1)[0]!.timer);
      if (isClosed) for (const next of waiting.splice(0)) next(thread);
      else if (waiting.length > 0 && threads.size < max) waiting.shift()!(start());
    });
    threads.add(thread);
    return thread;
  }

  function lease(): Promise<Thread> {
    const free = idle.pop();
    if (free) {
      clearTimeout(free.timer);
      return Promise.resolve(free.thread);
    }
    if (threads.size < max) return Promise.resolve(start());
    return new Promise((resolve) => waiting.push(resolve));
  }

  function release(thread: Thread): void {
    if (thread.isGone()) return;
    const next = waiting.shift();
    if (next) return next(thread);
    const timer = setTimeout(() => thread.stop(new Error("the thread was idle")), idleMs).unref();
    idle.push({ thread, timer });
  }

  return {
    async use(module, work, signal) {
      if (isClosed) throw new Error("the threads were closed");
      if (!process.getBuiltinModule("node:worker_threads").isMainThread) return work(callHere(module));
      const thread = await lease();
      /** The calls that were begun, one after the other. */
      let calls: Promise<unknown> = Promise.resolve();
      const call = <T>(exported: string, ...args: readonly unknown[]): Promise<T> => {
        const answer = calls.then(() => {
          signal?.throwIfAborted();
          return thread.call(module, exported, args) as Promise<T>;
        });
        calls = answer.catch(() => undefined);
        return answer;
      };
      try {
        return await untilAborted(work(call), signal);
      } finally {
        // To end the thread would cost more than to wait for what it is at, which the deadline bounds.
        if (signal?.aborted) thread.abandon();
        void calls.then(() => release(thread));
      }
    },
    close() {
      isClosed = true;
      for (const thread of threads) thread.stop(new Error("the threads were closed"));
    },
  };
}

function callHere(module: URL): ThreadCall {
  return async <T>(name: string, ...args: readonly unknown[]) => {
    const { [name]: called } = (await import(module.href)) as Readonly<Record<string, (...args: unknown[]) => unknown>>;
    return called!(...args) as T;
  };
}

function createThread(worker: Worker, deadlineMs: number, whenGone: () => void): Thread {
  let running: PromiseWithResolvers<unknown> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isOnline = false;
  /** Why it is gone. */
  let gone: Error | undefined;
  // Its output is not read: a stream that is read keeps the process alive.
  worker.unref();

  function settle(): PromiseWithResolvers<unknown> | undefined {
    clearTimeout(timer);
    worker.unref();
    const settled = running;
    running = undefined;
    return settled;
  }

  function stop(cause: Error): void {
    if (gone) return;
    gone = cause;
    void worker.terminate();
    settle()?.reject(cause);
    whenGone();
  }

  function startTimer(): void {
    timer = setTimeout(() => stop(new ThreadOverrun(`more than ${deadlineMs / 1000} s`)), deadlineMs);
  }

  // What a busy machine takes to start a thread is no fault of the work.
  worker.once("online", () => {
    isOnline = true;
    if (running) startTimer();
  });
  worker.on("message", (reply: ThreadReply) => {
    const settled = settle();
    if ("value" in reply) settled?.resolve(reply.value);
    else settled?.reject(new Error(reply.failure));
  });
  worker.on("error", (cause: NodeJS.ErrnoException) =>
    stop(cause.code === "ERR_WORKER_OUT_OF_MEMORY" ? new ThreadOverrun("too much memory") : cause),
  );
  worker.once("exit", () => stop(new Error("the thread ended")));

  return {
    isGone: () => gone !== undefined,
    abandon: () => worker.unref(),
    stop,
    call(module, name, args) {
      if (gone) return Promise.reject(gone);
      running = Promise.withResolvers();
      if (isOnline) startTimer();
      // Whoever waits for an answer keeps the process alive.
      worker.ref();
      worker.postMessage({ module: module.href, name, args } satisfies ThreadRequest, []);
      return running.promise;
    },
  };
}

/** Rejects with the signal's reason once it aborts, whatever becomes of the work. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(toError(signal.reason));
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

function toError(cause: unknown): Error {
  return cause instanceof Error ? cause : new Error("cancelled", { cause });
}
