/** Threads of the index, begun and ended. */
import { Worker, type WorkerOptions } from "node:worker_threads";

/** What has not ended by itself after this time is ended. */
const closeMs = 5000;

export function startThread(file: URL, options: WorkerOptions): Worker {
  // An older Node warns that its database is new.
  return new Worker(file, { ...options, execArgv: ["--disable-warning=ExperimentalWarning"] });
}

/** Asks a thread to end. Resolves when it has. */
export async function ended(worker: Worker): Promise<void> {
  // Of a thread that is no more.
  if (worker.threadId < 0) return;
  await new Promise<void>((resolve) => {
    const timer = setTimeout(() => void worker.terminate(), closeMs);
    worker.once("exit", () => {
      clearTimeout(timer);
      resolve();
    });
    worker.postMessage({ close: true }, []);
  });
}
