/** A store in files that several instances of a test share, and that can be taken away. It is removed after the test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { unavailable } from "../errors.ts";
import { wait } from "../lib/wait.ts";
import { createFileStore } from "./file-store.ts";
import type { Store } from "./store.ts";

export interface TestStore extends Store {
  /** Every call fails until it is called with false. */
  takeAway(isAway: boolean): void;
  /** Number of calls that change something. */
  readonly writes: number;
}

export function createTestStore(): TestStore {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-store-"));
  const store = createFileStore({ folder, runtime: { now: Date.now, wait } });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  let isAway = false;
  let writes = 0;

  function check(): void {
    if (isAway) throw unavailable("the store is away");
  }
  function reading<T extends unknown[], R>(work: (...args: T) => Promise<R>) {
    return async (...args: T): Promise<R> => {
      check();
      return work(...args);
    };
  }
  function writing<T extends unknown[], R>(work: (...args: T) => Promise<R>) {
    return reading((...args: T) => {
      writes += 1;
      return work(...args);
    });
  }

  return {
    get: reading((...args) => store.get(...args)),
    list: reading((...args) => store.list(...args)),
    put: writing((...args) => store.put(...args)),
    remove: writing((...args) => store.remove(...args)),
    append: writing((...args) => store.append(...args)),
    read(log) {
      check();
      return store.read(log);
    },
    trim: writing((...args) => store.trim(...args)),
    follow: reading((...args) => store.follow(...args)),
    close: () => store.close(),
    takeAway: (away) => void (isAway = away),
    get writes() {
      return writes;
    },
  };
}
