/** Changes some of many served files, and compares what a client is told with what was done. */
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { ServerProcess, Stage } from "./stage.ts";

export interface ChurnOptions {
  readonly seed: number;
  /** How many files are written to one by one. */
  readonly written: number;
  /** How many others are listened to as well. */
  readonly others: number;
  /** How many folders are moved, removed, ignored or touched. */
  readonly folders: number;
}

/** Of files, each as a sentence that says what was done and what was told. */
export interface ChurnFigures {
  readonly announcements: number;
  readonly changed: number;
  /** Changed, and not announced after the last change. */
  readonly missing: readonly string[];
  /** Announced more often than they were changed. */
  readonly repeated: readonly string[];
  /** Not changed, and announced. */
  readonly unchanged: readonly string[];
}

/** What was done to one file. */
interface History {
  readonly deeds: string[];
  readonly steps: { readonly effect: Effect; readonly atMs: number }[];
  /** How many announcements there may be. */
  allowed: number;
}

/**
 * "undo" where the step before is undone, which is announced if that step was. "little" where what is served is as it was, although it
 * was gone for a moment or is another to the file system. "same" where the file was not touched.
 */
type Effect = "change" | "undo" | "little" | "same";

/** One step of a deed. */
type Step = readonly [effect: Effect, run: () => void];

const filesPerFolder = 200;
const foldersPerFolder = 10;
/** A file is announced once a second at most. After so long without any announcement, none is expected. */
const quietMs = 4000;
/** A write that is interrupted for so long counts as two changes. */
const slowMs = 20;

type Random = () => number;

const fileDeeds: Readonly<Record<string, (path: string, random: Random) => readonly Step[]>> = {
  rewrite: (path, random) => [["change", () => fs.writeFileSync(path, textOf(random))]],
  "rewrite with the same content": (path) => [["change", () => fs.writeFileSync(path, fs.readFileSync(path))]],
  replace: (path, random) => [["change", () => replace(path, textOf(random))]],
  "append twice": (path, random) => [
    ["change", () => fs.appendFileSync(path, textOf(random))],
    ["change", () => fs.appendFileSync(path, textOf(random))],
  ],
  touch: (path) => [["change", () => fs.utimesSync(path, new Date(), new Date())]],
  "change the mode": (path) => [["little", () => fs.chmodSync(path, 0o600)]],
  remove: (path) => [["change", () => fs.unlinkSync(path)]],
  "remove and make again": (path, random) => [
    ["change", () => fs.unlinkSync(path)],
    ["change", () => fs.writeFileSync(path, textOf(random))],
  ],
  "rename there and back": (path) => [
    ["change", () => fs.renameSync(path, `${path}~`)],
    ["undo", () => fs.renameSync(`${path}~`, path)],
  ],
  "make and remove another": (path) => [
    ["same", () => fs.writeFileSync(`${path}.new`, "")],
    ["same", () => fs.unlinkSync(`${path}.new`)],
  ],
};

const folderDeeds: Readonly<Record<string, (folder: string) => readonly Step[]>> = {
  "move the folder": (folder) => [["change", () => fs.renameSync(folder, `${folder}-moved`)]],
  "move the folder there and back at once": (folder) => [
    [
      "little",
      () => {
        fs.renameSync(folder, `${folder}-moved`);
        fs.renameSync(`${folder}-moved`, folder);
      },
    ],
  ],
  "move the folder there and back": (folder) => [
    ["change", () => fs.renameSync(folder, `${folder}-moved`)],
    ["undo", () => fs.renameSync(`${folder}-moved`, folder)],
  ],
  "remove the folder": (folder) => [["change", () => fs.rmSync(folder, { recursive: true })]],
  "ignore the folder for a while": (folder) => [
    ["change", () => fs.writeFileSync(join(folder, ".gitignore"), "*\n")],
    ["undo", () => fs.unlinkSync(join(folder, ".gitignore"))],
  ],
  "change the mode of the folder": (folder) => [["same", () => fs.chmodSync(folder, 0o700)]],
};

/** In folders of folders. */
export function makeFiles(stage: Stage, count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => {
    const folder = Math.floor(at / filesPerFolder);
    // No ending: names that are numbers are names like any other.
    const path = join(`top-${Math.floor(folder / foldersPerFolder)}`, `folder-${folder}`, String(at % filesPerFolder));
    if (at % filesPerFolder === 0) fs.mkdirSync(join(stage.folder, dirname(path)), { recursive: true });
    fs.writeFileSync(join(stage.folder, path), `file ${at}\n`);
    return path;
  });
}

export async function churn(
  stage: Stage,
  server: ServerProcess,
  paths: readonly string[],
  { seed, written, others, folders }: ChurnOptions,
): Promise<ChurnFigures> {
  const random = createRandom(seed);
  // In few folders, so that folders that are moved have many of them.
  const inFolders = Map.groupBy(paths, dirname);
  const near = shuffled([...inFolders.keys()], random).flatMap((folder) => inFolders.get(folder)!);
  const chosen = shuffled(near.slice(0, written + others), random);
  const histories = new Map(chosen.map((path): [string, History] => [path, { deeds: [], steps: [], allowed: 0 }]));
  const listening = await listen(stage, server, chosen);

  async function apply(deed: string, steps: readonly Step[], affected: readonly string[]): Promise<void> {
    for (const [index, [effect, run]] of steps.entries()) {
      if (index > 0) await wait(random() * 2000);
      const fromMs = performance.now();
      run();
      const atMs = performance.now();
      for (const path of affected) {
        const history = histories.get(path)!;
        history.deeds.push(`${deed} at ${Math.round(atMs)}`);
        if (effect === "same") continue;
        history.steps.push({ effect, atMs });
        history.allowed += atMs - fromMs > slowMs ? 2 : 1;
      }
    }
  }

  await inTurns(chosen.slice(0, written), random, (path, index) => {
    const [deed, stepsOf] = pick(fileDeeds, index);
    return apply(deed, stepsOf(join(stage.folder, path), random), [path]);
  });
  await listening.quiet();
  const chosenFolders = shuffled([...new Set(chosen.map((path) => dirname(path)))], random).slice(0, folders);
  await inTurns(chosenFolders, random, (folder, index) => {
    const [deed, stepsOf] = pick(folderDeeds, index);
    // What is not there is not changed by what becomes of its folder.
    const there = inFolders
      .get(folder)!
      .filter((path) => histories.has(path) && fs.existsSync(join(stage.folder, path)));
    return apply(deed, stepsOf(join(stage.folder, folder)), there);
  });
  await listening.quiet();
  return compare(histories, await listening.end());
}

function compare(histories: ReadonlyMap<string, History>, told: ReadonlyMap<string, readonly number[]>): ChurnFigures {
  const missing: string[] = [];
  const repeated: string[] = [];
  const unchanged: string[] = [];
  let changed = 0;
  let announcements = 0;
  for (const [path, { deeds, steps, allowed }] of histories) {
    const times = told.get(path) ?? [];
    const sentence = `${path}: ${deeds.join(", ") || "nothing"}; told at ${times.map(Math.round).join(", ") || "no time"}`;
    announcements += times.length;
    if (steps.some(({ effect }) => effect === "change")) changed += 1;
    if (isMissing(steps, times.at(-1) ?? 0)) missing.push(sentence);
    if (times.length > allowed) (allowed === 0 ? unchanged : repeated).push(sentence);
  }
  return { announcements, changed, missing, repeated, unchanged };
}

/** Whether an announcement is missing after the last. */
function isMissing(steps: History["steps"], lastMs: number): boolean {
  for (let at = steps.length - 1; at >= 0; at -= 1) {
    const { effect, atMs } = steps[at]!;
    // Neither this step nor the one before was announced: nothing differs.
    if (effect === "undo" && lastMs < steps[at - 1]!.atMs) at -= 1;
    else if (effect !== "little") return lastMs < atMs;
  }
  return false;
}

interface Listening {
  /** Resolves when nothing has been told for a while. */
  quiet(): Promise<void>;
  /** When each path was told of. */
  end(): Promise<ReadonlyMap<string, readonly number[]>>;
}

async function listen(stage: Stage, server: ServerProcess, paths: readonly string[]): Promise<Listening> {
  const told = new Map<string, number[]>();
  const stop = new AbortController();
  const byUri = new Map(paths.map((path) => [stage.uri(path), path]));
  const watch = await server.pressmark.watch(
    { uris: [...byUri.keys()] },
    { caller: { id: "churn" }, signal: stop.signal },
  );
  if (watch.uris.length !== byUri.size) throw new Error(`${watch.uris.length} of ${byUri.size} are listened to`);
  let lastMs = performance.now();
  const over = (async () => {
    for await (const change of watch) {
      if (change.kind !== "updated") continue;
      lastMs = performance.now();
      const path = byUri.get(change.uri)!;
      const times = told.get(path);
      if (times) times.push(lastMs);
      else told.set(path, [lastMs]);
    }
  })();
  return {
    async quiet() {
      lastMs = performance.now();
      while (performance.now() - lastMs < quietMs) await wait(100);
    },
    async end() {
      stop.abort();
      await over;
      return told;
    },
  };
}

/** Begins with one after the other, some at once and then none for a moment. */
async function inTurns<T>(
  items: readonly T[],
  random: Random,
  begin: (item: T, index: number) => Promise<void>,
): Promise<void> {
  const begun: Promise<void>[] = [];
  for (const [index, item] of items.entries()) {
    begun.push(begin(item, index));
    if (random() < 0.1) await wait(random() * 100);
  }
  await Promise.all(begun);
}

function pick<T>(from: Readonly<Record<string, T>>, index: number): [name: string, value: T] {
  const all = Object.entries(from);
  return all[index % all.length]!;
}

function replace(path: string, text: string): void {
  fs.writeFileSync(`${path}~`, text);
  fs.renameSync(`${path}~`, path);
}

function textOf(random: Random): string {
  return `${random()}\n`.repeat(1 + Math.floor(random() * 50));
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item): [number, T] => [random(), item])
    .sort(([left], [right]) => left - right)
    .map(([, item]) => item);
}

/** The same numbers from 0 up to 1 for the same seed (mulberry32). */
function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
