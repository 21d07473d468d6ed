/** What of a repository is served, at whichever of its commits: the rules of its folder as they are now count for all of history. */
import { type Maybe, run } from "../../backends/disk/steps.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import type { FolderRules } from "../../backends/folder-rules/folder-rules.ts";
import { asFile, asFolder, type NameRules } from "../../backends/folder-rules/name-rules.ts";
import type { Objects } from "./objects.ts";
import type { TreeEntryKind, GitTree, TreeEntry } from "./trees.ts";

export type JudgeName = (name: string, kind: TreeEntryKind) => boolean;

export interface HistoryRules {
  /** How the names in a folder are judged. Undefined where the folder is not served. */
  namesIn(folder: string): Maybe<JudgeName | undefined>;
  /** Whether what stands at a path is served. A link is not if the path that it holds is not served. */
  serves(path: string, entry: TreeEntry): Maybe<boolean>;
  /** The same of several, in their order. */
  servesEach(asked: readonly (readonly [path: string, entry: TreeEntry])[]): Promise<boolean[]>;
  /** The names of a folder that are served, in order. */
  servedNames(folder: string, tree: GitTree): Promise<string[]>;
}

export interface HistoryRulesOptions {
  /** Of the folder that is served: that of the repository, or the one that `way` leads to. */
  readonly folderRules: Pick<FolderRules, "rulesIn" | "trustedRules" | "verdict">;
  readonly contents: Objects;
  /** The only folder of the repository that is served; all of it unless given. */
  readonly way?: readonly string[];
}

/** As long as a path may be. */
const maxLinkBytes = 4096;

export function createHistoryRules({ folderRules, contents, way = [] }: HistoryRulesOptions): HistoryRules {
  const judges = new WeakMap<NameRules, JudgeName>();
  /** Folders whose rules have to be waited for: many who ask at the same time ask once. */
  const underWay = new Map<string, Promise<JudgeName | undefined>>();
  const inside = way.map((name) => `${name}/`).join("");

  function judgeOf(rules: NameRules | undefined): JudgeName | undefined {
    if (!rules) return undefined;
    let judge = judges.get(rules);
    if (!judge) {
      judge = (name, kind) => (folderRules.verdict(rules, name) & (isFolder(kind) ? asFolder : asFile)) !== 0;
      judges.set(rules, judge);
    }
    return judge;
  }

  function namesIn(folder: string): Maybe<JudgeName | undefined> {
    if (inside === "" || `${folder}/`.startsWith(inside)) return namesBelow(folder.slice(inside.length));
    const depth = folder === "" ? 0 : folder.split("/").length;
    const isOnTheWay = folder === way.slice(0, depth).join("/");
    return isOnTheWay ? (name, kind) => kind === "folder" && name === way[depth] : undefined;
  }

  /** In a folder of the one that is served. */
  function namesBelow(path: string): Maybe<JudgeName | undefined> {
    const trusted = folderRules.trustedRules(path);
    if (trusted) return judgeOf(trusted);
    const under = underWay.get(path);
    if (under) return under;
    // The folder above first: what is known of it then serves all that are in it.
    const above = path === "" ? undefined : namesBelow(parentOf(path));
    const found =
      above instanceof Promise ? above.then(() => run(folderRules.rulesIn(path))) : run(folderRules.rulesIn(path));
    if (!(found instanceof Promise)) return judgeOf(found);
    const judging = found.then(judgeOf).finally(() => underWay.delete(path));
    underWay.set(path, judging);
    return judging;
  }

  /** Whether the path that a link holds, step by step, leads to something that is not served. What leads out of the repository does not. */
  async function namesHidden(path: string, hash: string): Promise<boolean> {
    const found = await contents.find(hash, maxLinkBytes);
    if (!found) return false;
    if (!found.bytes) return true;
    const target = found.bytes.toString("utf8");
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

    async servesEach(asked) {
      const pause = createTimeSlices();
      const served: boolean[] = [];
      for (const [path, entry] of asked) {
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
