/** What is stored of a mount, walked along in order and held a page at a time. */
import { compareAddresses } from "../lib/address-order.ts";
import type { Store, Stored } from "./store.ts";

const pageSize = 1000;

export function createStoredRun(store: Store, mount: string) {
  let page: readonly Stored[] = [];
  let at = 0;
  let isOver = false;

  function peek(): Stored | undefined {
    if (at >= page.length && !isOver) {
      const after = page.at(-1);
      page = store.stored(mount, { limit: pageSize, ...(after && { after }) });
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
    takeRest: () => takeWhile(() => true, pageSize),
  };
}
