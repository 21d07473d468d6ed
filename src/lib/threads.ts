/** Runs long work in separate threads: it delays nothing else, and is ended when it takes too much time or memory. */
import { unlessAborted } from "./unless-aborted.ts";
import type { Worker } from "node:worker_threads";

/** A request to the thread: the exported function of a module, and its arguments. */
export interface ThreadRequest {
  readonly module: string;
  readonly name: string;
  readonly args: readonly unknown[];
}

export type ThreadReply = { readonly value: unknown } | { readonly failure: string };

/** Calls an exported function of the module in the thread, after earlier calls. Arguments and result are cloned. */
export type ThreadCall = <T>(name: string, ...args: readonly unknown[]) => Promise<T>;

export interface Threads {
  /**
   * Reserves one thread for this work until it settles: module state persists between its calls. State of earlier work in the thread
   * persists, too.
   */
  use<T>(module: URL, work: (call: ThreadCall) => Promise<T>, signal?: AbortSignal): Promise<T>;
  /** Nothing runs after this. */
  close(): void;
}

export interface ThreadsOptions {
  readonly name: string;
  /** Most threads; further work waits. */
  readonly max: number;
  /** A longer call is ended. */
  readonly deadlineMs: number;
  /** Memory limit of a thread. */
  readonly maxMiB: number;
  /** An idle thread holds memory, and starting one takes some hundredths of a second. */
  readonly idleMs?: number;
}

let shared: Threads | undefined;

/** Calls an exported function of a module in a shared thread. Rejects with a ThreadOverrun after 15 s. */
export function callInThread<T>(module: URL, name: string, ...args: readonly unknown[]): Promise<T> {
  shared ??= createThreads({ name: "pressmark-work", max: 2, deadlineMs: 15_000, maxMiB: 1024 });
  return shared.use(module, (call) => call<T>(name, ...args));
}

/** A call exceeded a limit; the message says which: `more than 30 s`. */
export class ThreadOverrun extends Error {
  override readonly name = "ThreadOverrun";
}

interface Thread {
  readonly call: (module: URL, name: string, args: readonly unknown[]) => Promise<unknown>;
  /** Nothing waits for its current work: it no longer keeps the process alive. */
  readonly abandon: () => void;
  /** Ends it; a running call rejects with this. */
  readonly stop: (cause: Error) => void;
  readonly isGone: () => boolean;
}

export function createThreads({ name, max, deadlineMs, maxMiB, idleMs = 10_000 }: ThreadsOptions): Threads {
  const idle: { readonly thread: Thread; readonly timer: NodeJS.Timeout }[] = [];
  const threads = new Set<Thread>();
  const waiting: ((thread: Thread) => void)[] = [];
  let isClosed = false;

  function start(): Thread {
    // Loading this takes milliseconds, which the start does not need to wait for.
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
      /** The started calls, one after the other. */
      let calls: Promise<unknown> = Promise.resolve();
      const call = <T>(exported: string, ...args: readonly unknown[]): Promise<T> => {
        const result = calls.then(() => {
          signal?.throwIfAborted();
          return thread.call(module, exported, args) as Promise<T>;
        });
        calls = result.catch(() => undefined);
        return result;
      };
      try {
        return await (signal ? unlessAborted(work(call), signal) : work(call));
      } finally {
        // Ending the thread would cost more than waiting for its work, which the deadline limits.
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
  /** Why it has ended. */
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

  // The time to start a thread on a busy machine does not count.
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
      // A pending call keeps the process alive.
      worker.ref();
      worker.postMessage({ module: module.href, name, args } satisfies ThreadRequest, []);
      return running.promise;
    },
  };
}
