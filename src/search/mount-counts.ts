/** Counts the documents and passages of each mount: once by reading the table, then with each change. */
import type { DatabaseSync } from "node:sqlite";

export interface MountCount {
  readonly mount: string;
  readonly documents: number;
  readonly passages: number;
}

export type MountCounts = ReturnType<typeof createMountCounts>;

/** A table of a million rows takes too long to be counted for each status. */
export function createMountCounts(database: DatabaseSync) {
  const version = database.prepare("pragma data_version");
  const count = database.prepare(`
    select mount as id, count(*) as documents, sum(passages) as passages from documents group by mount`);
  const nameOf = database.prepare("select name from mounts where id = ?");
  /** By the id of the mount. Undefined until counted. */
  let counts: Map<number, { documents: number; passages: number }> | undefined;
  /** What was added since the last commit. */
  const added = new Map<number, { documents: number; passages: number }>();
  /** Changes when another connection has written. */
  let countedVersion: number | undefined;

  function dataVersion(): number {
    return version.get()!["data_version"] as number;
  }

  return {
    /** In the order of names; without mounts that have no documents. */
    counts(): MountCount[] {
      const now = dataVersion();
      if (!counts || countedVersion !== now) {
        countedVersion = now;
        added.clear();
        counts = new Map();
        for (const { id, documents, passages } of count.all())
          counts.set(id as number, { documents: documents as number, passages: passages as number });
      }
      return [...counts]
        .filter(([, { documents }]) => documents > 0)
        .map(([id, own]) => ({ mount: nameOf.get(id)!["name"] as string, ...own }))
        .sort((left, right) => (left.mount < right.mount ? -1 : 1));
    },
    /** Adds documents to the counts of a mount, or removes them if the numbers are negative. */
    add(mount: number, documents: number, passages: number): void {
      if (counts) increase(added, mount, documents, passages);
    },
    /** Counts what was added, now that it is committed and can be found. */
    settle(): void {
      if (counts) for (const [mount, { documents, passages }] of added) increase(counts, mount, documents, passages);
      added.clear();
    },
    /** Counts again, after a transaction that was rolled back. */
    forget(): void {
      counts = undefined;
      added.clear();
    },
  };
}

function increase(
  counts: Map<number, { documents: number; passages: number }>,
  mount: number,
  documents: number,
  passages: number,
): void {
  const before = counts.get(mount) ?? { documents: 0, passages: 0 };
  counts.set(mount, { documents: before.documents + documents, passages: before.passages + passages });
}
