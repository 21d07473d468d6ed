/** Maintains the current snapshot: checked on every request and every change, and replaced as a whole. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { toResourceError, unavailable } from "../../errors.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { type Call, serverCaller } from "../../resources.ts";
import type { Source, SourceChange, SourceProblem, SourceWatch, Runtime } from "../../source.ts";
import { createSharedWatch, type ChangeDetector } from "../../backends/shared-watch.ts";
import { isSame, isSameUnit, listSkillFolder, manifestName } from "./list-skill-folder.ts";
import type { SkillListing } from "./list-skill-folder.ts";
import { changesBetween, takeSnapshot } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";
import { readUnit } from "./unit.ts";
import type { Unit } from "./unit.ts";

export interface SkillsRoot {
  readonly path: string;
  /** The files below it, from the file source. */
  readonly files: Source;
}

interface SkillsCatalogue {
  /** The current state, or the last complete one while files are being written. */
  fresh(): Promise<Snapshot>;
  watch(signal: AbortSignal): Promise<SourceWatch>;
  /** From now on, `fresh` returns only what was checked after this call. */
  expire(call: Call): Promise<void>;
  close(): Promise<void>;
}

/** An outermost skill: as last seen, and as served. */
interface Known {
  readonly latest: Unit;
  readonly served: Unit;
}

type KnownSkills = ReadonlyMap<string, Known>;

/** Memory limit for all skills together. */
const maxHeld = 256 * 1024 * 1024;
/** Files written less than this ago may be incomplete. */
const quietMs = 25;
/** Under continuous writing, the previous snapshot is returned after this many checks. */
const maxChecks = 8;
/** Up to this many files, every request checks them. */
const fewFiles = 64;
/** With more files, checking takes at most 1/20 of the time. */
const restPerCheck = 20;
/** After a check during writing, the watch checks again after this time. */
const againMs = 200;

export function createSkillsCatalogue(
  roots: readonly SkillsRoot[],
  { log, wait }: Pick<Runtime, "log" | "wait">,
): SkillsCatalogue {
  const closing = new AbortController();
  const call: Call = { caller: serverCaller, signal: closing.signal };
  const watching = createSharedWatch(detect);
  /** Of the last detector. */
  let tell: ChangeDetector["tell"] | undefined;
  let setFailure: ChangeDetector["setFailure"] | undefined;
  let rootWatches: readonly (SourceWatch | undefined)[] = [];
  const logged = new Set<string>();
  let skillsByRoot: readonly KnownSkills[] = roots.map(() => new Map());
  let listings: readonly SkillListing[] = [];
  let snapshot: Snapshot | undefined;
  /** Whether equal checks mean equal content. */
  let isSettled = false;
  let restUntilMs = 0;
  /** Whether something has changed since the last check began. */
  let isUrgent = false;
  let running: Promise<Snapshot> | undefined;
  let queued: Promise<Snapshot> | undefined;

  async function listAll(): Promise<readonly SkillListing[]> {
    const beganMs = performance.now();
    const found = await Promise.all(roots.map(({ path, files }) => listSkillFolder(path, files, call)));
    const count = found.reduce((sum, listing) => sum + listing.count, 0);
    const endMs = performance.now();
    restUntilMs = count <= fewFiles ? 0 : endMs + restPerCheck * (endMs - beganMs);
    return found;
  }

  async function refresh(): Promise<Snapshot> {
    isUrgent = false;
    let former: readonly SkillListing[] | undefined;
    for (let count = 1; ; count += 1) {
      const seen = await listAll();
      if (snapshot && isSettled && areSame(seen, listings)) return snapshot;
      const units = await readAll(seen);
      const again = await listAll();
      const isSteady = areSame(seen, again) && units.every((skillsOfRoot) => [...skillsOfRoot.values()].every(Boolean));
      const settled = seen.every((listing) => [...listing.units.values()].every((unit) => unit.isSettled));
      // Two equal checks with some time between also suffice where time stamps are unreliable.
      const isQuiet = settled || (former !== undefined && areSame(former, seen));
      if ((isSteady && isQuiet) || count === maxChecks)
        return swap(units, again, { isSteady, settled: settled && isSteady });
      former = again;
      await wait(quietMs, closing.signal);
    }
  }

  /** By root and path; undefined if it changed during the read. */
  async function readAll(seen: readonly SkillListing[]): Promise<Map<string, Unit | undefined>[]> {
    let left = maxHeld;
    const unitsByRoot: Map<string, Unit | undefined>[] = [];
    for (const [index, { units }] of seen.entries()) {
      const { files } = roots[index] as SkillsRoot;
      const read = (path: string) => files.read({ path }, call);
      const skillsOfRoot = new Map<string, Unit | undefined>();
      for (const [path, seenUnit] of units) {
        const unit = await readUnit(seenUnit, skillsByRoot[index]?.get(path)?.latest, { read, left });
        left -= unit?.bytes ?? 0;
        skillsOfRoot.set(path, unit);
      }
      unitsByRoot.push(skillsOfRoot);
    }
    return unitsByRoot;
  }

  function swap(
    units: readonly ReadonlyMap<string, Unit | undefined>[],
    now: readonly SkillListing[],
    { isSteady, settled }: { readonly isSteady: boolean; readonly settled: boolean },
  ): Snapshot {
    const before = snapshot;
    skillsByRoot = now.map((listing, index) => {
      // A file that is missing during writing may be about to be replaced.
      const skillsOfRoot = new Map(isSteady ? [] : skillsByRoot[index]);
      for (const [path, seen] of listing.units) {
        const known = skillsByRoot[index]?.get(path);
        const unit = units[index]?.get(path);
        if (unit && isSameUnit(unit.seen, seen))
          skillsOfRoot.set(path, toKnown(unit, known, (roots[index] as SkillsRoot).path));
      }
      return skillsOfRoot;
    });
    listings = now;
    isSettled = settled;
    const all = skillsByRoot.flatMap((skillsOfRoot) => [...skillsOfRoot.values()]);
    const problems = now.flatMap((listing, index) => {
      const latest = [...(skillsByRoot[index]?.values() ?? [])].flatMap((known) => known.latest.problems);
      return [...problemsOf(listing), ...latest].map((problem) => ({ ...problem, path: fileOf(problem.path, index) }));
    });
    const after = takeSnapshot(
      all.map(({ served }) => served),
      problems,
    );
    snapshot = after;
    // Initial problems are reported by the doctor command; later ones are logged as warnings.
    logOnce(after.problems, before ? "warn" : "info");
    const changes = before ? changesBetween(before, after) : [];
    tell?.(changes);
    return after;
  }

  /** With several roots, a path alone does not tell which file it is. */
  function fileOf(path: string, root: number): string {
    return roots.length > 1 ? join((roots[root] as SkillsRoot).path, path) : path;
  }

  function logOnce(problems: readonly SourceProblem[], level: "info" | "warn"): void {
    const now = new Set(problems.map((problem) => JSON.stringify(problem)));
    for (const old of logged) if (!now.has(old)) logged.delete(old);
    for (const problem of problems) {
      const key = JSON.stringify(problem);
      if (logged.has(key)) continue;
      logged.add(key);
      log(level, "a skill is left out, or not updated", { ...problem });
    }
  }

  /** One check at a time; callers during a check share the next one, which begins after their call. */
  function fresh(): Promise<Snapshot> {
    if (snapshot && !isUrgent && performance.now() < restUntilMs) return Promise.resolve(snapshot);
    if (!running)
      return (running = refresh()
        .then(
          (found) => {
            setFailure?.(undefined);
            return found;
          },
          (cause: unknown) => orFormer(cause),
        )
        .finally(() => {
          running = undefined;
        }));
    queued ??= running
      .catch(() => undefined)
      .then(() => {
        queued = undefined;
        return fresh();
      });
    return queued;
  }

  /** A root that cannot be read at the moment keeps its previous skills. */
  function orFormer(cause: unknown): Snapshot {
    if (snapshot === undefined || closing.signal.aborted) throw cause;
    isUrgent = true;
    setFailure?.(cause);
    log("warn", "the skills cannot be read and are not updated", { cause: toResourceError(cause) });
    return snapshot;
  }

  async function detect({ armed, tell: told, setFailure: fail, signal }: ChangeDetector): Promise<void> {
    let isDirty = false;
    let isBusy = false;

    async function stir(): Promise<void> {
      isDirty = true;
      if (isBusy) return;
      isBusy = true;
      try {
        while (isDirty && !signal.aborted) {
          isDirty = false;
          isUrgent = true;
          await fresh();
          if (isSettled || isDirty) continue;
          await wait(againMs, signal);
          isDirty = true;
        }
      } catch (cause) {
        if (!signal.aborted) log("warn", "the skills cannot be read", { cause });
      } finally {
        isBusy = false;
      }
    }

    async function follow(changes: AsyncIterable<SourceChange>): Promise<void> {
      for await (const _ of changes) void stir();
    }

    tell = told;
    setFailure = fail;
    rootWatches = await Promise.all(roots.map(({ files }) => files.watch?.({ ...call, signal })));
    const ended = Promise.race(rootWatches.map((changes) => changes && follow(changes)));
    ended.catch(() => undefined);
    await fresh();
    armed();
    void stir();
    await unlessAborted(ended, signal);
    if (!signal.aborted) throw unavailable("a folder of skills can no longer be watched");
  }

  return {
    fresh,

    async watch(signal) {
      const changes = await watching.watch(signal);
      return {
        [Symbol.asyncIterator]: () => changes,
        // For the list, a missing folder has no skills; but on another machine it may have some.
        get failure() {
          return changes.failure ?? rootWatches.find((each) => each?.failure)?.failure;
        },
      };
    },

    async expire(asking) {
      isUrgent = true;
      await Promise.all(roots.map(({ files }) => files.noteChanges?.([{ kind: "lost" }], asking)));
    },

    async close() {
      closing.abort();
      await watching.close();
      await Promise.all(roots.map(({ files }) => files.close?.()));
      await running?.catch(() => undefined);
      skillsByRoot = [];
      snapshot = undefined;
    },
  };
}

/**
 * A skill that is no longer valid keeps its last valid state, and so do skills that share files with it; unless some of its files are now
 * hidden.
 */
function toKnown(latest: Unit, before: Known | undefined, root: string): Known {
  const broken = new Set(latest.problems.map(({ path }) => path));
  const isHalfWritten = before?.served.skills.some(({ path }) => broken.has(path)) ?? false;
  return {
    latest,
    served: before && isHalfWritten && !hasHidden(before.served, latest, root) ? before.served : latest,
  };
}

/** Whether a served file still exists on the disk but is now hidden. */
function hasHidden({ files }: Unit, { seen }: Unit, root: string): boolean {
  const served = new Set(seen.files.map(({ path }) => path));
  return [...files.keys()].some(
    (path) => !served.has(path) && lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined,
  );
}

function problemsOf({ isSkillItself, isCut, count }: SkillListing): SourceProblem[] {
  return [
    ...(isSkillItself
      ? [{ path: manifestName, says: "is in the root itself", advice: "set the root to the folder above it" }]
      : []),
    ...(isCut
      ? [{ path: "", says: `contains more than ${count} files`, advice: "set the root to the folder of the skills" }]
      : []),
  ];
}

function areSame(one: readonly SkillListing[], other: readonly SkillListing[]): boolean {
  return one.length === other.length && one.every((listing, index) => isSame(listing, other[index] as SkillListing));
}
