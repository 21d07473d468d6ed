/** Finds commits that change how often a text occurs in a served file. Git itself would also search the files that are not served. */
import { isUtf8 } from "node:buffer";
import { decodeContent } from "../../backends/git/decode-content.ts";
import type { CommitFacts } from "../../backends/git/commits.ts";
import type { Objects } from "../../backends/git/objects.ts";
import { ifLacking, lacking } from "../../backends/git/trees.ts";
import type { ChangedEntry, ShownCommits } from "../../backends/git/shown-commits.ts";
import { createSlots } from "../../lib/create-slots.ts";
import type { Runtime } from "../../source.ts";

export interface Pickaxe {
  /**
   * Merges never match, as in git. Undefined if so much was read that the commit should be left to the next page; with `isFirst`, it is
   * searched in any case.
   */
  matches(commit: CommitFacts, isFirst: boolean): Promise<boolean | undefined>;
  /** Whether so much was read that the rest should be left to the next page. */
  readonly isSpent: boolean;
  /** What was not searched, and why. */
  notes(): string[];
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

/** Contents read for one page, and for one commit. */
const maxRead = 128 * 1024 * 1024;
const maxFileBytes = 8 * 1024 * 1024;
const maxChanges = 10_000;
/** Files that are held in memory at once, each before and after a commit. */
const filesAtOnce = 4;
const noContent = Buffer.alloc(0);

export function createPickaxe({ text, path, commits, contents, signal, redact }: PickaxeOptions): Pickaxe {
  const bytes = Buffer.from(text);
  const isAscii = bytes.length === text.length;
  const slot = createSlots(filesAtOnce);
  let read = 0;
  let skipped = 0;
  let incomplete = 0;
  let partly = 0;

  async function contentOf(side: ChangedEntry["before"]): Promise<Buffer> {
    if (side?.kind !== "file") return noContent;
    const found = await contents.find(side.hash, maxFileBytes);
    if (!found) throw lacking();
    read += found.bytes?.length ?? 0;
    if (!found.bytes) skipped += 1;
    return found.bytes ?? noContent;
  }

  function occurrences(content: Buffer): number {
    if (isAscii || isUtf8(content)) return count(content, bytes);
    return decodeContent(content).split(text).length - 1;
  }

  function occurrencesShown(content: Buffer): number {
    return redact!(decodeContent(content)).split(text).length - 1;
  }

  async function differs({ before, after }: ChangedEntry): Promise<boolean> {
    const leave = await slot(signal);
    try {
      const sides = await Promise.all([contentOf(before), contentOf(after)]);
      const [one, other] = sides.map(occurrences);
      if (one === other || !redact) return one !== other;
      const [shown, otherShown] = sides.map(occurrencesShown);
      return shown !== otherShown;
    } finally {
      leave();
    }
  }

  return {
    async matches({ hash, parents }, isFirst) {
      if (parents.length > 1) return false;
      const changes = await commits.servedChanges(hash, maxChanges, path).catch(ifLacking);
      // A file that was moved without a change is not searched.
      const gone = new Set(changes?.flatMap(({ before, after }) => (before && !after ? [before.hash] : [])));
      const moved = new Set(changes?.flatMap(({ before, after }) => (after && !before ? [after.hash] : [])));
      let isLacking = !changes;
      let isPart = changes?.length === maxChanges;
      for (const change of changes ?? []) {
        signal.throwIfAborted();
        const { before, after } = change;
        if ((!before && gone.has(after!.hash)) || (!after && moved.has(before!.hash))) continue;
        if (read >= maxRead && !isFirst) return undefined;
        // Others that are searched at the same time stop at the first limit.
        isPart ||= read >= 2 * maxRead;
        if (read >= 2 * maxRead) break;
        const isFound = await differs(change).catch(ifLacking);
        if (isFound) return true;
        isLacking ||= isFound === undefined;
      }
      if (isLacking) incomplete += 1;
      if (isPart) partly += 1;
      return false;
    },
    get isSpent() {
      return read >= maxRead;
    },
    notes: () => [
      ...(read >= maxRead
        ? ["only a part of the history was searched for this page; continue with its next page"]
        : []),
      ...(skipped > 0 ? [`${skipped} contents were too large to be searched`] : []),
      ...(incomplete > 0
        ? [`${commitCount(incomplete)} could not be searched, because the repository lacks a part of them`]
        : []),
      ...(partly > 0 ? [`${commitCount(partly)} with very many changes were searched only in part; use "path"`] : []),
    ],
  };
}

function commitCount(commits: number): string {
  return commits === 1 ? "1 commit" : `${commits} commits`;
}

function count(bytes: Buffer, text: Buffer): number {
  let found = 0;
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) found += 1;
  return found;
}
