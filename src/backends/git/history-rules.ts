/**
 * Decides which files of a repository are served, at any commit: the current folder rules apply to the whole history, and so do the access
 * rules about files for a caller who may not see everything.
 */
import { dirname, resolve } from "node:path";
import { type Maybe, run } from "../disk/steps.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import type { VisibleFiles } from "../../source.ts";
import type { FolderRules } from "../folder-rules/folder-rules.ts";
import { asFile, asFolder, type NameRules } from "../folder-rules/name-rules.ts";
import type { Objects } from "./objects.ts";
import type { TreeEntryKind, GitTree, TreeEntry } from "./trees.ts";

type JudgeName = (name: string, kind: TreeEntryKind) => boolean;

export interface HistoryRules {
  /** The function that judges names in a folder. Undefined if the folder is not served. */
  namesIn(folder: string): Maybe<JudgeName | undefined>;
  /** Whether the entry at a path is served. A link is not served if its target is not. */
  serves(path: string, entry: TreeEntry): Maybe<boolean>;
  /** Same as `serves` for several, in order. */
  servesEach(pairs: readonly (readonly [path: string, entry: TreeEntry])[]): Promise<boolean[]>;
  /** The served names of a folder, in order. */
  servedNames(folder: string, tree: GitTree): Promise<string[]>;
  /** Whether access rules hide the entry from the caller: then it is not even counted. For a folder: the entry and everything below. */
  isForbidden(path: string, kind: TreeEntryKind): boolean;
  /** Whether access rules hide nothing at or below a folder. */
  isOpen(folder: string): boolean;
}

interface HistoryRulesOptions {
  /** Rules of the served folder: the repository, or the folder at `folderPath`. */
  readonly folderRules: Pick<FolderRules, "rulesIn" | "trustedRules" | "verdict">;
  readonly contents: Objects;
  /** The only folder of the repository that is served. Default: the whole repository. */
  readonly folderPath?: readonly string[];
  /** The files that the caller may see, and the folder of the repository. Default: everything. */
  readonly visible?: { readonly files: VisibleFiles; readonly root: string } | undefined;
}

/** Longest possible path. */
const maxLinkBytes = 4096;

export function createHistoryRules(options: HistoryRulesOptions): HistoryRules {
  const { folderRules, contents, folderPath = [], visible } = options;
  const judges = new WeakMap<NameRules, JudgeName>();
  /** Pending rule lookups by folder, shared by concurrent callers. */
  const pending = new Map<string, Promise<JudgeName | undefined>>();
  const inside = folderPath.map((name) => `${name}/`).join("");

  function judgeOf(rules: NameRules | undefined): JudgeName | undefined {
    if (!rules) return undefined;
    let judge = judges.get(rules);
    if (!judge) {
      judge = (name, kind) => (folderRules.verdict(rules, name) & (isFolder(kind) ? asFolder : asFile)) !== 0;
      judges.set(rules, judge);
    }
    return judge;
  }

  function isForbidden(path: string, kind: TreeEntryKind): boolean {
    if (!visible) return false;
    const file = `${visible.root}/${path}`;
    return kind === "folder" ? !visible.files.mayHold(file) : !visible.files.maySee({ path: file, isFile: true });
  }

  function namesIn(folder: string): Maybe<JudgeName | undefined> {
    const judge = namesServedIn(folder);
    if (!visible) return judge;
    const limited = (served: JudgeName | undefined): JudgeName | undefined =>
      served && ((name, kind) => served(name, kind) && !isForbidden(folder === "" ? name : `${folder}/${name}`, kind));
    return judge instanceof Promise ? judge.then(limited) : limited(judge);
  }

  function namesServedIn(folder: string): Maybe<JudgeName | undefined> {
    if (inside === "" || `${folder}/`.startsWith(inside)) return namesBelow(folder.slice(inside.length));
    const depth = folder === "" ? 0 : folder.split("/").length;
    const isOnTheWay = folder === folderPath.slice(0, depth).join("/");
    return isOnTheWay ? (name, kind) => kind === "folder" && name === folderPath[depth] : undefined;
  }

  /** In a subfolder of the served one. */
  function namesBelow(path: string): Maybe<JudgeName | undefined> {
    const trusted = folderRules.trustedRules(path);
    if (trusted) return judgeOf(trusted);
    const under = pending.get(path);
    if (under) return under;
    // Parent folder first: its rules are then cached for all its children.
    const above = path === "" ? undefined : namesBelow(parentOf(path));
    const found =
      above instanceof Promise ? above.then(() => run(folderRules.rulesIn(path))) : run(folderRules.rulesIn(path));
    if (!(found instanceof Promise)) return judgeOf(found);
    const judging = found.then(judgeOf).finally(() => pending.delete(path));
    pending.set(path, judging);
    return judging;
  }

  /** Whether a step of a link's path is not served. A path out of the repository does not count. */
  async function namesHidden(path: string, hash: string): Promise<boolean> {
    const found = await contents.find(hash, maxLinkBytes);
    if (!found) return false;
    if (!found.bytes) return true;
    const target = found.bytes.toString("utf8");
    if (visible && !visible.files.maySee({ path: resolve(visible.root, dirname(path), target) })) return true;
    if (target.startsWith("/")) return false;
    const at = path.split("/").slice(0, -1);
    for (const name of target.split("/")) {
      if (name === "" || name === ".") continue;
      if (name === "..") {
        if (at.pop() === undefined) return false;
        continue;
      }
      const judge = await namesIn(at.join("/"));
      if (!judge?.(name, "file") && !judge?.(name, "folder")) return true;
      at.push(name);
    }
    return false;
  }

  function serves(path: string, entry: TreeEntry): Maybe<boolean> {
    if (path === "") return true;
    const judge = namesIn(parentOf(path));
    return judge instanceof Promise
      ? judge.then((found) => servesBy(found, path, entry))
      : servesBy(judge, path, entry);
  }

  function servesBy(judge: JudgeName | undefined, path: string, { kind, hash }: TreeEntry): Maybe<boolean> {
    if (!judge?.(path.slice(path.lastIndexOf("/") + 1), kind)) return false;
    return kind !== "link" || namesHidden(path, hash).then((isHidden) => !isHidden);
  }

  return {
    namesIn,
    serves,
    isForbidden,
    isOpen: (folder) =>
      !visible ||
      visible.files.maySee({ path: folder === "" ? visible.root : `${visible.root}/${folder}`, isWhole: true }),

    async servesEach(pairs) {
      const pause = createTimeSlices();
      const served: boolean[] = [];
      for (const [path, entry] of pairs) {
        const isServed = serves(path, entry);
        served.push(isServed instanceof Promise ? await isServed : isServed);
        const waiting = pause();
        if (waiting) await waiting;
      }
      return served;
    },

    async servedNames(folder, { names, entries }) {
      const pause = createTimeSlices();
      const judge = await namesIn(folder);
      const served: string[] = [];
      for (const name of judge ? names : []) {
        const { kind, hash } = entries.get(name) as TreeEntry;
        const waiting = pause();
        if (waiting) await waiting;
        if (!judge?.(name, kind)) continue;
        if (kind === "link" && (await namesHidden(folder === "" ? name : `${folder}/${name}`, hash))) continue;
        served.push(name);
      }
      return served;
    },
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** A submodule is a folder on the disk, and ignore files treat it as one. */
function isFolder(kind: TreeEntryKind): boolean {
  return kind === "folder" || kind === "submodule";
}
