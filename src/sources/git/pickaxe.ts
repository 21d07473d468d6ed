/** Finds commits that change how often a text occurs in a served file. Git itself would also search the files that are not served. */
import { isUtf8 } from "node:buffer";
import type { CommitFacts } from "../../backends/git/commits.ts";
import type { Objects } from "../../backends/git/objects.ts";
import type { ChangedEntry, ShownCommits } from "../../backends/git/shown-commits.ts";
import { decodePatch } from "./diff.ts";

export interface Pickaxe {
  /** Merges never match, as in git. */
  matches(commit: CommitFacts): Promise<boolean>;
  /** Whether so much was read that the rest should be left to the next page. */
  readonly isSpent: boolean;
  /** Number of files that were too large to be searched. */
  readonly skipped: number;
}

interface PickaxeOptions {
  readonly text: string;
  /** Limits the search to a file or a folder. */
  readonly path: string | undefined;
  readonly commits: ShownCommits;
  readonly contents: Objects;
}

/** Contents read for one page. */
const maxRead = 128 * 1024 * 1024;
const maxFileBytes = 8 * 1024 * 1024;
const maxChanges = 10_000;

export function createPickaxe({ text, path, commits, contents }: PickaxeOptions): Pickaxe {
  const bytes = Buffer.from(text);
  const isAscii = bytes.length === text.length;
  let read = 0;
  let skipped = 0;

  async function occurrences(side: ChangedEntry["before"]): Promise<number> {
    if (side?.kind !== "file") return 0;
    const found = await contents.find(side.hash, maxFileBytes);
    read += found?.bytes?.length ?? 0;
    if (found && !found.bytes) skipped += 1;
    if (!found?.bytes) return 0;
    const isDirect = isAscii || isUtf8(found.bytes);
    return isDirect ? count(found.bytes, bytes) : decodePatch(found.bytes).split(text).length - 1;
  }

  return {
    async matches({ hash, parents }) {
      if (parents.length > 1) return false;
      const changes = (await commits.servedChanges(hash, maxChanges)).filter(
        (change) => path === undefined || change.path === path || change.path.startsWith(`${path}/`),
      );
      // A file that was moved without a change is not searched.
      const gone = new Set(changes.flatMap(({ before, after }) => (before && !after ? [before.hash] : [])));
      const moved = new Set(changes.flatMap(({ before, after }) => (after && !before ? [after.hash] : [])));
      for (const { before, after } of changes) {
        if ((!before && gone.has(after!.hash)) || (!after && moved.has(before!.hash))) continue;
        const [one, other] = await Promise.all([occurrences(before), occurrences(after)]);
        if (one !== other) return true;
      }
      return false;
    },
    get isSpent() {
      return read >= maxRead;
    },
    get skipped() {
      return skipped;
    },
  };
}

function count(bytes: Buffer, text: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) found += 1;
  return found;
}
