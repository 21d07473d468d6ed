/** All skills at one moment. Immutable: changes are in the next snapshot. */
import { quote } from "../../errors.ts";
import { compareAddresses } from "../../lib/address-order.ts";
import { directoryType } from "../../resources.ts";
import type { Entry, SourceChange, SourceProblem, SourceSkill } from "../../source.ts";
import type { HeldFile } from "./held.ts";
import { folderOf } from "./list-skill-folder.ts";
import type { Unit } from "./unit.ts";

export interface Snapshot {
  readonly files: ReadonlyMap<string, HeldFile>;
  /** By the path of their SKILL.md. */
  readonly skills: ReadonlyMap<string, SourceSkill>;
  /** Every directory, including the mount, with its direct children. */
  readonly directories: ReadonlyMap<string, readonly Entry[]>;
  readonly problems: readonly SourceProblem[];
}

/** Units of an earlier root come first: if two have the same path, the first is served. */
export function takeSnapshot(units: readonly Unit[], problems: readonly SourceProblem[]): Snapshot {
  const allProblems = [...problems];
  const taken: Unit[] = [];
  for (const unit of units) {
    const rival = taken.find(({ path }) => isWithin(path, unit.path) || isWithin(unit.path, path));
    if (rival === undefined) taken.push(unit);
    else if (!isAlike(rival, unit))
      for (const { path } of unit.skills)
        allProblems.push({ path, says: `exists twice: ${quote(rival.path)} of an earlier root is served` });
  }
  const files = inOrder(taken.flatMap((unit) => [...unit.files]));
  return {
    files,
    skills: inOrder(taken.flatMap(({ skills }) => skills.map((skill) => [skill.path, skill] as const))),
    directories: directoriesOf([...files.values()].map(({ entry }) => entry)),
    problems: allProblems,
  };
}

export function statOf({ files, directories }: Snapshot, path: string): Entry | undefined {
  const inside = directories.get(path);
  return inside ? directoryEntry(path, inside.length) : files.get(path)?.entry;
}

/** The changes between two snapshots, in an order in which they could have happened. */
export function changesBetween(before: Snapshot, after: Snapshot): SourceChange[] {
  const changes: SourceChange[] = [];
  const gone = [...before.files.keys(), ...before.directories.keys()].filter(
    (path) => statOf(after, path) === undefined,
  );
  for (const path of gone.sort(compareAddresses).toReversed()) changes.push({ kind: "gone", path });
  const there = [...after.directories.keys(), ...after.files.keys()].sort(compareAddresses);
  for (const path of there) {
    const old = statOf(before, path);
    if (old === undefined) changes.push({ kind: "appeared", path });
    else if (isCalledAnew(before.skills.get(path), after.skills.get(path))) changes.push({ kind: "appeared", path });
    else if (old.version !== statOf(after, path)?.version) changes.push({ kind: "changed", path });
  }
  return changes;
}

/** Whether its list entry changes: clients read lists again only for what appears. */
function isCalledAnew(before: SourceSkill | undefined, after: SourceSkill | undefined): boolean {
  return before !== undefined && JSON.stringify(before.frontMatter) !== JSON.stringify(after?.frontMatter);
}

function directoriesOf(entries: readonly Entry[]): Map<string, Entry[]> {
  const directories = new Map<string, Entry[]>([["", []]]);
  function enter(path: string): Entry[] {
    let inside = directories.get(path);
    if (inside) return inside;
    directories.set(path, (inside = []));
    // Its number of children is set when all are known.
    enter(folderOf(path)).push({ path, mimeType: directoryType });
    return inside;
  }
  for (const entry of entries) enter(folderOf(entry.path)).push(entry);
  for (const [path, inside] of directories)
    directories.set(
      path,
      inside.map((entry) => {
        const below = directories.get(entry.path);
        return below ? directoryEntry(entry.path, below.length) : entry;
      }),
    );
  return directories;
}

function directoryEntry(path: string, children: number): Entry {
  return { path, mimeType: directoryType, children };
}

function inOrder<T>(pairs: readonly (readonly [path: string, T])[]): Map<string, T> {
  return new Map(pairs.toSorted(([one], [other]) => compareAddresses(one, other)));
}

function isWithin(path: string, outer: string): boolean {
  return path === outer || path.startsWith(`${outer}/`);
}

/** Identical skills in two roots are not a problem. */
function isAlike(one: Unit, other: Unit): boolean {
  return JSON.stringify([one.path, one.skills]) === JSON.stringify([other.path, other.skills]);
}
