/** Branches, tags and other refs for a caller who may not see every commit: commits that are not shown do not exist. */
import { notFound } from "../../errors.ts";
import { parseRef } from "./ref-name.ts";
import type { Objects } from "./objects.ts";
import type { Refs } from "./refs.ts";
import type { ShownCommits } from "./shown-commits.ts";

/** Limit of steps back from a ref. */
const maxSteps = 10_000;

export function createVisibleRefs(refs: Refs, commits: ShownCommits, headers: Objects): Refs {
  let onResolve: ((ref: string, hash: string) => void) | undefined;

  async function stepBack(from: string, steps: string): Promise<string | undefined> {
    let at: string | undefined = from;
    let taken = 0;
    for (const [, kind, digits] of steps.matchAll(/([~^])(\d*)/g)) {
      const count = digits === "" ? 1 : Number(digits);
      // `~3` is three times the first parent, `^3` the third parent.
      const ways = kind === "~" ? Array<number>(Math.min(count, maxSteps + 1)).fill(0) : count === 0 ? [] : [count - 1];
      for (const way of ways) {
        if (at === undefined || (taken += 1) > maxSteps) return undefined;
        at = (await commits.parentsOf(at))[way];
      }
    }
    return at;
  }

  return {
    async resolve(ref) {
      const parsed = parseRef(ref);
      if (!parsed) throw notFound(ref);
      const named = await refs.resolve(parsed.name);
      if (named.byHash !== undefined && !(await commits.isShown(named.byHash))) throw notFound(ref);
      const start = await commits.nearest(named.hash);
      const hash = start === undefined ? undefined : await stepBack(start, parsed.steps);
      if (hash === undefined) throw notFound(ref);
      const isPinned = named.isPinned && parsed.steps === "";
      if (!isPinned) onResolve?.(ref, hash);
      return { hash, isPinned, byHash: named.byHash, ...(parsed.steps === "" && { tip: named.hash }) };
    },

    async all(signal) {
      const found = await Promise.all(
        (await refs.all(signal)).map(async ({ name, hash }) => {
          const commit = await headers.find(`${hash}^{commit}`);
          const shown = commit && (await commits.nearest(commit.hash));
          return shown === undefined ? [] : [{ name, hash: shown }];
        }),
      );
      return found.flat();
    },

    onResolved(listener) {
      onResolve = listener;
    },
  };
}
