/** Detects without running git whether the history that is served may have changed: refs, or rules that hide files of it. */
import { createHash } from "node:crypto";
import { type Dirent, existsSync, readdirSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { fileClockMs } from "../../lib/file-clock-ms.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import { createLocalDisk, diskKind } from "../disk/disk.ts";
import { run } from "../disk/steps.ts";
import { chooseRules, createFolderRules, ruleFiles } from "../folder-rules/folder-rules.ts";
import { globalExcludes, personOf, repositoryAt } from "../folder-rules/git-excludes.ts";
import { asFolder, type RuleChoice } from "../folder-rules/name-rules.ts";
import { type GitRepository, readSmallFile } from "./repository.ts";

export interface HistoryState {
  /** Differs if other files of the same commits may be served, or if other objects are there. */
  readonly rules: string;
  /** Differs if HEAD, a branch or a tag may have moved. */
  readonly refs: string;
}

export interface HistoryStateOptions {
  readonly chosen: Partial<RuleChoice>;
  readonly env: Readonly<Record<string, string | undefined>>;
}

const maxRefs = 5000;
const maxFolders = 20_000;
const maxPackedBytes = 4 * 1024 * 1024;
const maxRefBytes = 4096;

/**
 * `ruleFolders` are the folders for which HEAD has ignore files: those apply while the folder is not on the disk. Undefined if the state cannot be
 * determined, or if the last change is so recent that the next might not alter the time stamps. */
export async function historyState(
  repository: GitRepository,
  options: HistoryStateOptions,
  ruleFolders: readonly string[],
): Promise<HistoryState | undefined> {
  if (diskKind(statfsSync(repository.commonDir).type) !== "local") return undefined;
  try {
    return { rules: await rulesState(repository, options, ruleFolders), refs: refsState(repository) };
  } catch (cause) {
    if (cause instanceof UnknownState || (cause as NodeJS.ErrnoException).code !== undefined) return undefined;
    throw cause;
  }
}

class UnknownState extends Error {}

function refsState({ gitDir, commonDir }: GitRepository): string {
  const hash = createHash("sha256");
  const add = (path: string, maxBytes: number): void => {
    const bytes = readSmallFile(path, maxBytes);
    if (!bytes && existsSync(path)) throw new UnknownState(path);
    hash.update(`${path}\0${bytes?.length ?? "none"}\0`).update(bytes ?? "");
  };
  add(join(gitDir, "HEAD"), maxRefBytes);
  add(join(commonDir, "packed-refs"), maxPackedBytes);
  for (const folder of [gitDir, commonDir]) add(join(folder, "reftable", "tables.list"), maxPackedBytes);
  const ahead = ["heads", "tags"].map((name) => join(commonDir, "refs", name));
  let count = 0;
  for (let folder = ahead.pop(); folder !== undefined; folder = ahead.pop())
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if ((count += 1) > maxRefs || entry.isSymbolicLink()) throw new UnknownState(path);
      if (entry.isDirectory()) ahead.push(path);
      else add(path, maxRefBytes);
    }
  return hash.digest("base64url");
}

/** Reads every folder that is served: any of them may have ignore files. */
async function rulesState(
  repository: GitRepository,
  { chosen, env }: HistoryStateOptions,
  ruleFolders: readonly string[],
): Promise<string> {
  const { root, gitDir, commonDir } = repository;
  const disk = createLocalDisk();
  const person = personOf(env);
  const rules = createFolderRules({ ...chooseRules(chosen), root, disk, person });
  const pause = createTimeSlices();
  const hash = createHash("sha256");
  const settledMs = fileClockMs() - disk.settleMs - 30;

  async function add(path: string): Promise<void> {
    const stats = await disk.stat(path);
    if (stats && Number(stats.ctimeMs) > settledMs) throw new UnknownState(path);
    hash.update(stats ? `${path}\0${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}\0` : `${path}\0none\0`);
  }

  async function addRepository(folder: string): Promise<void> {
    const found = await run(repositoryAt(folder, disk));
    if (found) await add(found.exclude);
  }

  await add(join(commonDir, "shallow"));
  await add(join(commonDir, "info", "exclude"));
  await add(join(commonDir, "objects", "info", "alternates"));
  await add(join(commonDir, "objects", "pack"));
  const global = await run(globalExcludes(person, { folder: root, config: join(commonDir, "config") }, disk));
  if (global !== undefined) await add(global);
  const isThere = ["index", ...ruleFolders].map((name, at) => existsSync(join(at === 0 ? gitDir : root, name)));
  hash.update(isThere.join());
  const ahead = repository.isBare ? [] : [""];
  let count = 0;
  for (let folder = ahead.pop(); folder !== undefined; folder = ahead.pop()) {
    const found = await run(rules.rulesIn(folder));
    if (!found) continue;
    if ((count += 1) > maxFolders) throw new UnknownState(folder);
    const path = folder === "" ? root : `${root}/${folder}`;
    const entries = entriesOf(path);
    // A clone without a checkout has the rules of HEAD.
    if (folder === "") hash.update(String(entries.length > 1));
    for (const { name } of entries) {
      if (name === ".git") await addRepository(path);
      else if (ruleFiles.some(([rule]) => rule === name)) await add(`${path}/${name}`);
    }
    for (const entry of entries)
      if (entry.isDirectory() && (rules.verdict(found, entry.name) & asFolder) !== 0)
        ahead.push(folder === "" ? entry.name : `${folder}/${entry.name}`);
    await pause();
  }
  return hash.digest("base64url");
}

/** By name. Empty if there is no such folder. */
function entriesOf(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((one, other) => (one.name < other.name ? -1 : 1));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw cause;
  }
}
