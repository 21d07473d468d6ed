/** What the files of a checkout change since its branch left another, committed or not: a list, or the patch of one of them. */
import { randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, lstat, rm, utimes } from "node:fs/promises";
import { join } from "node:path";
import { invalid, notFound, ResourceError } from "../../errors.ts";
import { changedFiles, maxNamed, type WorkTree } from "../../backends/git/commits.ts";
import type { OpenRepository } from "../../backends/git/open-repository.ts";
import type { Commit } from "../../backends/git/refs.ts";
import type { Part } from "../../source.ts";
import { readDiff } from "./diff.ts";
import { commonCommit, maxListedFiles, type RangeFiles, rangeFiles } from "./range.ts";

interface ChangesContext extends OpenRepository {
  readonly signal: AbortSignal;
  /** Hash of the empty tree. */
  readonly emptyTree: string;
  /** Throws "not-found" for a ref that the caller may not see. */
  side(ref: string): Promise<Commit>;
}

interface Changes extends RangeFiles {
  /** The ref that the checkout is compared with. */
  readonly base: string;
  /** The commit at which the two parted; null before the first commit. */
  readonly from: string | null;
  /** True if they have no commit in common, as in a shallow clone: `from` is the commit of the base. */
  readonly isUnrelated?: true;
}

/** Where work usually begins, best first. HEAD leaves what is not committed. */
const usualBases = ["origin/HEAD", "main", "master", "HEAD"];
const maxUntrackedBytes = 8 * 1024 * 1024;

export async function readChanges(base: string | undefined, context: ChangesContext): Promise<Changes> {
  const { commit, ...found } = await findBase(base, context);
  return withWorkTree(context, async (head) => {
    const { files, leftOut = 0, truncated } = await rangeFiles(commit ?? context.emptyTree, head, context);
    const untracked = await untrackedFiles(head, context);
    const all = [...files, ...untracked.files.map((path) => ({ path, change: "added", untracked: true as const }))];
    all.sort((one, other) => (one.path < other.path ? -1 : 1));
    const missing = leftOut + untracked.leftOut;
    return {
      ...found,
      from: commit ?? null,
      files: all.slice(0, maxListedFiles),
      ...(missing > 0 && { leftOut: missing }),
      ...((truncated || untracked.isCut || all.length > maxListedFiles) && { truncated: true as const }),
    };
  });
}

/** The patch of everything, of a file or of a folder; a renamed file is shown with its previous name. Without untracked files. */
export async function readChangesPatch(
  base: string | undefined,
  path: string | undefined,
  context: ChangesContext,
): Promise<Part> {
  const from = (await findBase(base, context)).commit ?? context.emptyTree;
  return withWorkTree(context, async (head) => {
    if (path === undefined) return readDiff(from, head, context);
    const { files } = await changedFiles(from, head, { ...context, renames: true });
    const wanted = files.filter((file) => file.path === path || file.path.startsWith(`${path}/`));
    const paths = wanted.flatMap((file) => (file.from === undefined ? [file.path] : [file.from, file.path]));
    if (paths.length === 0) return { body: { text: "" }, mimeType: "text/x-diff" };
    if (paths.length > maxNamed)
      throw invalid(`the patch has more than ${maxNamed} files; request those of one folder`);
    return readDiff(from, head, { ...context, paths });
  });
}

async function findBase(wanted: string | undefined, context: ChangesContext) {
  const { repository, side } = context;
  if (repository.isBare) throw notFound("changes");
  const head = await side("HEAD").catch(undefinedIfMissing);
  if (wanted !== undefined && (head || wanted !== "HEAD"))
    return { base: wanted, ...(await parting((await side(wanted)).hash, head, context)) };
  for (const base of wanted === undefined ? usualBases : []) {
    const commit = await side(base).catch(undefinedIfMissing);
    if (commit) return { base, ...(await parting(commit.hash, head, context)) };
  }
  return { base: "HEAD", commit: undefined };
}

/** Throws "not-found" for an unknown base. Before the first commit, HEAD is one. */
export async function checkBase(base: string, { side }: Pick<ChangesContext, "side">): Promise<void> {
  if (base !== "HEAD") await side(base);
}

/** Where the two parted; if nowhere, the base itself. */
async function parting(base: string, head: Commit | undefined, context: ChangesContext) {
  if (!head) return { commit: undefined };
  if (base === context.emptyTree) return { commit: base };
  const commit = await commonCommit(base, head.hash, context);
  return commit === undefined
    ? { commit: await context.commits.nearest(base), isUnrelated: true as const }
    : { commit };
}

function undefinedIfMissing(cause: unknown): undefined {
  if (!(cause instanceof ResourceError) || cause.kind !== "not-found") throw cause;
}

async function withWorkTree<T>(
  { mirror, repository }: ChangesContext,
  use: (head: WorkTree) => Promise<T>,
): Promise<T> {
  const own = join(repository.gitDir, "index");
  const index = join(await mirror.refresh(), `index-${randomUUID()}`);
  try {
    // Without an index nothing is tracked.
    const found = await lstat(own).catch(() => undefined);
    if (found?.isFile()) {
      await copyFile(own, index, constants.COPYFILE_FICLONE);
      // Git reads a file again if it is not older than the index: a copy must not look newer.
      const seconds = Math.floor(found.mtimeMs / 1000);
      await utimes(index, seconds, seconds);
    }
    return await use({ root: repository.root, index });
  } finally {
    await rm(index, { force: true });
  }
}

/** Files that git does not know and does not ignore. Names that are not UTF-8, and other repositories, are left out. */
async function untrackedFiles({ root, index }: WorkTree, { program, mirror, rules, signal }: ChangesContext) {
  const { bytes, isCut } = await program.run(["ls-files", "-z", "--others", "--exclude-standard"], {
    gitDir: await mirror.ready(),
    signal,
    maxBytes: maxUntrackedBytes,
    cwd: root,
    env: { GIT_WORK_TREE: root, GIT_INDEX_FILE: index },
    less: '"status"',
  });
  const paths = bytes.toString("utf8").split("\0").slice(0, -1);
  const named = paths.filter((path) => !path.endsWith("/") && !path.includes("\ufffd"));
  const served = await rules.servesEach(named.map((path) => [path, { kind: "file", hash: "" }] as const));
  return {
    files: named.filter((_, at) => served[at]),
    leftOut: named.filter((path, at) => !served[at] && !rules.isForbidden(path, "file")).length,
    isCut,
  };
}
