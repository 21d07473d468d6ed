/** What of a folder is served: the one object that every source over the folder asks, whichever way it reads the files. */
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
  /** Whether a path consists of names. What does not is not served, and needs no look at the disk. */
  isPath(path: string): boolean;
  /** Whether what is at this path is served, if it is a folder or if it is not. The path leads there by itself, without a link. */
  serves(path: string, isFolder: boolean): Steps<boolean>;
  /** The same where it need not be looked at; undefined where it must. */
  trusted(path: string, isFolder: boolean): boolean | undefined;
  /** The rules in the folder at this path, which leads there by itself. Undefined if it is not served. */
  rulesIn(path: string, stats?: BigIntStats): Steps<NameRules | undefined>;
  /** The same where it need not be looked at; undefined where it must. */
  trustedRules(path: string): NameRules | undefined;
  /** The same for a folder that has just been read. `names` are all that are in it, in order. */
  rulesAmong(folder: ReadFolder, names: readonly string[]): Steps<NameRules | undefined>;
  verdict(rules: NameRules, name: string): Verdict;
  /** Whether a change of this name may change what is served in its folder, and below. */
  isRule(name: string): boolean;
  /** The rules from outside the folder: the same object while they are the same. */
  outer(): Steps<NameRules>;
  /** Looks again at the folders that were asked about last. The number is another if other rules count in one of them than before. */
  generation(): Steps<number>;
  /** Lets go of all that is kept. */
  clear(): void;
}

export interface ReadFolder {
  readonly path: string;
  readonly stats: BigIntStats;
  /** Leads to the folder on the disk. */
  readonly handle: string;
}

export interface FolderRulesOptions extends RuleChoice {
  readonly root: string;
  readonly person: Person;
  readonly disk: Disk;
  /** Given by a source that also asks about folders that are not on the disk; without it, none of them is served. */
  readonly absent?: AbsentFolders;
  /** Something about an ignore file that a person should know. */
  say?(message: string, path: string): void;
}

/** Folders that are not on the disk, such as those of an earlier commit. */
export interface AbsentFolders {
  /** Whether nothing of the root is on the disk: a bare repository, a clone without a checkout. */
  areAll(): boolean;
  /** The ignore files of such a folder. */
  ownRules(path: string): Steps<readonly RankedRules[]>;
}

/** What is chosen where nothing is said. */
export function chooseRules({
  ignore = true,
  hidden = false,
  allow = [],
  exclude = [],
}: Partial<RuleChoice>): RuleChoice {
  return { ignore, hidden, allow, exclude };
}

/** The rules that count in a folder, before or after its own ignore files. */
interface Above {
  readonly rules: NameRules;
  /** Whether the folder is not on the disk. */
  readonly isAbsent: boolean;
}

/** What is known of a folder: which ignore files are in it, and what came of them. */
interface Known extends Above {
  /** Which folder, in which state; undefined while a change might leave the state as it is. */
  readonly state: State | undefined;
  readonly above: NameRules;
  readonly files: readonly OwnFile[];
  readonly isRepository: boolean;
  /** When all of it, and all above it, was last seen to be so. */
  checkedMs: number;
}

/** The rest of what the system says is not worth keeping. */
type State = Pick<BigIntStats, "dev" | "ino" | "mtimeNs" | "ctimeNs">;

interface OwnFile {
  readonly name: string;
  readonly rank: Rank;
  /** Present where the file is not in the folder itself. */
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
/** How often the rules outside the folder are looked at: those of the repository around it, and of the person. */
const outerMs = 1000;
/** How long it may be taken for granted that a folder is not on the disk, and which rules it has there. */
const absentMs = 50;

export function createFolderRules(options: FolderRulesOptions): FolderRules {
  const { root, disk, person, ignore, absent } = options;
  const inside = root.endsWith("/") ? root : `${root}/`;
  const book = createRuleBook(options);
  const files = createIgnoreFiles(disk, (message, path) => options.say?.(message, nameFor(path)));
  /** The least recently used first. */
  const folders = new Map<string, Known>();
  /** What was checked earlier is not taken for granted. */
  let trustedFromMs = 0;
  /** How often other rules than before were found to count in a folder. */
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

  /** A path as it may stand in the log. */
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

  /** What counts in the root because of the folders above it, up to the one that a repository begins at. */
  function* fromAbove(): Steps<NameRules> {
    const isAbsent = absent?.areAll() ?? false;
    let repository = isAbsent ? undefined : yield* repositoryAt(root, disk);
    const ways: string[] = [];
    let top = root;
    if (!repository && !isAbsent)
      for (const folder of foldersAbove(root)) {
        ways.unshift(basename(top));
        top = folder;
        repository = yield* repositoryAt(folder, disk);
        if (repository) break;
      }
    const global = yield* globalExcludes(person, repository && { folder: top, config: repository.config }, disk);
    const said = global === undefined ? undefined : yield* files.read(global, true);
    personal = said && { rank: ranks.person, rules: said.rules };
    let rules = book.add(book.start, personal ? [personal] : [], false);
    // Without a repository, and in the root itself, the folders above have nothing to say.
    if (!repository || ways.length === 0) return rules;
    let at = top;
    for (const [depth, name] of ways.entries()) {
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

  /** What counts in a folder because of those above it. Undefined if it is not served. */
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
    // What is below an absent folder is absent: a link that leads elsewhere may stand in its place.
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
    return keep(path, { ...nothing, above: before, rules, isAbsent: true, checkedMs: nowMs });
  }

  /** The folder has the same names as before: its ignore files may still have been written to. */
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
    const kept = own ?? known.files;
    const rules = kept.length === 0 ? before : add(before, kept, known.isRepository);
    return keep(path, { ...known, above: before, rules, files: kept, checkedMs: nowMs });
  }

  /** Reads the ignore files that a folder has. */
  function* learn(
    { path, stats, handle }: ReadFolder,
    before: NameRules,
    present: readonly string[],
    nowMs: number,
  ): Steps<Known> {
    const own: OwnFile[] = [];
    // What it points to is told from where the folder is.
    const repository = present.includes(".git") ? yield* repositoryAt(locate(path), disk) : undefined;
    if (repository) {
      const { exclude } = repository;
      own.push({ name: ".git", rank: ranks.repository, elsewhere: exclude, file: yield* files.read(exclude, true) });
    }
    for (const [name, rank] of ruleFiles)
      if (present.includes(name)) own.push({ name, rank, file: yield* files.read(`${handle}/${name}`, false) });
    const isRepository = repository !== undefined;
    const rules = own.length === 0 ? before : add(before, own, isRepository);
    // Whatever changes now gives the folder another stamp only if its last one is old enough.
    const isSettled = fileClockMs() - Number(stats.ctimeMs) > disk.settleMs + 30;
    const { dev, ino, mtimeNs, ctimeNs } = stats;
    const state = isSettled ? { dev, ino, mtimeNs, ctimeNs } : undefined;
    return keep(path, { state, above: before, rules, files: own, isRepository, isAbsent: false, checkedMs: nowMs });
  }

  function add(before: NameRules, own: readonly OwnFile[], isRepository: boolean): NameRules {
    const ranked = own.flatMap(({ rank, file }) => (file ? [{ rank, rules: file.rules }] : []));
    if (isRepository && personal) ranked.push(personal);
    return book.add(before, ranked, isRepository);
  }

  function keep(path: string, known: Known): Known {
    const before = folders.get(path);
    // What one door has noticed counts for all of them.
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
      return path === "" || path.split("/").every(isName);
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

/** By halving: the names are in order. */
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
