/** Everything that can be picked, loaded page by page behind the scene, and what of it fits the letters typed. */
import { fuzzyFit, foldPath } from "./fuzzy.ts";
import type { PickItem } from "./state.ts";

export interface PickCatalogue {
  add(items: readonly PickItem[]): void;
  readonly size: number;
  /** No more are taken. */
  readonly isFull: boolean;
  /** Looks for this from now on, a turn at a time, and tells what was found after each. Earlier letters are forgotten. */
  seek(letters: string): void;
  stop(): void;
}

export interface PickMatches {
  readonly letters: string;
  /** Best first. */
  readonly items: readonly PickItem[];
  /** How many fit in all. */
  readonly count: number;
}

export interface CatalogueOptions {
  found(what: PickMatches): void;
  /** Calls back when others had their turn. */
  later?(run: () => void): void;
  /** How many are taken; a million unless said. */
  readonly most?: number;
}

/** So many are shown; whoever wants to see more types one more letter. */
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
}: CatalogueOptions): PickCatalogue {
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
    add(more) {
      for (const item of more) {
        if (items.length >= most) break;
        items.push(item);
        folded.push(foldPath(item.path));
      }
      goOn();
    },
    get size() {
      return items.length;
    },
    get isFull() {
      return items.length >= most;
    },
    seek(text) {
      letters = foldPath(text);
      next = 0;
      count = 0;
      best = [];
      if (letters !== "") found({ letters, items: [], count: 0 });
      goOn();
    },
    stop() {
      letters = "";
    },
  };
}
