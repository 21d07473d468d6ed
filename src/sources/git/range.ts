/** The changed files of a range of commits, `main...feature` or `v1..v2`, with counts of lines. */
import { invalid } from "../../errors.ts";
import {
  changedFiles,
  type ChangedFilesOptions,
  type CommitContext,
  countLines,
  type WorkTree,
} from "../../backends/git/commits.ts";
import { GitFailure } from "../../backends/git/program.ts";
import type { ShownCommits } from "../../backends/git/shown-commits.ts";
import type { ReadableFile } from "./readable.ts";

export const maxListedFiles = 1000;

export interface RangeFiles {
  readonly files: readonly ReadableFile[];
  readonly leftOut?: number;
  readonly truncated?: true;
}

interface RangeContext extends CommitContext {
  readonly commits: ShownCommits;
}

/** The nearest shown commit that both contain. Throws "invalid" if there is none. */
export async function mergeBase(base: string, head: string, context: RangeContext): Promise<string> {
  const hash = await commonCommit(base, head, context);
  if (hash === undefined)
    throw invalid('the two have no commit in common; compare their files with two dots instead, as in "main..feature"');
  return hash;
}

/** The same; undefined if there is none. */
export async function commonCommit(base: string, head: string, context: RangeContext): Promise<string | undefined> {
  const { program, mirror, commits, signal } = context;
  const gitDir = await mirror.ready();
  const { bytes } = await program.run(["merge-base", base, head], { gitDir, signal }).catch((cause: unknown) => {
    // Git reports a missing result as a failure without a message.
    if (cause instanceof GitFailure && cause.message === "") return { bytes: Buffer.alloc(0) };
    throw cause;
  });
  const common = bytes.toString("latin1").trim();
  return common === "" ? undefined : commits.nearest(common);
}

export async function rangeFiles(
  base: string,
  head: string | WorkTree,
  options: ChangedFilesOptions,
): Promise<RangeFiles> {
  const { files, leftOut, isCut } = await changedFiles(base, head, { ...options, renames: true });
  const listed = files.slice(0, maxListedFiles);
  const counts = await countLines(base, head, listed, options);
  return {
    files: listed.map(({ isFolder: _isFolder, isHalf: _isHalf, ...file }) => ({ ...file, ...counts.get(file.path) })),
    ...(leftOut > 0 && { leftOut }),
    ...((isCut || files.length > maxListedFiles) && { truncated: true as const }),
  };
}
