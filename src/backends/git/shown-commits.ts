/** Decides which commits are shown: a commit that changes only hidden paths, compared with its first parent, is not. */
import { isUtf8 } from "node:buffer";
import { createTimeSlices } from "../../lib/time-slices.ts";
import type { Maybe } from "../disk/steps.ts";
import { ResourceError } from "../../errors.ts";
import { type CommitContext, shallowEnds } from "./commits.ts";
import type { HistoryRules } from "./history-rules.ts";
import type { Objects } from "./objects.ts";
import { GitFailure } from "./program.ts";
import type { GitRepository } from "./repository.ts";
import { differences, type RawEntry } from "./tree-differences.ts";
import { isPossible, kindOfMode, lacking, maxTreeBytes, type TreeEntry, type GitTrees } from "./trees.ts";

export interface ShownCommits {
  /** A commit without changes is shown; one that cannot be judged, because the repository lacks a part of it, is not. */
  isShown(commit: string): Maybe<boolean>;
  /** Whether a commit changes something served at or below a path. */
  touches(commit: string, path: string): Promise<boolean>;
  /**
   * The commit itself or, if it is not shown, the nearest earlier one along first parents that is: the served files are the same in both.
   * Undefined if there is none.
   */
  nearest(commit: string): Maybe<string | undefined>;
  /** The nearest shown commit of each, without duplicates. */
  nearestOf(commits: readonly string[]): Maybe<string[]>;
  /** Caches the links of a commit, so that git need not be called again. */
  note(commit: string, links: CommitLinks): void;
}

/** For a folder of a repository: commits that do not touch it are part of its history, too. */
export const allCommits: ShownCommits = {
  isShown: () => true,
  touches: async () => true,
  nearest: (commit) => commit,
  nearestOf: (commits) => [...commits],
  note: () => undefined,
};

interface CommitLinks {
  readonly tree: string;
  /** The first parent. */
  readonly parent: string | undefined;
}

interface ShownCommitsOptions {
  readonly repository: GitRepository;
  readonly rules: HistoryRules;
  readonly trees: GitTrees;
  readonly contents: Objects;
  /** In bytes. */
  readonly hashBytes: () => number;
}

type Place = readonly [path: string, entry: TreeEntry];

/** The changes of a commit. Judged again on each call, because the rules may have changed. */
interface Finding {
  /** A changed path that was served. */
  readonly served?: Place;
  /** All changed paths that were hidden: while all of them are, the commit is not shown. Undefined if there are too many. */
  readonly hidden: readonly Place[] | undefined;
}

const recent = 50;
const maxCached = 20_000;
const maxHiddenCached = 16;
const maxCommitBytes = 16 * 1024 * 1024;
/** Limit of consecutive hidden commits that are skipped. */
const maxPassed = 10_000;
const maxCachedBytes = 8 * 1024 * 1024;
const noTree = Buffer.alloc(0);

export function createShownCommits({
  repository,
  rules,
  trees,
  contents,
  hashBytes,
}: ShownCommitsOptions): ShownCommits {
  const links = new Map<string, CommitLinks>();
  const findings = new Map<string, Finding>();
  const judging = new Map<string, Promise<boolean>>();
  /** Recently read trees, oldest first: successive commits share most of them. */
  const cachedTrees = new Map<string, Buffer>();
  const fetching = new Map<string, Promise<Buffer>>();
  let keptBytes = 0;
  let round: PromiseWithResolvers<void> | undefined;
  let pending = 0;

  function note(commit: string, commitLinks: CommitLinks): void {
    if (links.size >= maxCached) links.clear();
    links.set(commit, commitLinks);
  }

  /** Undefined if the repository lacks the commit, as beyond the end of a shallow clone. */
  async function linksOf(commit: string): Promise<CommitLinks | undefined> {
    const known = links.get(commit);
    if (known) return known;
    const found = await contents.find(commit, maxCommitBytes);
    if (found?.type !== "commit" || !found.bytes) return undefined;
    const head = found.bytes.toString("latin1", 0, 512);
    const [, tree = "", parent] = /^tree ([0-9a-f]+)\n(?:parent ([0-9a-f]+)\n)?/.exec(head) ?? [];
    const commitLinks = { tree, parent: shallowEnds(repository)?.has(commit) ? undefined : parent };
    note(commit, commitLinks);
    return commitLinks;
  }

  async function entryAt(commit: string | undefined, path: string): Promise<TreeEntry | undefined> {
    if (commit === undefined || !(await linksOf(commit))) return undefined;
    return trees.find(commit, path.split("/"));
  }

  /**
   * Requests trees in rounds, the next when all of the last have arrived. Judging many commits concurrently then takes one write to git per
   * tree depth, instead of one per tree.
   */
  async function inRounds<T>(work: () => Promise<T>): Promise<T> {
    if (!round) {
      round = Promise.withResolvers();
      if (pending === 0) setImmediate(beginRound);
    }
    await round.promise;
    pending += 1;
    try {
      return await work();
    } finally {
      pending -= 1;
      if (pending === 0) beginRound();
    }
  }

  function beginRound(): void {
    round?.resolve();
    round = undefined;
  }

  async function fetchTree(hash: string): Promise<Buffer> {
    const found = await inRounds(() => contents.find(hash, maxTreeBytes));
    if (found?.type !== "tree" || !found.bytes) throw lacking();
    // A copy, because the bytes are part of a larger buffer.
    const bytes = Buffer.from(found.bytes);
    cachedTrees.set(hash, bytes);
    keptBytes += bytes.length;
    for (const [oldest, { length }] of cachedTrees) {
      if (keptBytes <= maxCachedBytes || oldest === hash) break;
      cachedTrees.delete(oldest);
      keptBytes -= length;
    }
    return bytes;
  }

  async function readTree(hash: string | undefined): Promise<Buffer> {
    if (hash === undefined) return noTree;
    const known = cachedTrees.get(hash) ?? fetching.get(hash);
    if (known) return known;
    const fetched = fetchTree(hash).finally(() => fetching.delete(hash));
    fetching.set(hash, fetched);
    return fetched;
  }

  /** A served path that differs between two trees. Differing hidden paths are added to `hidden`. */
  async function findServed(
    folder: string,
    before: string | undefined,
    after: string | undefined,
    hidden: Place[],
  ): Promise<Place | undefined> {
    const isServed = await rules.namesIn(folder);
    if (!isServed) {
      // The rules have changed in the meantime.
      hidden.push([folder, { kind: "folder", hash: "" }]);
      return undefined;
    }
    const pause = createTimeSlices();
    const deeper: (readonly [path: string, before: string | undefined, after: string | undefined])[] = [];
    const [old, now] = await Promise.all([readTree(before), readTree(after)]);
    for (const each of differences(old, now, hashBytes())) {
      const waiting = pause();
      if (waiting) await waiting;
      const name = isUtf8(each.name) ? each.name.toString("utf8") : "";
      // Impossible names are neither served nor hidden.
      if (!isPossible(name)) continue;
      const path = folder === "" ? name : `${folder}/${name}`;
      const sides = [each.before, each.after].map(toEntry);
      const folders = sides.map((side) => (side?.kind === "folder" ? side.hash : undefined));
      if (folders.some((hash) => hash !== undefined)) {
        if (isServed(name, "folder")) deeper.push([path, folders[0], folders[1]]);
        else hidden.push([path, { kind: "folder", hash: "" }]);
      }
      for (const side of sides) {
        if (!side || side.kind === "folder") continue;
        if (await rules.serves(path, side)) return [path, side];
        hidden.push([path, side]);
      }
    }
    for (const [path, one, other] of deeper) {
      const found = await findServed(path, one, other, hidden);
      if (found) return found;
    }
    return undefined;
  }

  async function look(commit: string): Promise<Finding> {
    const own = await linksOf(commit);
    if (!own) throw lacking();
    const parent = own.parent === undefined ? undefined : await linksOf(own.parent);
    if (own.tree === parent?.tree) return { hidden: [] };
    const hidden: Place[] = [];
    const served = await findServed("", parent?.tree, own.tree, hidden);
    if (served) return { served, hidden: undefined };
    return { hidden: hidden.length > maxHiddenCached ? undefined : hidden };
  }

  /** Whether the earlier result still holds; undefined if it must be determined again. */
  async function judgeAgain({ served, hidden }: Finding): Promise<boolean | undefined> {
    if (served) return (await rules.serves(...served)) || undefined;
    if (!hidden) return undefined;
    if (hidden.length === 0) return true;
    return (await rules.servesEach(hidden)).includes(true) ? undefined : false;
  }

  async function judge(commit: string): Promise<boolean> {
    const known = findings.get(commit);
    const verdict = known && (await judgeAgain(known));
    if (verdict !== undefined) return verdict;
    try {
      const found = await look(commit);
      if (findings.size >= maxCached) findings.clear();
      findings.set(commit, found);
      return found.served !== undefined || found.hidden?.length === 0;
    } catch (cause) {
      if (cause instanceof ResourceError && cause.kind === "not-found") return false;
      throw cause;
    }
  }

  function isShown(commit: string): Maybe<boolean> {
    const known = findings.get(commit);
    if (known?.hidden?.length === 0 || (known?.served && rules.serves(...known.served) === true)) return true;
    let answer = judging.get(commit);
    if (!answer) {
      answer = judge(commit).finally(() => judging.delete(commit));
      judging.set(commit, answer);
    }
    return answer;
  }

  async function nearestBehind(commit: string): Promise<string | undefined> {
    let at: string | undefined = commit;
    for (let passed = 0; at !== undefined && passed < maxPassed; passed += 1) {
      if (await isShown(at)) return at;
      at = (await linksOf(at))?.parent;
    }
    return undefined;
  }

  function nearest(commit: string): Maybe<string | undefined> {
    return isShown(commit) === true ? commit : nearestBehind(commit);
  }

  return {
    isShown,
    nearest,
    note,

    async touches(commit, path) {
      const sides = [await entryAt((await linksOf(commit))?.parent, path), await entryAt(commit, path)];
      for (const side of sides) if (side && side.kind !== "folder" && (await rules.serves(path, side))) return true;
      const [before, after] = sides.map((side) => (side?.kind === "folder" ? side.hash : undefined));
      return (await findServed(path, before, after, [])) !== undefined;
    },

    nearestOf(commits) {
      const found = commits.map(nearest);
      return found.every((each) => typeof each === "string") ? unique(found) : Promise.all(found).then(unique);
    },
  };
}

/** Judges as many commits of HEAD as the first page of a log contains. */
export async function judgeRecent(
  { isShown }: ShownCommits,
  { program, mirror, signal }: CommitContext,
): Promise<void> {
  const gitDir = await mirror.ready();
  const args = ["rev-list", `--max-count=${recent}`, "--ignore-missing", "HEAD", "--"];
  const { bytes } = await program.run(args, { gitDir, signal }).catch((cause: unknown) => {
    // A repository without commits.
    if (cause instanceof GitFailure) return { bytes: Buffer.alloc(0) };
    throw cause;
  });
  const hashes = bytes
    .toString("latin1")
    .split("\n")
    .filter((line) => line !== "");
  await Promise.all(hashes.map(isShown));
}

function unique(commits: readonly (string | undefined)[]): string[] {
  return [...new Set(commits.filter((commit) => commit !== undefined))];
}

function toEntry(entry: RawEntry | undefined): TreeEntry | undefined {
  return entry && { kind: kindOfMode(entry.mode), hash: entry.hash };
}
