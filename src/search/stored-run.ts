/** Walks the stored documents of a mount in order, one page in memory at a time. */
import { compareAddresses } from "../lib/address-order.ts";
import type { IndexStore, Stored } from "./store.ts";

const pageSize = 1000;

interface StoredRun {
  /** Stored entries before a path: they are no longer listed. */
  takeBefore(path: string): Stored[];
  takeAt(path: string): Stored[];
  /** Stored entries at this path that may be listed later, in a list without order. */
  giveBack(path: string, stored: readonly Stored[]): void;
  /** A page of the remaining entries; empty when there are none. */
  takeRest(): Stored[];
}

export function createStoredRun(store: IndexStore, mount: string): StoredRun {
  let page: readonly Stored[] = [];
  let at = 0;
  let isOver = false;

  function peek(): Stored | undefined {
    if (at >= page.length && !isOver) {
      const after = page.at(-1);
      page = store.stored(mount, { limit: pageSize, after });
      at = 0;
      isOver = page.length === 0;
    }
    return page[at];
  }

  function takeWhile(holds: (stored: Stored) => boolean, most = Infinity): Stored[] {
    const taken: Stored[] = [];
    for (let next = peek(); next && taken.length < most && holds(next); next = peek()) {
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
export function createStoredHeap(store: IndexStore, mount: string): StoredRun {
  const byPath = new Map<string, Stored[]>();
  let after: Stored | undefined;
  do {
    const page = store.stored(mount, { limit: pageSize, after });
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
