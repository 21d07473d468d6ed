/** Walks the stored documents of a mount in order, one page in memory at a time. */
import { compareAddresses } from "../lib/address-order.ts";
import type { CrawledStore, MaybePromise, Stored } from "./store.ts";

const pageSize = 1000;

interface StoredRun {
  /** Stored entries before a path: they are no longer listed. */
  takeBefore(path: string): MaybePromise<Stored[]>;
  takeAt(path: string): MaybePromise<Stored[]>;
  /** Stored entries at this path that may be listed later, in a list without order. */
  giveBack(path: string, stored: readonly Stored[]): void;
  /** A page of the remaining entries; empty when there are none. */
  takeRest(): MaybePromise<Stored[]>;
}

export function createStoredRun(store: CrawledStore, mount: string): StoredRun {
  let page: readonly Stored[] = [];
  let at = 0;
  let isOver = false;

  async function load(): Promise<void> {
    page = await store.stored(mount, { limit: pageSize, after: page.at(-1) });
    at = 0;
    isOver = page.length === 0;
  }

  async function takeWhile(holds: (stored: Stored) => boolean, most = Infinity): Promise<Stored[]> {
    const taken: Stored[] = [];
    while (taken.length < most) {
      if (at >= page.length && !isOver) await load();
      const next = page[at];
      if (!next || !holds(next)) break;
      taken.push(next);
      at += 1;
    }
    return taken;
  }

  return {
    takeBefore: (path: string) => takeWhile((stored) => compareAddresses(stored.path, path) < 0),
    takeAt: (path: string) => takeWhile((stored) => stored.path === path),
    giveBack: () => undefined,
    takeRest: () => takeWhile(() => true, pageSize),
  };
}

/** The same for a list not in the order of addresses: holds everything, and knows at the end what is gone. */
export async function createStoredHeap(store: CrawledStore, mount: string): Promise<StoredRun> {
  const byPath = new Map<string, Stored[]>();
  let after: Stored | undefined;
  do {
    const page: readonly Stored[] = await store.stored(mount, { limit: pageSize, after });
    for (const stored of page) byPath.set(stored.path, [...(byPath.get(stored.path) ?? []), stored]);
    after = page.at(-1);
  } while (after);

  function takeAt(path: string): Stored[] {
    const taken = byPath.get(path) ?? [];
    byPath.delete(path);
    return taken;
  }

  return {
    takeBefore: () => [],
    takeAt,
    giveBack: (path, stored) => void (stored.length > 0 && byPath.set(path, [...stored])),
    takeRest: () => [...byPath.keys()].slice(0, pageSize).flatMap(takeAt),
  };
}
