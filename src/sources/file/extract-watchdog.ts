/**
 * Ends its process when a document takes too much memory, or when the process that asked is gone. A thread, because the one that reads a
 * document is too busy to look at itself.
 */
import { workerData } from "node:worker_threads";

interface Watched {
  /** 1 while a document is read. */
  readonly busy: Int32Array<SharedArrayBuffer>;
  readonly maxBytes: number;
  readonly parent: number;
}

/** Memory is filled at some MiB per millisecond. */
const everyMs = 4;

const { busy, maxBytes, parent } = workerData as Watched;

for (;;) {
  Atomics.wait(busy, 0, 0);
  while (Atomics.load(busy, 0) === 1) {
    if (process.memoryUsage.rss() > maxBytes || process.ppid !== parent) process.kill(process.pid, "SIGKILL");
    Atomics.wait(busy, 0, 1, everyMs);
  }
}
