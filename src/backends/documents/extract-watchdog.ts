/**
 * Kills its process when a document takes too much memory, or when the parent process is gone. Runs in its own thread, because the main
 * thread is busy with the document.
 */
import { workerData } from "node:worker_threads";

interface Watched {
  /** 1 while a document is being read. */
  readonly busy: Int32Array<SharedArrayBuffer>;
  readonly maxBytes: number;
  readonly parent: number;
}

/** Memory can grow by several MiB per millisecond. */
const everyMs = 4;

const { busy, maxBytes, parent } = workerData as Watched;

for (;;) {
  Atomics.wait(busy, 0, 0);
  while (Atomics.load(busy, 0) === 1) {
    if (process.memoryUsage.rss() > maxBytes || process.ppid !== parent) process.kill(process.pid, "SIGKILL");
    Atomics.wait(busy, 0, 1, everyMs);
  }
}
