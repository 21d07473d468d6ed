/** The ignore files in HEAD, which apply to folders that are not on the disk, as in a bare repository. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Disk } from "../disk/disk.ts";
import { settled, type Steps } from "../disk/steps.ts";
import { type AbsentFolders, ruleFiles } from "../folder-rules/folder-rules.ts";
import { type IgnoreRules, parseRules } from "../folder-rules/ignore-rules.ts";
import { type RankedRules, ranks } from "../folder-rules/name-rules.ts";
import { ResourceError } from "../../errors.ts";
import type { Objects } from "./objects.ts";
import type { Refs } from "./refs.ts";
import type { GitRepository } from "./repository.ts";
import { lacking, type GitTrees } from "./trees.ts";

interface HeadIgnoreFilesOptions {
  readonly repository: GitRepository;
  readonly disk: Disk;
  readonly refs: Refs;
  readonly trees: GitTrees;
  readonly contents: Objects;
  /** The folder of the repository to which the rules belong. Default: the whole repository. */
  readonly folderPath?: readonly string[];
}

/** As for files on the disk. */
const maxBytes = 512 * 1024;
const maxObjectBytes = 64 * 1024 * 1024;
const maxParsed = 1000;
/** How long HEAD may be assumed unchanged. */
const headMs = 5;

export function createHeadIgnoreFiles(options: HeadIgnoreFilesOptions): AbsentFolders {
  const { repository, disk, refs, trees, contents, folderPath = [] } = options;
  /** By the hash of the file. */
  const parsed = new Map<string, IgnoreRules>();
  let head: { readonly commit: Promise<string | undefined>; readonly untilMs: number } | undefined;

  async function resolveHead(): Promise<string | undefined> {
    try {
      return (await refs.resolve("HEAD")).hash;
    } catch (cause) {
      if (cause instanceof ResourceError && cause.kind === "not-found") return undefined;
      throw cause;
    }
  }

  function headCommit(): Promise<string | undefined> {
    const nowMs = performance.now();
    if (!head || nowMs >= head.untilMs) head = { commit: resolveHead(), untilMs: nowMs + headMs };
    return head.commit;
  }

  async function rulesOf(hash: string): Promise<IgnoreRules> {
    const known = parsed.get(hash);
    if (known) return known;
    const found = await contents.find(hash, maxObjectBytes);
    // Without its rules, a folder must not be served.
    if (!found) throw lacking();
    const rules = parseRules(found.bytes ? found.bytes.toString("latin1", 0, maxBytes) : "*");
    if (parsed.size >= maxParsed) parsed.clear();
    parsed.set(hash, rules);
    return rules;
  }

  async function inHead(path: string): Promise<RankedRules[]> {
    const commit = await headCommit();
    const folder = path === "" ? folderPath : [...folderPath, ...path.split("/")];
    const found = commit === undefined ? undefined : await trees.find(commit, folder);
    if (found?.kind !== "folder") return [];
    const { entries } = await trees.read(found.hash);
    const own: RankedRules[] = [];
    for (const [name, rank] of ruleFiles) {
      const entry = entries.get(name);
      if (entry?.kind === "file") own.push({ rank, rules: await rulesOf(entry.hash) });
    }
    return own;
  }

  function* ofRepository(): Steps<RankedRules[]> {
    const found = yield* settled(disk.content(join(repository.commonDir, "info", "exclude"), maxBytes, true));
    return found ? [{ rank: ranks.repository, rules: parseRules(found.bytes.toString("latin1")) }] : [];
  }

  return {
    areAll() {
      if (repository.isBare) return true;
      if (existsSync(join(repository.gitDir, "index"))) return false;
      try {
        return readdirSync(repository.root).every((name) => name === ".git");
      } catch {
        return true;
      }
    },

    *ownRules(path) {
      const own = yield* settled(inHead(path));
      return path === "" ? [...own, ...(yield* ofRepository())] : own;
    },
  };
}
