/** Starts and ends index threads. */
import { Worker, type WorkerOptions } from "node:worker_threads";

/** Time limit before a thread is terminated. */
const closeMs = 5000;

export function startThread(file: URL, options: WorkerOptions): Worker {
  // An older Node warns that its database is experimental.
  return new Worker(file, { ...options, execArgv: ["--disable-warning=ExperimentalWarning"] });
}

/** Asks a thread to end; `stop` also reaches a busy one. Resolves when it has ended. Calls `forced` if it had to be terminated. */
export async function threadEnded(
  worker: Worker,
  { stop, forced }: { readonly stop?: SharedArrayBuffer; readonly forced?: () => void } = {},
): Promise<void> {
  if (stop) Atomics.store(new Int32Array(stop), 0, 1);
  // The thread has already ended.
  if (worker.threadId < 0) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => {
      forced?.();
      void worker.terminate();
    }, closeMs);
    worker.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    worker.postMessage({ close: true }, []);
  });
}
