/** Loads everything that can be picked, page by page in the background, and filters it by the typed letters. */
import { fuzzyFit, foldPath } from "./fuzzy.ts";
import type { PickItem } from "./state.ts";

export interface PickMatches {
  readonly letters: string;
  /** Best first. */
  readonly items: readonly PickItem[];
  /** Total number of matches. */
  readonly count: number;
}

interface CatalogueOptions {
  found(what: PickMatches): void;
  /** Schedules a callback after other pending work. */
  later?(run: () => void): void;
  /** Maximum number of items. Default: 1,000,000. */
  readonly most?: number;
}

/** Matches shown; typing another letter narrows them. */
const maxFound = 500;
const perTurn = 4000;

interface Scored {
  readonly item: PickItem;
  readonly score: number;
}

export function createPickCatalogue({
  found,
  later = (run) => void setImmediate(run),
  most = 1_000_000,
}: CatalogueOptions) {
  const items: PickItem[] = [];
  const folded: string[] = [];
  let letters = "";
  let next = 0;
  let count = 0;
  let best: Scored[] = [];
  let isRunning = false;

  function turn(): void {
    isRunning = false;
    if (letters === "" || next >= items.length) return;
    const end = Math.min(items.length, next + perTurn);
    const fresh: Scored[] = [];
    for (; next < end; next += 1) {
      const fits = fuzzyFit(letters, folded[next]!);
      if (!fits) continue;
      count += 1;
      fresh.push({ item: items[next]!, score: fits.score });
    }
    if (fresh.length > 0) best = [...best, ...fresh].sort((one, other) => other.score - one.score).slice(0, maxFound);
    found({ letters, items: best.map(({ item }) => item), count });
    goOn();
  }

  function goOn(): void {
    if (isRunning || letters === "" || next >= items.length) return;
    isRunning = true;
    later(turn);
  }

  return {
    add(more: readonly PickItem[]): void {
      for (const item of more) {
        if (items.length >= most) break;
        items.push(item);
        folded.push(foldPath(item.path));
      }
      goOn();
    },
    get size(): number {
      return items.length;
    },
    /** The limit is reached: no more items are accepted. */
    get isFull(): boolean {
      return items.length >= most;
    },
    /** Starts a new filter, replacing the previous one. Works in slices and reports matches after each. */
    seek(text: string): void {
      letters = foldPath(text);
      next = 0;
      count = 0;
      best = [];
      if (letters !== "") found({ letters, items: [], count: 0 });
      goOn();
    },
    stop(): void {
      letters = "";
    },
  };
}
