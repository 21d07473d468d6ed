/** Decides which commits are shown: a commit that changes only hidden paths, compared with its first parent, is not. */
import { isUtf8 } from "node:buffer";
import { createTimeSlices } from "../../lib/time-slices.ts";
import type { Maybe } from "../disk/steps.ts";
import type { CommitLinks, CommitTrees } from "./commit-trees.ts";
import type { CommitContext } from "./commits.ts";
import type { HistoryRules } from "./history-rules.ts";
import { GitFailure } from "./program.ts";
import { differences, type RawEntry } from "./tree-differences.ts";
import { ifLacking, isPossible, kindOfMode, lacking, type TreeEntry, type GitTrees } from "./trees.ts";

export interface ShownCommits {
  /** A commit without changes is shown; one that cannot be judged, because the repository lacks a part of it, is not. */
  isShown(commit: string): Maybe<boolean>;
  /** Whether a commit changes something served at or below a path. */
  touches(commit: string, path: string): Promise<boolean>;
  /** The served files that a commit changes at or below a path, compared with its first parent and without renames: at most `max`. */
  servedChanges(commit: string, max: number, below?: string): Promise<ChangedEntry[]>;
  /**
   * The commit itself or, if it is not shown, the nearest earlier one along first parents that is: the served files are the same in both.
   * Undefined if there is none.
   */
  nearest(commit: string): Maybe<string | undefined>;
  /** The nearest shown commit of each, without duplicates. */
  nearestOf(commits: readonly string[]): Maybe<string[]>;
  /** Whether the message of a commit may be shown: not if it changes a path that an access rule hides from the caller. */
  showsMessage(commit: string): Maybe<boolean>;
  /** The parents that the commit has if commits that are not shown do not exist. */
  parentsOf(commit: string): Promise<readonly string[]>;
  note: CommitTrees["note"];
  linksOf: CommitTrees["linksOf"];
}

/** A file before and after a commit; undefined where it does not exist or is not served. */
export interface ChangedEntry {
  readonly path: string;
  readonly before: TreeEntry | undefined;
  readonly after: TreeEntry | undefined;
}

/** For a folder of a repository: commits that do not touch it are part of its history, too. */
export const allCommits: ShownCommits = {
  isShown: () => true,
  touches: async () => true,
  servedChanges: async () => [],
  nearest: (commit) => commit,
  nearestOf: (commits) => [...commits],
  showsMessage: () => true,
  parentsOf: async () => [],
  note: () => undefined,
  linksOf: async () => undefined,
};

interface ShownCommitsOptions {
  readonly rules: HistoryRules;
  readonly trees: GitTrees;
  readonly commitTrees: CommitTrees;
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
/** Limit of consecutive hidden commits that are skipped. */
const maxPassed = 10_000;

export function createShownCommits({ rules, trees, commitTrees, hashBytes }: ShownCommitsOptions): ShownCommits {
  const { linksOf, readTree, note } = commitTrees;
  const findings = new Map<string, Finding>();
  /** Whether the message of a commit is shown. Access rules do not change for as long as this object is used. */
  const messages = new Map<string, boolean>();
  const judging = new Map<string, Promise<boolean>>();
  async function entryAt(commit: string | undefined, path: string): Promise<TreeEntry | undefined> {
    if (commit === undefined || !(await linksOf(commit))) return undefined;
    return trees.find(commit, path.split("/"));
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

  /** Adds the served files that differ between two trees at or below a path, until there are `max`. */
  async function addServed(
    folder: string,
    [before, after]: readonly (string | undefined)[],
    found: ChangedEntry[],
    max: number,
    below: string | undefined,
  ): Promise<void> {
    const isServed = await rules.namesIn(folder);
    if (!isServed) return;
    const pause = createTimeSlices();
    const [old, now] = await Promise.all([readTree(before), readTree(after)]);
    for (const each of differences(old, now, hashBytes())) {
      const waiting = pause();
      if (waiting) await waiting;
      if (found.length >= max) return;
      const name = isUtf8(each.name) ? each.name.toString("utf8") : "";
      if (!isPossible(name)) continue;
      const path = folder === "" ? name : `${folder}/${name}`;
      if (below !== undefined && !isWithin(path, below) && !isWithin(below, path)) continue;
      const sides = [each.before, each.after].map(toEntry);
      const folders = sides.map((side) => (side?.kind === "folder" ? side.hash : undefined));
      if (folders.some((hash) => hash !== undefined) && isServed(name, "folder"))
        await addServed(path, folders, found, max, below);
      const [one, other] = await Promise.all(
        sides.map(async (side) =>
          side && side.kind !== "folder" && (await rules.serves(path, side)) ? side : undefined,
        ),
      );
      if ((one ?? other) && (below === undefined || isWithin(path, below)))
        found.push({ path, before: one, after: other });
    }
  }

  async function firstParentTree({ parents: [first] }: CommitLinks): Promise<string | undefined> {
    return first === undefined ? undefined : (await linksOf(first))?.tree;
  }

  /** Whether a path differs between two trees that an access rule hides from the caller. */
  async function hasForbidden(folder: string, before: string | undefined, after: string | undefined): Promise<boolean> {
    const pause = createTimeSlices();
    const [old, now] = await Promise.all([readTree(before), readTree(after)]);
    for (const each of differences(old, now, hashBytes())) {
      const waiting = pause();
      if (waiting) await waiting;
      const name = isUtf8(each.name) ? each.name.toString("utf8") : "";
      // Rules cannot judge such a name.
      if (!isPossible(name)) return true;
      const path = folder === "" ? name : `${folder}/${name}`;
      const sides = [each.before, each.after].map(toEntry);
      if (sides.some((side) => side && rules.isForbidden(path, side.kind))) return true;
      const folders = sides.map((side) => (side?.kind === "folder" ? side.hash : undefined));
      const isDeeper = folders.some((hash) => hash !== undefined) && !rules.isOpen(path);
      if (isDeeper && (await hasForbidden(path, folders[0], folders[1]))) return true;
    }
    return false;
  }

  async function judgeMessage(commit: string): Promise<boolean> {
    const own = await linksOf(commit);
    const isHidden = own && (await hasForbidden("", await firstParentTree(own), own.tree).catch(ifLacking));
    // A commit that cannot be judged may change hidden files.
    const mayShow = isHidden === false;
    if (messages.size >= maxCached) messages.clear();
    messages.set(commit, mayShow);
    return mayShow;
  }

  async function look(commit: string): Promise<Finding> {
    const own = await linksOf(commit);
    if (!own) throw lacking();
    const parentTree = await firstParentTree(own);
    if (own.tree === parentTree) return { hidden: [] };
    const hidden: Place[] = [];
    const served = await findServed("", parentTree, own.tree, hidden);
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
      return ifLacking(cause) ?? false;
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
      at = (await linksOf(at))?.parents[0];
    }
    return undefined;
  }

  function nearest(commit: string): Maybe<string | undefined> {
    return isShown(commit) === true ? commit : nearestBehind(commit);
  }

  function nearestOf(commits: readonly string[]): Maybe<string[]> {
    const found = commits.map(nearest);
    return found.every((each) => typeof each === "string") ? unique(found) : Promise.all(found).then(unique);
  }

  return {
    isShown,
    nearest,
    note,
    linksOf,
    showsMessage: (commit) => rules.isOpen("") || (messages.get(commit) ?? judgeMessage(commit)),
    parentsOf: async (commit) => nearestOf((await linksOf(commit))?.parents ?? []),
    nearestOf,

    async servedChanges(commit, max, below) {
      const own = await linksOf(commit);
      const found: ChangedEntry[] = [];
      if (own) await addServed("", [await firstParentTree(own), own.tree], found, max, below);
      return found;
    },

    async touches(commit, path) {
      const sides = [await entryAt((await linksOf(commit))?.parents[0], path), await entryAt(commit, path)];
      for (const side of sides) if (side && side.kind !== "folder" && (await rules.serves(path, side))) return true;
      const [before, after] = sides.map((side) => (side?.kind === "folder" ? side.hash : undefined));
      return (await findServed(path, before, after, [])) !== undefined;
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

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}

function toEntry(entry: RawEntry | undefined): TreeEntry | undefined {
  return entry && { kind: kindOfMode(entry.mode), hash: entry.hash };
}
