/** The documents that a caller may see, as if the others did not exist. */
import { createTimeSlices } from "../../lib/time-slices.ts";
import type { Caller } from "../../resources.ts";
import type { ShownFiles, VisibleFilesOf } from "../../source.ts";
import { type Arrangement, arrangementOf, type Placed } from "./arrange.ts";

export interface VisibleDocuments {
  filterFiles(visibleTo: VisibleFilesOf): void;
  /** The arrangement itself if the caller may see everything. */
  of(arrangement: Arrangement, caller: Caller): Promise<Arrangement>;
  /** The files that a document shows: its own, and the target of a link. */
  filesOf(placed: Placed): readonly ShownFiles[];
}

const seesEverything: VisibleFilesOf = () => undefined;

/** `root` is the folder of the documents, without links. */
export function createVisibleDocuments(root: string): VisibleDocuments {
  let visibleTo = seesEverything;
  let known = new WeakMap<Arrangement, WeakMap<Caller, Promise<Arrangement>>>();

  function filesOf({ document: { file, entry } }: Placed): readonly ShownFiles[] {
    const own = { path: `${root}/${file}`, isFile: true };
    return entry.reveals ? [own, { path: `${root}/${entry.reveals.path}`, isFile: true }] : [own];
  }

  async function filter({ placed }: Arrangement, caller: Caller): Promise<Arrangement> {
    const pause = createTimeSlices();
    const shown: Placed[] = [];
    for (const each of placed) {
      const waiting = pause();
      if (waiting) await waiting;
      const visible = visibleTo(caller, { path: each.address });
      if (!visible || filesOf(each).every((file) => visible.maySee(file))) shown.push(each);
    }
    const addresses = new Set(shown.map(({ address }) => address));
    return arrangementOf(
      shown.map((each) => {
        const twins = new Map([...each.twins].filter(([, address]) => addresses.has(address)));
        return twins.size === each.twins.size ? each : { ...each, twins, isPartial: true };
      }),
    );
  }

  return {
    filesOf,

    filterFiles(decide) {
      visibleTo = decide;
      known = new WeakMap();
    },

    async of(arrangement, caller) {
      const visible = visibleTo(caller, { path: "" });
      if (!visible || visible.maySee({ path: root, isWhole: true })) return arrangement;
      let byCaller = known.get(arrangement);
      if (!byCaller) known.set(arrangement, (byCaller = new WeakMap()));
      let filtered = byCaller.get(caller);
      if (!filtered) byCaller.set(caller, (filtered = filter(arrangement, caller)));
      return filtered;
    },
  };
}
