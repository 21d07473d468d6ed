/** The snapshot of now: looked after at every question and every change, and swapped as a whole. */
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { toResourceError } from "../../errors.ts";
import type { Call } from "../../resources.ts";
import type { Source, SourceChange, SourceProblem, Runtime } from "../../source.ts";
import { startWatch } from "../memory/changes.ts";
import type { MemoryWatch } from "../memory/changes.ts";
import { isSame, isSameUnit, lookInto, manifestName } from "./look.ts";
import type { Look } from "./look.ts";
import { changesBetween, takeSnapshot } from "./snapshot.ts";
import type { Snapshot } from "./snapshot.ts";
import { readUnit } from "./unit.ts";
import type { Unit } from "./unit.ts";

export interface SkillsRoot {
  readonly path: string;
  /** The files below it, as the file source serves them. */
  readonly files: Source;
}

export interface SkillsCatalogue {
  /** As things are now, or as they were before they were half-written. */
  fresh(): Promise<Snapshot>;
  watch(signal: AbortSignal): Promise<AsyncIterable<SourceChange>>;
  close(): Promise<void>;
}

/** What is known of an outermost skill: as it was last seen, and as it is served. */
interface Known {
  readonly latest: Unit;
  readonly served: Unit;
}

type Shelf = ReadonlyMap<string, Known>;

/** What all skills may hold together. */
const maxHeld = 256 * 1024 * 1024;
/** What was written less than this ago may not be all of it. */
const quietMs = 25;
/** Under continuous writing the former snapshot is given after so many looks. */
const maxLooks = 8;
/** Up to so many files, every question looks whether they are the same. */
const fewFiles = 64;
/** With more, looking takes at most one part in so many of the time. */
const restPerLook = 20;
/** When something was still being written, the watch looks again after this. */
const againMs = 200;

export function createSkillsCatalogue(
  roots: readonly SkillsRoot[],
  { log, wait }: Pick<Runtime, "log" | "wait">,
): SkillsCatalogue {
  const closing = new AbortController();
  const call: Call = { caller: { id: "pressmark" }, signal: closing.signal };
  const watches = new Set<MemoryWatch>();
  const said = new Set<string>();
  let shelves: readonly Shelf[] = roots.map(() => new Map());
  let looks: readonly Look[] = [];
  let snapshot: Snapshot | undefined;
  /** Whether equal looks mean equal content. */
  let isSettled = false;
  let restUntilMs = 0;
  /** Whether something is known to have changed since the last look began. */
  let isUrgent = false;
  let running: Promise<Snapshot> | undefined;
  let queued: Promise<Snapshot> | undefined;
  let pump: Pump | undefined;

  async function lookAll(): Promise<readonly Look[]> {
    const beganMs = performance.now();
    const found = await Promise.all(roots.map(({ path, files }) => lookInto(path, files, call)));
    const count = found.reduce((sum, look) => sum + look.count, 0);
    const endMs = performance.now();
    restUntilMs = count <= fewFiles ? 0 : endMs + restPerLook * (endMs - beganMs);
    return found;
  }

  async function refresh(): Promise<Snapshot> {
    isUrgent = false;
    let former: readonly Look[] | undefined;
    for (let count = 1; ; count += 1) {
      const seen = await lookAll();
      if (snapshot && isSettled && areSame(seen, looks)) return snapshot;
      const units = await readAll(seen);
      const again = await lookAll();
      const isSteady = areSame(seen, again) && units.every((shelf) => [...shelf.values()].every(Boolean));
      const settled = seen.every((look) => [...look.units.values()].every((unit) => unit.isSettled));
      // Twice the same, with some time between, is as good where a time stamp says little.
      const isQuiet = settled || (former !== undefined && areSame(former, seen));
      if ((isSteady && isQuiet) || count === maxLooks)
        return swap(units, again, { isSteady, settled: settled && isSteady });
      former = again;
      await wait(quietMs, closing.signal);
    }
  }

  /** By root and path; undefined for what changed while it was read. */
  async function readAll(seen: readonly Look[]): Promise<Map<string, Unit | undefined>[]> {
    let left = maxHeld;
    const shelvesOfNow: Map<string, Unit | undefined>[] = [];
    for (const [index, { units }] of seen.entries()) {
      const { files } = roots[index] as SkillsRoot;
      const read = (path: string) => files.read({ path }, call);
      const shelf = new Map<string, Unit | undefined>();
      for (const [path, seenUnit] of units) {
        const unit = await readUnit(seenUnit, shelves[index]?.get(path)?.latest, { read, left });
        left -= unit?.bytes ?? 0;
        shelf.set(path, unit);
      }
      shelvesOfNow.push(shelf);
    }
    return shelvesOfNow;
  }

  function swap(
    units: readonly ReadonlyMap<string, Unit | undefined>[],
    now: readonly Look[],
    { isSteady, settled }: { readonly isSteady: boolean; readonly settled: boolean },
  ): Snapshot {
    const before = snapshot;
    shelves = now.map((look, index) => {
      // What is missing in the middle of writing may be about to be replaced.
      const shelf = new Map(isSteady ? [] : shelves[index]);
      for (const [path, seen] of look.units) {
        const known = shelves[index]?.get(path);
        const unit = units[index]?.get(path);
        if (unit && isSameUnit(unit.seen, seen))
          shelf.set(path, toKnown(unit, known, (roots[index] as SkillsRoot).path));
      }
      return shelf;
    });
    looks = now;
    isSettled = settled;
    const all = shelves.flatMap((shelf) => [...shelf.values()]);
    const problems = [...problemsOf(now), ...all.flatMap(({ latest }) => latest.problems)];
    const after = takeSnapshot(
      all.map(({ served }) => served),
      problems,
    );
    snapshot = after;
    // What was wrong from the start is for the doctor to tell; what goes wrong now is news.
    sayOnce(after.problems, before ? "warn" : "info");
    const changes = before ? changesBetween(before, after) : [];
    for (const change of changes) for (const watch of watches) watch.hear(change);
    return after;
  }

  function sayOnce(problems: readonly SourceProblem[], level: "info" | "warn"): void {
    const now = new Set(problems.map((problem) => JSON.stringify(problem)));
    for (const old of said) if (!now.has(old)) said.delete(old);
    for (const problem of problems) {
      const key = JSON.stringify(problem);
      if (said.has(key)) continue;
      said.add(key);
      const { path, says, advice } = problem;
      log(level, "a skill is left out, or stays as it was", { path, says, advice });
    }
  }

  /** One look at a time; whoever comes while one is under way shares the next, which begins after they asked. */
  function fresh(): Promise<Snapshot> {
    if (snapshot && !isUrgent && performance.now() < restUntilMs) return Promise.resolve(snapshot);
    if (!running)
      return (running = refresh()
        .catch(orFormer)
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

  /** A root that cannot be looked at just now takes nothing from what was read before. */
  function orFormer(cause: unknown): Snapshot {
    if (snapshot === undefined || closing.signal.aborted) throw cause;
    log("warn", "the skills cannot be looked at, so they stay as they were", { cause: toResourceError(cause) });
    return snapshot;
  }

  function startPump(): Pump {
    const ending = new AbortController();
    let isDirty = false;
    let isBusy = false;

    async function stir(): Promise<void> {
      isDirty = true;
      if (isBusy) return;
      isBusy = true;
      try {
        while (isDirty && !ending.signal.aborted) {
          isDirty = false;
          isUrgent = true;
          await fresh();
          if (isSettled || isDirty) continue;
          await wait(againMs, ending.signal);
          isDirty = true;
        }
      } catch (cause) {
        if (!ending.signal.aborted) log("warn", "the skills cannot be looked at", { cause });
      } finally {
        isBusy = false;
      }
    }

    async function listen({ files }: SkillsRoot): Promise<() => Promise<void>> {
      const changes = await files.watch?.({ ...call, signal: ending.signal });
      return async () => {
        for await (const _ of changes ?? []) void stir();
      };
    }

    async function start(): Promise<void> {
      const heard = await Promise.all(roots.map(listen));
      for (const hear of heard)
        hear()
          .catch((cause: unknown) => log("warn", "a folder of skills can no longer be watched", { cause }))
          .finally(() => {
            // Those who listen are to begin anew.
            if (ending.signal.aborted) return;
            for (const watch of watches) watch.end();
            leave();
          });
      await fresh();
      void stir();
    }

    return { armed: start(), stop: () => ending.abort() };
  }

  function leave(): void {
    if (watches.size > 0) return;
    pump?.stop();
    pump = undefined;
  }

  return {
    fresh,

    async watch(signal) {
      const changes = startWatch(watches, signal);
      if (signal.aborted) return changes;
      signal.addEventListener("abort", leave, { once: true });
      const own = (pump ??= startPump());
      try {
        await own.armed;
      } catch (cause) {
        for (const watch of watches) watch.end();
        leave();
        throw cause;
      }
      return untilLeft(changes, () => {
        signal.removeEventListener("abort", leave);
        leave();
      });
    },

    async close() {
      closing.abort();
      for (const watch of watches) watch.end();
      leave();
      await Promise.all(roots.map(({ files }) => files.close?.()));
      await running?.catch(() => undefined);
      shelves = [];
      snapshot = undefined;
    },
  };
}

interface Pump {
  /** Resolves once every folder is watched, and looked at after that. */
  readonly armed: Promise<void>;
  stop(): void;
}

/** A skill that is no longer right stays as it was, and so do those it shares files with; unless some of it is hidden by now. */
function toKnown(latest: Unit, before: Known | undefined, root: string): Known {
  const broken = new Set(latest.problems.map(({ path }) => path));
  const isHalfWritten = before?.served.skills.some(({ path }) => broken.has(path)) ?? false;
  return {
    latest,
    served: before && isHalfWritten && !hasHidden(before.served, latest, root) ? before.served : latest,
  };
}

/** Whether a file that was served is still on the disk, and served no more. */
function hasHidden({ files }: Unit, { seen }: Unit, root: string): boolean {
  const served = new Set(seen.files.map(({ path }) => path));
  return [...files.keys()].some(
    (path) => !served.has(path) && lstatSync(join(root, path), { throwIfNoEntry: false }) !== undefined,
  );
}

function problemsOf(looks: readonly Look[]): SourceProblem[] {
  return looks.flatMap(({ isSkillItself, isCut, count }) => [
    ...(isSkillItself
      ? [{ path: manifestName, says: "stands in the root itself", advice: "name the folder above it as the root" }]
      : []),
    ...(isCut
      ? [{ path: "", says: `holds more than ${count} files`, advice: "name the folder of the skills alone" }]
      : []),
  ]);
}

function areSame(one: readonly Look[], other: readonly Look[]): boolean {
  return one.length === other.length && one.every((look, index) => isSame(look, other[index] as Look));
}

async function* untilLeft<T>(changes: AsyncIterable<T>, left: () => void): AsyncGenerator<T> {
  try {
    yield* changes;
  } finally {
    left();
  }
}
