/** Detects changes of refs, HEAD or the index, and reports the changed addresses. */
import { type FSWatcher, readdirSync, statSync, watch as watchFolder } from "node:fs";
import { join } from "node:path";
import { ResourceError, toResourceError } from "../../errors.ts";
import { pathOf, type SourceChange, type SourceWatch, type Runtime } from "../../source.ts";
import { createSourceWatches } from "../source-watches.ts";
import { changedFiles } from "./commits.ts";
import type { HistoryRules } from "./history-rules.ts";
import type { Mirror } from "./mirror.ts";
import { GitFailure, type GitProgram } from "./program.ts";
import type { ServedChange } from "./raw-diff.ts";
import { listedNames, type Ref, type Refs } from "./refs.ts";
import type { GitRepository } from "./repository.ts";
import type { ShownCommits } from "./shown-commits.ts";

export interface RepositoryWatcher {
  /** Resolves once everything is watched. Ends with the signal. */
  watch(signal: AbortSignal): Promise<SourceWatch>;
  /** Records that a client requested the difference between these two names. */
  noteDiff(path: string, base: string, head: string): void;
  /** Afterwards nothing runs. */
  close(): Promise<void>;
}

interface RepositoryWatcherOptions {
  readonly repository: GitRepository;
  readonly program: GitProgram;
  readonly mirror: Mirror;
  readonly refs: Refs;
  readonly rules: HistoryRules;
  readonly isShown: ShownCommits["isShown"];
  /** Changes when the rules of a folder change that was used before. */
  generation(): Promise<number>;
  /** Applies the rules to all paths of the latest commits, so that rule changes for them are detected. */
  askRecent(signal: AbortSignal): Promise<void>;
  /** Whether the system announces changes in a folder; if not, it is polled. */
  readonly isAnnounced: boolean;
  readonly pollMs: number;
  /** For a caller who may not see everything: a text that differs if what they see of the index differs. Default: whether it was written. */
  readonly readIndexState?: ((signal: AbortSignal) => Promise<string>) | undefined;
  readonly log: Runtime["log"];
}

/** The state at the last check. */
interface Seen {
  readonly generation: number;
  readonly refs: ReadonlyMap<string, string>;
  readonly listed: ReadonlySet<string>;
  readonly head: string;
  readonly index: string;
  readonly settings: string;
}

interface Covered {
  readonly watcher: FSWatcher;
  readonly identity: string;
}

/** The list of a repository is always the same. */
const lost: SourceChange = { kind: "lost", isUnlisted: true };
/** Git writes several files for one operation. */
const quietMs = 30;
const maxFolders = 2000;
const maxNotes = 500;
const maxChanges = 5000;
/** If more names than this have moved, "lost" is reported. */
const maxCompared = 32;
/** If more commits than this have appeared or gone, "lost" is reported. */
const maxCommits = 1000;
/** Refs whose history is known not to be new. With more of them, known commits may be reported again. */
const maxKnownTips = 2000;

/** Files of the git folder that show its state. Refs in a reftable are in a separate folder. */
const telling =
  /^(?:HEAD|index|packed-refs|config|shallow|MERGE_HEAD|CHERRY_PICK_HEAD|REVERT_HEAD|BISECT_LOG|rebase-merge|rebase-apply|refs|reftable)$/;

export function createRepositoryWatcher(options: RepositoryWatcherOptions): RepositoryWatcher {
  const { repository, program, mirror, refs, rules, isAnnounced, pollMs, log } = options;
  const isPartial = options.readIndexState !== undefined;
  const watches = createSourceWatches(stop);
  const folders = new Map<string, Covered>();
  /** Requested names, and the commit of each at the last check. "" for none. */
  const notes = new Map<string, string>();
  const diffs = new Map<string, readonly [base: string, head: string]>();
  /** Whether there were more names than are recorded. */
  let isForgetful = false;
  /** Whether some folders are not watched. */
  let isPolled = false;
  /** Whether the last check failed. */
  let isBlind = false;
  let failure: ResourceError | undefined;
  let seen: Seen | undefined;
  let armed: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let poll: NodeJS.Timeout | undefined;
  let looking: Promise<void> = Promise.resolve();
  const closing = new AbortController();

  refs.onResolved((ref, hash) => {
    if (notes.has(ref)) return;
    if (notes.size >= maxNotes) isForgetful = true;
    else notes.set(ref, hash);
  });

  function tell(change: SourceChange): void {
    watches.tell([change]);
  }

  /** All at once, so that what follows from one operation is announced once. "lost" covers everything else. */
  function tellAll(changes: readonly SourceChange[]): void {
    watches.tell(changes.includes(lost) ? [lost] : changes);
  }

  /** Every folder whose files are refs, and those that contain HEAD, index and packed refs. */
  function coverFolders(): void {
    const { gitDir, commonDir } = repository;
    const wanted = new Set([gitDir, commonDir, join(gitDir, "reftable"), join(commonDir, "reftable")]);
    const ahead = [join(commonDir, "refs")];
    for (let folder = ahead.pop(); folder !== undefined && wanted.size < maxFolders; folder = ahead.pop()) {
      wanted.add(folder);
      for (const name of foldersIn(folder)) ahead.push(join(folder, name));
    }
    for (const [folder, { watcher, identity }] of folders)
      // A watched folder may have been replaced by another.
      if (!wanted.has(folder) || identityOf(folder) !== identity) {
        watcher.close();
        folders.delete(folder);
      }
    isPolled = !isAnnounced || wanted.size >= maxFolders;
    for (const folder of isPolled ? [] : wanted)
      if (!folders.has(folder) && !cover(folder, folder === gitDir || folder === commonDir)) isPolled = true;
    poll ??= setInterval(tick, pollMs).unref();
  }

  /** The system does not announce that a parent folder is moved. */
  function tick(): void {
    const { gitDir, commonDir } = repository;
    const isMoved = [gitDir, commonDir].some((folder) => folders.get(folder)?.identity !== identityOf(folder));
    if (isPolled || isBlind || isMoved) schedule();
    else looking = looking.then(lookAtRules);
  }

  /** Polls the rules, because the files that contain them are not watched. */
  async function lookAtRules(): Promise<void> {
    const before = seen;
    const generation = await options.generation().catch(() => before?.generation);
    if (!before || before !== seen || generation === undefined || generation === before.generation) return;
    seen = { ...before, generation };
    tell(lost);
  }

  /** False if the system has no more watches. */
  function cover(folder: string, isMixed: boolean): boolean {
    try {
      const watcher = watchFolder(folder, { persistent: false }, (_event, name) => {
        if (name === null || (!name.endsWith(".lock") && (!isMixed || telling.test(name)))) schedule();
      });
      watcher.on("error", () => {
        watcher.close();
        folders.delete(folder);
        schedule();
      });
      folders.set(folder, { watcher, identity: identityOf(folder) });
      return true;
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR") return true;
      log("warn", "the system has no more file watches; a repository is polled", { code });
      return false;
    }
  }

  function schedule(): void {
    if (watches.size === 0) stop();
    else
      timer ??= setTimeout(() => {
        timer = undefined;
        looking = looking.then(look);
      }, quietMs);
  }

  async function look(): Promise<void> {
    if (watches.size === 0 || closing.signal.aborted || !seen) return;
    try {
      coverFolders();
      const before = seen;
      seen = await see();
      const changes = await compare(before, seen);
      tellAll(isBlind ? [lost] : changes);
      isBlind = false;
      failure = undefined;
    } catch (cause) {
      if (closing.signal.aborted) return;
      if (!isBlind) {
        log("warn", "a repository cannot be read at the moment", { cause: toResourceError(cause).message });
        tell(lost);
      }
      isBlind = true;
      failure = new ResourceError("unavailable", "the repository cannot be read", { cause });
    }
  }

  async function see(): Promise<Seen> {
    mirror.confine();
    const all = await refs.all(closing.signal);
    const head = mirror.head();
    return {
      generation: await options.generation(),
      refs: new Map(all.map(({ name, hash }) => [name, hash])),
      listed: new Set(listedNames(all)),
      head: "ref" in head ? `${head.ref} ${hashOf(all, head.ref)}` : isPartial ? await meaning("HEAD") : head.hash,
      index: (await options.readIndexState?.(closing.signal)) ?? stampOf(join(repository.gitDir, "index")),
      settings: telltales.map((name) => stampOf(join(repository.gitDir, name))).join(" "),
    };
  }

  async function compare(before: Seen, now: Seen): Promise<readonly SourceChange[]> {
    const changes: SourceChange[] = [];
    if (before.generation !== now.generation) changes.push(lost);
    const moved = differing(before.refs, now.refs);
    const isHeadMoved = before.head !== now.head;
    if (isHeadMoved || before.index !== now.index || before.settings !== now.settings || moved.length > 0)
      changes.push({ kind: "changed", path: "status" });
    if (isHeadMoved || moved.length > 0) changes.push({ kind: "changed", path: "log" });
    if (isHeadMoved || before.settings !== now.settings || moved.some((name) => !name.startsWith("refs/tags/")))
      changes.push({ kind: "changed", path: "branches" });
    if (moved.some((name) => name.startsWith("refs/tags/"))) changes.push({ kind: "changed", path: "tags" });
    for (const name of before.listed)
      if (!now.listed.has(name)) changes.push({ kind: "gone", path: pathOf(["tree", name]), isUnlisted: true });
    for (const name of now.listed)
      if (!before.listed.has(name)) changes.push({ kind: "appeared", path: pathOf(["tree", name]), isUnlisted: true });
    if (!isHeadMoved && moved.length === 0) return changes;
    // The index contains commits for callers who may see all of them.
    if (!isPartial) changes.push(...(await movedCommits(before, now)));
    if (isForgetful) changes.push(lost);
    const touched = new Map<string, readonly [old: string, hash: string]>();
    await Promise.all(
      [...notes].map(async ([ref, old]) => {
        const hash = await meaning(ref);
        if (hash !== old) touched.set(ref, [old, hash]);
      }),
    );
    for (const [ref, [, hash]] of touched) notes.set(ref, hash);
    if (touched.size > maxCompared) return [lost];
    for (const [ref, [old, hash]] of touched) changes.push(...(await changesOf(ref, old, hash)));
    for (const [path, names] of diffs)
      if (names.some((name) => touched.has(name))) changes.push({ kind: "changed", path });
    await options.askRecent(closing.signal);
    return changes;
  }

  /** The commits that branches, tags and HEAD lead to only now, or no longer. */
  async function movedCommits(before: Seen, now: Seen): Promise<readonly SourceChange[]> {
    const [old, tips] = [tipsOf(before), tipsOf(now)];
    const left = [...old].filter((hash) => !tips.has(hash));
    const reached = [...tips].filter((hash) => !old.has(hash));
    const known = [...left, ...[...old].filter((hash) => tips.has(hash))].slice(0, maxKnownTips);
    try {
      const appeared = await revList([...reached, "--not", ...known], reached.length);
      const gone = await revList([...left, "--not", "--branches", "--tags", ...headOf(now)], left.length);
      if (Math.max(appeared.length, gone.length) > maxCommits) return [lost];
      const shown = await Promise.all(appeared.map((hash) => options.isShown(hash)));
      return [
        ...appeared.filter((_, index) => shown[index]).map((hash) => commitChange("appeared", hash)),
        ...gone.map((hash) => commitChange("gone", hash)),
      ];
    } catch (cause) {
      // The repository may lack the old commits by now.
      if (cause instanceof GitFailure) return [lost];
      throw cause;
    }
  }

  async function revList(args: readonly string[], tips: number): Promise<string[]> {
    if (tips === 0) return [];
    if (tips > maxKnownTips) return Array<string>(maxCommits + 1).fill("");
    const gitDir = await mirror.ready();
    const { bytes } = await program.run(["rev-list", `--max-count=${maxCommits + 1}`, ...args], {
      gitDir,
      signal: closing.signal,
    });
    return bytes.toString("latin1").split("\n").filter(Boolean);
  }

  /** The changes below a name that has moved. */
  async function changesOf(ref: string, old: string, hash: string): Promise<readonly SourceChange[]> {
    const sections = ["tree", "blob", "blame"];
    if (old === "" || hash === "") {
      const kind = old === "" ? "appeared" : "gone";
      return [...sections, "commit"].map((section) => ({ kind, path: pathOf([section, ref]), isUnlisted: true }));
    }
    const changes: SourceChange[] = ["commit", "tree"].map((section) => ({
      kind: "changed",
      path: pathOf([section, ref]),
    }));
    const { signal } = closing;
    const { files, isCut } = await changedFiles(old, hash, { program, mirror, rules, signal, folders: true });
    if (isCut || files.length > maxChanges) return [lost];
    const holding = isPartial ? foldersAbove(files) : undefined;
    for (const { path, change, isFolder } of files) {
      // A folder in which only hidden files differ has not changed for the caller.
      if (isFolder && holding?.has(path) === false) continue;
      for (const section of isFolder ? ["tree"] : sections) {
        const at = pathOf([section, ref, ...path.split("/")]);
        if (change === "added") changes.push({ kind: "appeared", path: at, isUnlisted: true });
        else if (change === "deleted") changes.push({ kind: "gone", path: at, isUnlisted: true });
        else changes.push({ kind: "changed", path: at });
      }
    }
    return changes;
  }

  async function meaning(ref: string): Promise<string> {
    try {
      return (await refs.resolve(ref)).hash;
    } catch (cause) {
      if (toResourceError(cause).kind === "not-found") return "";
      throw cause;
    }
  }

  async function arm(): Promise<void> {
    await mirror.ready();
    // Before the first check, so that no change is missed.
    coverFolders();
    await options.askRecent(closing.signal);
    seen = await see();
    await Promise.all([...notes.keys()].map(async (ref) => notes.set(ref, await meaning(ref))));
  }

  function stop(): void {
    for (const { watcher } of folders.values()) watcher.close();
    folders.clear();
    clearTimeout(timer);
    clearInterval(poll);
    timer = poll = armed = seen = failure = undefined;
  }

  return {
    async watch(signal) {
      const queue = watches.join(closing.signal.aborted ? closing.signal : signal);
      const stream: SourceWatch = {
        [Symbol.asyncIterator]: () => queue,
        get failure() {
          return failure;
        },
      };
      if (watches.size === 0) return stream;
      armed ??= arm().catch((cause: unknown) => {
        stop();
        throw cause;
      });
      await armed;
      return stream;
    },

    noteDiff(path, base, head) {
      if (diffs.size >= maxNotes && !diffs.has(path)) isForgetful = true;
      else diffs.set(path, [base, head]);
    },

    async close() {
      closing.abort();
      watches.end();
      stop();
      await looking;
    },
  };
}

/** Files that change with a setting, or when an operation such as a merge begins or ends. */
const telltales = [
  "config",
  "MERGE_HEAD",
  "CHERRY_PICK_HEAD",
  "REVERT_HEAD",
  "BISECT_LOG",
  "rebase-merge",
  "rebase-apply",
];

function commitChange(kind: "appeared" | "gone", hash: string): SourceChange {
  return { kind, path: pathOf(["commit", hash]), isUnlisted: true };
}

/** Hashes that HEAD, local branches and tags point to. */
function tipsOf(seen: Seen): ReadonlySet<string> {
  const named = [...seen.refs].flatMap(([name, hash]) => (/^refs\/(?:heads|tags)\//.test(name) ? [hash] : []));
  return new Set([...named, ...headOf(seen)]);
}

/** Empty before the first commit. */
function headOf({ head }: Seen): string[] {
  const hash = head.split(" ").at(-1) ?? "";
  return hash === "" ? [] : [hash];
}

function hashOf(all: readonly Ref[], ref: string): string {
  return all.find(({ name }) => name === ref)?.hash ?? "";
}

/** The folders that contain one of the files. */
function foldersAbove(changes: readonly ServedChange[]): ReadonlySet<string> {
  const folders = new Set<string>();
  for (const { path } of changes.filter(({ isFolder }) => !isFolder))
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1))
      folders.add(path.slice(0, slash));
  return folders;
}

function differing(before: ReadonlyMap<string, string>, now: ReadonlyMap<string, string>): string[] {
  return [...new Set([...before.keys(), ...now.keys()])].filter((name) => before.get(name) !== now.get(name));
}

function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stats ? `${stats.ino}-${stats.size}-${stats.mtimeNs}` : "";
}

function identityOf(folder: string): string {
  const stats = statSync(folder, { throwIfNoEntry: false, bigint: true });
  return stats ? `${stats.dev}-${stats.ino}-${stats.birthtimeNs}` : "";
}

function foldersIn(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
