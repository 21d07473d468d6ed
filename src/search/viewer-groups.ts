/** Remembers, for groups of callers, which documents they may see. */
import { Lru } from "../lib/lru.ts";
import type { ViewerGroup } from "./searcher.ts";
import { createVisibility, type Visibility } from "./visibility.ts";

/** Groups of callers whose decisions are remembered. */
const maxViewerGroups = 32;

/** Few enough that deciding takes a few milliseconds of the main thread. */
export const undecidedAtOnce = 4000;

/** Returns what a group may see in a database, with the decisions that came with the question. */
export function createViewerGroups(): (group: ViewerGroup, file: string) => Visibility {
  const visibilities = new Lru<string, Visibility>({ maxEntries: maxViewerGroups });
  return ({ key, decided }, file) => {
    let visibility = visibilities.get(`${file} ${key}`);
    if (!visibility) visibilities.set(`${file} ${key}`, (visibility = createVisibility(file)));
    if (decided && decided.file === file && decided.after === visibility.upTo)
      visibility.decide(decided.last, decided.visible, decided.postponed, decided.again);
    return visibility;
  };
}
