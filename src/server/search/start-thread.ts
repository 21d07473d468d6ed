/** Threads of the index, begun and ended. */
import { Worker, type WorkerOptions } from "node:worker_threads";

/** What has not ended by itself after this time is ended. */
const closeMs = 5000;

export function startThread(file: URL, options: WorkerOptions): Worker {
  // An older Node warns that its database is new.
  return new Worker(file, { ...options, execArgv: ["--disable-warning=ExperimentalWarning"] });
}

export interface EndOptions {
  readonly stop?: SharedArrayBuffer;
  readonly forced?: () => void;
}

/** Asks a thread to end, with `stop` also one that is too busy to hear a message. Resolves when it has. `forced` is called where it did not by itself. */
export async function threadEnded(worker: Worker, { stop, forced }: EndOptions = {}): Promise<void> {
  if (stop) Atomics.store(new Int32Array(stop), 0, 1);
  // Of a thread that is no more.
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
