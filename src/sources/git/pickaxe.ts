/** Finds commits that change how often a text occurs in a served file. Git itself would also search the files that are not served. */
import { isUtf8 } from "node:buffer";
import { decodeContent } from "../../backends/git/decode-content.ts";
import type { CommitFacts } from "../../backends/git/commits.ts";
import type { Objects } from "../../backends/git/objects.ts";
import type { ChangedEntry, ShownCommits } from "../../backends/git/shown-commits.ts";
import type { Runtime } from "../../source.ts";

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
  readonly signal: AbortSignal;
  /** Masks secrets in a text. A text that occurs only in a secret is not found. */
  readonly redact: Runtime["redact"] | undefined;
}

/** Contents read for one page. */
const maxRead = 128 * 1024 * 1024;
const maxFileBytes = 8 * 1024 * 1024;
const maxChanges = 10_000;
const noContent = Buffer.alloc(0);

export function createPickaxe({ text, path, commits, contents, signal, redact }: PickaxeOptions): Pickaxe {
  const bytes = Buffer.from(text);
  const isAscii = bytes.length === text.length;
  let read = 0;
  let skipped = 0;

  async function contentOf(side: ChangedEntry["before"]): Promise<Buffer> {
    if (side?.kind !== "file") return noContent;
    const found = await contents.find(side.hash, maxFileBytes);
    read += found?.bytes?.length ?? 0;
    if (found && !found.bytes) skipped += 1;
    return found?.bytes ?? noContent;
  }

  function occurrences(content: Buffer): number {
    if (isAscii || isUtf8(content)) return count(content, bytes);
    return decodeContent(content).split(text).length - 1;
  }

  function occurrencesShown(content: Buffer): number {
    return redact!(decodeContent(content)).split(text).length - 1;
  }

  async function differs({ before, after }: ChangedEntry): Promise<boolean> {
    const sides = await Promise.all([contentOf(before), contentOf(after)]);
    const [one, other] = sides.map(occurrences);
    if (one === other || !redact) return one !== other;
    const [shown, otherShown] = sides.map(occurrencesShown);
    return shown !== otherShown;
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
      for (const change of changes) {
        signal.throwIfAborted();
        const { before, after } = change;
        if ((!before && gone.has(after!.hash)) || (!after && moved.has(before!.hash))) continue;
        if (await differs(change)) return true;
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
