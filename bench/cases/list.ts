/** Pages out of 100,000 files, walked by their cursors. */
import { compare, cpuColumns, type Case, type Entrant, type Target } from "../case.ts";
import { openLanes, type Lane } from "../lanes.ts";
import { launch, type Running } from "../launch.ts";
import { list } from "../questions.ts";

interface Listing {
  readonly name: string;
  readonly title: string;
  readonly shape: "tree" | "flat";
  readonly pageSize: number;
  /** Pages walked in a round. */
  readonly pages: number;
  /** Whether every page is the first. */
  readonly again?: boolean;
  readonly targets: readonly Target[];
}

const listings: readonly Listing[] = [
  {
    name: "list-first-tree",
    title: "list the first 1,000 of 100,000 files in 100 folders, again and again, HTTP",
    shape: "tree",
    pageSize: 1000,
    pages: 20,
    again: true,
    targets: [{ says: "the first page of 1,000 in folders", column: "ratio", atMost: 1.2 }],
  },
  {
    name: "list-first-flat",
    title: "list the first 1,000 of 100,000 files in one folder, again and again, HTTP",
    shape: "flat",
    pageSize: 1000,
    pages: 6,
    again: true,
    targets: [{ says: "the first page of 1,000 in one folder", column: "ratio", atMost: 1.2 }],
  },
  {
    name: "list-tree-100",
    title: "walk pages of 100 of 100,000 files in 100 folders, HTTP",
    shape: "tree",
    pageSize: 100,
    pages: 100,
    targets: [],
  },
  {
    name: "list-tree-1000",
    title: "walk pages of 1,000 of 100,000 files in 100 folders, HTTP",
    shape: "tree",
    pageSize: 1000,
    pages: 30,
    targets: [{ says: "any page of 1,000 in folders", column: "ratio", atMost: 1.2 }],
  },
  {
    name: "list-flat-100",
    title: "walk pages of 100 of 100,000 files in one folder, HTTP",
    shape: "flat",
    pageSize: 100,
    pages: 8,
    targets: [],
  },
  {
    name: "list-flat-1000",
    title: "walk pages of 1,000 of 100,000 files in one folder, HTTP",
    shape: "flat",
    pageSize: 1000,
    pages: 8,
    targets: [{ says: "any page of 1,000 in one folder", column: "ratio", atMost: 1.2 }],
  },
];

export const listCases = listings.map(({ name, title, shape, pageSize, pages, again = false, targets }): Case => ({
  name,
  title,
  needs: [shape],
  columns: [...cpuColumns, { key: "entries", label: "entries a page", digits: 0 }],
  // A larger page spreads what each costs at its beginning over more entries.
  targets: targets.map((target) => ({
    ...target,
    comparable: ({ entries = 0 }) => Math.abs(entries - pageSize) <= pageSize / 10,
  })),
  async run({ fixture, contestants, rounds }) {
    const running: Running[] = [];
    const pageSizes = new Map<string, number>();
    try {
      const entrants: Entrant[] = [];
      for (const contestant of contestants) {
        const era = contestant.eras[0];
        if (!contestant.pages || !era) continue;
        // Whose pages grow as they are walked begins so small that they end at the size of everyone's.
        const growth = again ? 1 : (contestant.growth ?? 1);
        const started = await launch(contestant, "http", { folder: fixture[shape], pageSize: pageSize / growth });
        running.push(started);
        const drive = async (lane: Lane, count: number, from?: string) => {
          const latencies: number[] = [];
          const seen = new Set<string>();
          let entries = 0;
          let cursor = from;
          for (let page = 0; page < count; page++) {
            const begun = performance.now();
            const { body } = await lane.ask(list(cursor), true);
            latencies.push(performance.now() - begun);
            const result = pageIn(body, contestant.name);
            entries += result.resources.length;
            if (again) continue;
            for (const { uri } of result.resources) seen.add(uri);
            cursor = result.nextCursor;
            if (cursor === undefined) break;
          }
          if (!again && seen.size !== entries) throw new Error(`${contestant.name} listed something twice`);
          // Whoever gives smaller or larger pages is measured by what they hold.
          pageSizes.set(contestant.name, entries / latencies.length);
          return { units: entries / pageSize, latencies };
        };
        const first = await openLanes(started, era, 1);
        const from = growth === 1 ? undefined : await cursorAfter(first.lanes[0]!, pageSize, contestant.name);
        await drive(first.lanes[0]!, Math.ceil(pages / 2), from);
        first.close();
        entrants.push({
          name: contestant.name,
          pid: started.pid,
          async prepare() {
            const { lanes, close } = await openLanes(started, era, 1);
            return { run: () => drive(lanes[0]!, pages, from), close };
          },
        });
      }
      const rows = await compare(entrants, rounds);
      return rows.map(({ contestant, figures }) => ({
        contestant,
        figures: { ...figures, entries: pageSizes.get(contestant) ?? Number.NaN },
      }));
    } finally {
      await Promise.all(running.map(({ stop }) => stop()));
    }
  },
}));

/** Walks on until pages hold so many, or until so many entries were seen; gives the cursor of what follows. */
export async function cursorAfter(lane: Lane, pageSize: number, name: string, least = 0): Promise<string> {
  let cursor: string | undefined;
  for (let seen = 0; ;) {
    const { resources, nextCursor } = pageIn((await lane.ask(list(cursor), true)).body, name);
    seen += resources.length;
    if (nextCursor === undefined) throw new Error(`the list of ${name} is too short: ${seen}`);
    cursor = nextCursor;
    if (resources.length >= pageSize && seen >= least) return cursor;
  }
}

export function pageIn(body: string, name: string): Listed {
  const { result } = JSON.parse(body) as { result?: Listed };
  if (!result) throw new Error(`${name} gave no page: ${body.slice(0, 500)}`);
  return result;
}

export interface Listed {
  readonly resources: readonly { readonly uri: string }[];
  readonly nextCursor?: string;
}
