/** Decides which files of a folder are served. Every source that serves a folder uses it, however it reads the files. */
import type { BigIntStats } from "node:fs";
import { basename } from "node:path";
import { fileClockMs } from "../../lib/file-clock-ms.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import { kindOf } from "../disk/disk.ts";
import type { Disk } from "../disk/disk.ts";
import { asFile, asFolder, createRuleBook, isName, ranks } from "./name-rules.ts";
import type { NameRules, Rank, RankedRules, RuleChoice, Verdict } from "./name-rules.ts";
import { createIgnoreFiles } from "./ignore-files.ts";
import type { IgnoreFile } from "./ignore-files.ts";
import { foldersAbove, globalExcludes, repositoryAt } from "./git-excludes.ts";
import type { Person } from "./git-excludes.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import { settled } from "../disk/steps.ts";
import type { Steps } from "../disk/steps.ts";

export interface FolderRules {
  /** Whether all segments of a path are valid names. Other paths are not served, without a look at the disk. */
  isPath(path: string): boolean;
  /** Whether the file or folder at this path is served. The path must not contain links. */
  serves(path: string, isFolder: boolean): Steps<boolean>;
  /** Same as `serves` without disk access; undefined if the disk must be checked. */
  trusted(path: string, isFolder: boolean): boolean | undefined;
  /** The rules in the folder at this path, which must not contain links. Undefined if the folder is not served. */
  rulesIn(path: string, stats?: BigIntStats): Steps<NameRules | undefined>;
  /** Same as `rulesIn` without disk access; undefined if the disk must be checked. */
  trustedRules(path: string): NameRules | undefined;
  /** Same as `rulesIn` for a folder that has just been read. `names` are all its names, sorted. */
  rulesAmong(folder: ReadFolder, names: readonly string[]): Steps<NameRules | undefined>;
  verdict(rules: NameRules, name: string): Verdict;
  /** Whether a change of a file of this name may change what is served in its folder and below. */
  isRule(name: string): boolean;
  /** The rules from outside the folder: the same object while they are unchanged. */
  outer(): Steps<NameRules>;
  /** Checks the recently used folders again. The number changes when the rules of one of them have changed. */
  generation(): Steps<number>;
  /** From now on, every rule is checked before it is used. */
  expire(): void;
  /** Clears all caches. */
  clear(): void;
}

interface ReadFolder {
  readonly path: string;
  readonly stats: BigIntStats;
  /** Path by which the folder can be opened. */
  readonly handle: string;
}

interface FolderRulesOptions extends RuleChoice {
  readonly root: string;
  readonly person: Person;
  readonly disk: Disk;
  /** Provided by a source that also serves folders that are not on the disk; without it, none of them is served. */
  readonly absent?: AbsentFolders;
  /** Reports a problem with an ignore file. */
  say?(message: string, path: string): void;
}

/** Folders that are not on the disk, such as those of an earlier commit. */
export interface AbsentFolders {
  /** Whether nothing of the root is on the disk: a bare repository, or a clone without a checkout. */
  areAll(): boolean;
  /** The ignore files of such a folder. */
  ownRules(path: string): Steps<readonly RankedRules[]>;
}

/** Fills in the defaults. */
export function chooseRules({
  ignore = true,
  hidden = false,
  allow = [],
  exclude = [],
}: Partial<RuleChoice>): RuleChoice {
  return { ignore, hidden, allow, exclude };
}

/** The rules in a folder, with or without its own ignore files. */
interface Above {
  readonly rules: NameRules;
  /** Whether the folder is not on the disk. */
  readonly isAbsent: boolean;
}

/** Cached information about a folder: its ignore files, and the resulting rules. */
interface Known extends Above {
  /** The identity and state of the folder; undefined while a change might not alter the time stamps. */
  readonly state: State | undefined;
  readonly above: NameRules;
  readonly files: readonly OwnFile[];
  readonly isRepository: boolean;
  /** When it and all folders above it were last checked. */
  checkedMs: number;
}

/** Only these fields of the stats are stored. */
type State = Pick<BigIntStats, "dev" | "ino" | "mtimeNs" | "ctimeNs">;

interface OwnFile {
  readonly name: string;
  readonly rank: Rank;
  /** Set if the file is outside the folder. */
  readonly elsewhere?: string;
  readonly file: IgnoreFile | undefined;
}

export const ruleFiles: readonly (readonly [name: string, rank: Rank])[] = [
  [".gitignore", ranks.gitignore],
  [".ignore", ranks.ignore],
  [".pressmarkignore", ranks.pressmarkignore],
];
const ruleNames = [".git", ...ruleFiles.map(([name]) => name)];

const maxKnown = 500;
/** How often the rules outside the folder are checked: those of the enclosing repository, and of the user. */
const outerMs = 1000;
/** How long a folder may be assumed to be absent from the disk, with the same rules. */
const absentMs = 50;

export function createFolderRules(options: FolderRulesOptions): FolderRules {
  const { root, disk, person, ignore, absent } = options;
  const inside = root.endsWith("/") ? root : `${root}/`;
  const book = createRuleBook(options);
  const files = createIgnoreFiles(disk, (message, path) => options.say?.(message, nameFor(path)));
  /** Least recently used first. */
  const folders = new Map<string, Known>();
  /** Folders checked before this time must be checked again. */
  let trustedFromMs = 0;
  /** Number of rule changes detected so far. */
  let changes = 0;
  let personal: RankedRules | undefined;
  let outside: { readonly rules: NameRules; readonly checkedMs: number } | undefined;

  function locate(path: string): string {
    return path === "" ? root : inside + path;
  }

  function isTrusted({ checkedMs, isAbsent }: Known, nowMs: number): boolean {
    const trustMs = isAbsent ? Math.max(absentMs, disk.trustMs) : disk.trustMs;
    return nowMs - checkedMs < trustMs && checkedMs >= trustedFromMs;
  }

  /** A path as it is logged. */
  function nameFor(path: string): string {
    return path.startsWith(inside) ? path.slice(inside.length) : path;
  }

  function* outer(): Steps<NameRules> {
    const nowMs = monotonicMs();
    if (outside && nowMs - outside.checkedMs < outerMs) return outside.rules;
    const rules = book.begin(ignore ? yield* fromAbove() : book.start);
    outside = { rules, checkedMs: nowMs };
    return rules;
  }

  /** The rules that folders above the root impose on it, up to the top of the repository. */
  function* fromAbove(): Steps<NameRules> {
    const isAbsent = absent?.areAll() ?? false;
    let repository = isAbsent ? undefined : yield* repositoryAt(root, disk);
    const aboveRoot: string[] = [];
    let top = root;
    if (!repository && !isAbsent)
      for (const folder of foldersAbove(root)) {
        aboveRoot.unshift(basename(top));
        top = folder;
        repository = yield* repositoryAt(folder, disk);
        if (repository) break;
      }
    const global = yield* globalExcludes(person, repository && { folder: top, config: repository.config }, disk);
    const globalFile = global === undefined ? undefined : yield* files.read(global, true);
    personal = globalFile && { rank: ranks.person, rules: globalFile.rules };
    let rules = book.add(book.start, personal ? [personal] : [], false);
    // Outside a repository, and at its top, the folders above have no effect.
    if (!repository || aboveRoot.length === 0) return rules;
    let at = top;
    for (const [depth, name] of aboveRoot.entries()) {
      const own: RankedRules[] = [];
      const exclude = depth === 0 ? yield* files.read(repository.exclude, true) : undefined;
      if (exclude) own.push({ rank: ranks.repository, rules: exclude.rules });
      for (const [file, rank] of ruleFiles) {
        const found = yield* files.read(`${at === "/" ? "" : at}/${file}`, false);
        if (found) own.push({ rank, rules: found.rules });
      }
      rules = book.pass(book.add(rules, own, false), name);
      at = `${at === "/" ? "" : at}/${name}`;
    }
    return rules;
  }

  /** The rules that the parent folders impose on a folder. Undefined if it is not served. */
  function* above(path: string): Steps<Above | undefined> {
    if (path === "") return { rules: yield* outer(), isAbsent: absent?.areAll() ?? false };
    const parent = yield* find(parentOf(path));
    const name = nameOf(path);
    if (!parent || (book.verdict(parent.rules, name) & asFolder) === 0) return undefined;
    return { rules: book.enter(parent.rules, name), isAbsent: parent.isAbsent };
  }

  function* find(path: string, given?: BigIntStats): Steps<Above | undefined> {
    const nowMs = monotonicMs();
    const known = folders.get(path);
    if (known && isTrusted(known, nowMs)) return known;
    const before = yield* above(path);
    if (!before || !ignore) return before;
    // Everything below an absent folder is absent, even if a link now exists at its path.
    const stats = given ?? (before.isAbsent ? undefined : yield* settled(disk.lstat(locate(path))));
    if (!stats || kindOf(stats) !== "folder") return absent && (yield* learnAbsent(path, before.rules, absent, nowMs));
    const folder = { path, stats, handle: locate(path) };
    if (known && isSameState(known.state, stats)) return yield* recheck(folder, known, before.rules, nowMs);
    const found = yield* settled(disk.lstats(folder.handle, ruleNames, (each) => each !== undefined));
    const present = ruleNames.filter((_, index) => found[index]);
    return yield* learn(folder, before.rules, present, nowMs);
  }

  function* rulesIn(path: string, given?: BigIntStats): Steps<NameRules | undefined> {
    return (yield* find(path, given))?.rules;
  }

  function trustedRules(path: string): NameRules | undefined {
    const known = folders.get(path);
    return known && isTrusted(known, monotonicMs()) ? known.rules : undefined;
  }

  function* learnAbsent(path: string, before: NameRules, { ownRules }: AbsentFolders, nowMs: number): Steps<Known> {
    const own = yield* ownRules(path);
    const rules = own.length === 0 ? before : book.add(before, own, false);
    const nothing = { state: undefined, files: [], isRepository: false };
    return cache(path, { ...nothing, above: before, rules, isAbsent: true, checkedMs: nowMs });
  }

  /** The folder's names are unchanged, but its ignore files may have been modified. */
  function* recheck({ path, handle }: ReadFolder, known: Known, before: NameRules, nowMs: number): Steps<Known> {
    let own: OwnFile[] | undefined;
    for (const [index, each] of known.files.entries()) {
      const { name, elsewhere } = each;
      const file = yield* files.again(elsewhere ?? `${handle}/${name}`, each.file, elsewhere !== undefined);
      if (file !== each.file) (own ??= [...known.files])[index] = { ...each, file };
    }
    if (!own && known.above === before) {
      known.checkedMs = nowMs;
      return known;
    }
    const ownFiles = own ?? known.files;
    const rules = ownFiles.length === 0 ? before : add(before, ownFiles, known.isRepository);
    return cache(path, { ...known, above: before, rules, files: ownFiles, checkedMs: nowMs });
  }

  /** Reads the ignore files of a folder. */
  function* learn(
    { path, stats, handle }: ReadFolder,
    before: NameRules,
    present: readonly string[],
    nowMs: number,
  ): Steps<Known> {
    const own: OwnFile[] = [];
    // The content of `.git` is relative to the folder.
    const repository = present.includes(".git") ? yield* repositoryAt(locate(path), disk) : undefined;
    if (repository) {
      const { exclude } = repository;
      own.push({ name: ".git", rank: ranks.repository, elsewhere: exclude, file: yield* files.read(exclude, true) });
    }
    for (const [name, rank] of ruleFiles)
      if (present.includes(name)) own.push({ name, rank, file: yield* files.read(`${handle}/${name}`, false) });
    const isRepository = repository !== undefined;
    const rules = own.length === 0 ? before : add(before, own, isRepository);
    // A change gives the folder a new time stamp only if the last one is old enough.
    const isSettled = fileClockMs() - Number(stats.ctimeMs) > disk.settleMs + 30;
    const { dev, ino, mtimeNs, ctimeNs } = stats;
    const state = isSettled ? { dev, ino, mtimeNs, ctimeNs } : undefined;
    return cache(path, { state, above: before, rules, files: own, isRepository, isAbsent: false, checkedMs: nowMs });
  }

  function add(before: NameRules, own: readonly OwnFile[], isRepository: boolean): NameRules {
    const ranked = own.flatMap(({ rank, file }) => (file ? [{ rank, rules: file.rules }] : []));
    if (isRepository && personal) ranked.push(personal);
    return book.add(before, ranked, isRepository);
  }

  function cache(path: string, known: Known): Known {
    const before = folders.get(path);
    // A change detected by one method invalidates the results of all.
    if (before && before.rules !== known.rules) {
      trustedFromMs = known.checkedMs;
      changes += 1;
    }
    folders.delete(path);
    folders.set(path, known);
    if (folders.size > maxKnown)
      for (const oldest of folders.keys()) {
        folders.delete(oldest);
        break;
      }
    return known;
  }

  return {
    isPath(path) {
      return path === "" || path.split("/").every((name) => isName(name));
    },

    trusted(path, isFolder) {
      if (path === "") return true;
      const rules = trustedRules(parentOf(path));
      return rules && (book.verdict(rules, nameOf(path)) & (isFolder ? asFolder : asFile)) !== 0;
    },

    *serves(path, isFolder) {
      if (path === "") return true;
      const rules = yield* rulesIn(parentOf(path));
      if (!rules) return false;
      return (book.verdict(rules, nameOf(path)) & (isFolder ? asFolder : asFile)) !== 0;
    },

    rulesIn,
    trustedRules,

    *rulesAmong(folder, names) {
      const nowMs = monotonicMs();
      const before = (yield* above(folder.path))?.rules;
      if (!before || !ignore) return before;
      const known = folders.get(folder.path);
      if (known && isSameState(known.state, folder.stats)) return (yield* recheck(folder, known, before, nowMs)).rules;
      const present = ruleNames.filter((name) => hasName(names, name));
      return (yield* learn(folder, before, present, nowMs)).rules;
    },

    verdict: book.verdict,
    isRule: (name) => ignore && ruleNames.includes(name),
    outer,

    *generation() {
      const pause = createTimeSlices();
      const paths = [...folders.keys()];
      for (const path of paths) {
        yield* find(path);
        const waiting = pause();
        if (waiting) yield waiting;
      }
      return changes;
    },

    expire() {
      outside = undefined;
      trustedFromMs = monotonicMs();
    },

    clear() {
      folders.clear();
      files.clear();
      outside = undefined;
    },
  };
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function isSameState(before: State | undefined, now: State): boolean {
  return (
    before !== undefined &&
    before.ctimeNs === now.ctimeNs &&
    before.mtimeNs === now.mtimeNs &&
    before.ino === now.ino &&
    before.dev === now.dev
  );
}

/** Binary search: the names are sorted. */
function hasName(names: readonly string[], name: string): boolean {
  let low = 0;
  let high = names.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((names[middle] as string) < name) low = middle + 1;
    else high = middle;
  }
  return names[low] === name;
}
