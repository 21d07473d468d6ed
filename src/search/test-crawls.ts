/** Runs crawls of one mount into an index in a scratch folder, for the tests of a file. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";
import type { Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { type Crawl, createCrawl, type CrawlOptions } from "./crawl.ts";
import { openStore } from "./sqlite-store.ts";
import type { IndexStore } from "./store.ts";

interface RunningCrawl {
  readonly crawl: Crawl;
  readonly clock: ReturnType<typeof createClock>;
  readonly ran: Promise<void>;
  /** Resolves once the state of the crawl meets the condition. */
  until(isMet: (crawl: Crawl) => boolean): Promise<void>;
}

export const isComplete = ({ state }: Crawl): boolean => state.phase === "complete" && state.changes === 0;

/** State of the test that runs: `store` is its index, and `stop` ends its crawls. */
export const crawls = {} as { store: IndexStore; stop: AbortController };

/** Gives each test of the file an index of its own. */
export function useCrawls(): void {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "pressmark-crawl-"));
    crawls.store = openStore(join(folder, "index.db"));
    crawls.stop = new AbortController();
  });

  afterEach(() => {
    crawls.stop.abort();
    crawls.store.close();
    rmSync(folder, { recursive: true, force: true });
  });
}

export function begin(source: Source, more: Partial<CrawlOptions> = {}): RunningCrawl {
  const clock = createClock();
  let waiting: (() => void)[] = [];
  const crawl = createCrawl({
    mount: "m",
    source,
    store: crawls.store,
    runtime: clock.runtime,
    isWatched: true,
    maxFileBytes: 10_000,
    mayGrow: () => true,
    moved() {
      const all = waiting;
      waiting = [];
      for (const each of all) each();
    },
    ...more,
  });
  return {
    crawl,
    clock,
    ran: crawl.run(crawls.stop.signal),
    async until(isMet) {
      while (!isMet(crawl)) await new Promise<void>((resolve) => waiting.push(resolve));
    },
  };
}

/** Runs a single pass. */
export async function once(source: Source, more: Partial<CrawlOptions> = {}): Promise<void> {
  await begin(source, { isWatched: false, once: true, ...more }).ran;
}

/** Stops the crawl after the first batch. */
export function stopThenGrow(): boolean {
  crawls.stop.abort();
  return true;
}

/** Paths in the index. */
export function stored(): string[] {
  return crawls.store.stored("m", { limit: 100_000 }).map(({ path }) => path);
}

/** Paths that a search finds. */
export function found(text: string): string[] {
  return crawls.store
    .search({ text, limit: 100 })
    .map(({ entry }) => entry.path)
    .sort();
}
