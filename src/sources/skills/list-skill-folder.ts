/** Lists a folder of skills by name and version, to detect changes. */
import { lstatSync } from "node:fs";
import { compareAddresses } from "../../lib/address-order.ts";
import { isNothing } from "../../backends/disk/disk.ts";
import type { Entry, Source } from "../../source.ts";
import type { Call } from "../../resources.ts";

export const manifestName = "SKILL.md";

/** An outermost skill with all files in its folder, possibly including other skills. */
export interface SeenUnit {
  /** The path of its folder. */
  readonly path: string;
  /** In address order. */
  readonly files: readonly Entry[];
  /** Whether every file has a version: only then do equal listings mean equal content. */
  readonly isSettled: boolean;
}

export interface SkillListing {
  readonly units: ReadonlyMap<string, SeenUnit>;
  readonly count: number;
  /** Whether SKILL.md is in the root itself, which then has no name. */
  readonly isSkillItself: boolean;
  /** Whether there are more files than the limit. The incomplete folder is not among the units. */
  readonly isCut: boolean;
}

/** Limit for a folder of skills. */
const maxFilesListed = 20_000;
const pageSize = 5000;

/** A missing folder is empty; one that cannot be read throws. */
export async function listSkillFolder(root: string, files: Source, call: Call): Promise<SkillListing> {
  const entries: Entry[] = [];
  let cursor: string | undefined;
  try {
    do {
      const page = await files.list(cursor === undefined ? { limit: pageSize } : { limit: pageSize, cursor }, call);
      entries.push(...page.items);
      cursor = page.next;
    } while (cursor !== undefined && entries.length < maxFilesListed);
  } catch (cause) {
    if (!isGone(root)) throw cause;
    return { units: new Map(), count: 0, isSkillItself: false, isCut: false };
  }
  const units = toUnits(entries);
  const last = entries.at(-1)?.path ?? "";
  // The last folder may be incomplete.
  if (cursor !== undefined) for (const path of units.keys()) if (last.startsWith(`${path}/`)) units.delete(path);
  return {
    units,
    count: entries.length,
    isSkillItself: entries.some(({ path }) => path === manifestName),
    isCut: cursor !== undefined,
  };
}

export function isSame(one: SkillListing, other: SkillListing): boolean {
  if (one.units.size !== other.units.size || one.isCut !== other.isCut || one.isSkillItself !== other.isSkillItself)
    return false;
  for (const [path, unit] of one.units) if (!isSameUnit(unit, other.units.get(path))) return false;
  return true;
}

export function isSameUnit(one: SeenUnit, other: SeenUnit | undefined): boolean {
  if (one.files.length !== other?.files.length) return false;
  return one.files.every((file, index) => isSameFile(file, other.files[index] as Entry));
}

/** The files below a folder; `files` must be in address order. */
export function filesBelow(files: readonly Entry[], folder: string): readonly Entry[] {
  const inside = `${folder}/`;
  let from = 0;
  for (let high = files.length; from < high;) {
    const middle = (from + high) >>> 1;
    if (compareAddresses((files[middle] as Entry).path, folder) <= 0) from = middle + 1;
    else high = middle;
  }
  // Everything below a folder follows it directly.
  const below: Entry[] = [];
  for (let at = from; at < files.length; at += 1) {
    const file = files[at] as Entry;
    if (!file.path.startsWith(inside)) break;
    below.push(file);
  }
  return below;
}

export function isManifest({ path }: Pick<Entry, "path">): boolean {
  return path.endsWith(`/${manifestName}`);
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

function toUnits(files: readonly Entry[]): Map<string, SeenUnit> {
  const units = new Map<string, SeenUnit>();
  const folders = files.filter(isManifest).map(({ path }) => folderOf(path));
  let outer: string | undefined;
  for (const path of folders.sort(compareAddresses)) {
    if (outer !== undefined && path.startsWith(`${outer}/`)) continue;
    outer = path;
    const own = filesBelow(files, path);
    units.set(path, { path, files: own, isSettled: own.every(isSettled) });
  }
  return units;
}

/** A recently written file gets its version a moment later, without a change. */
function isSameFile(one: Entry, other: Entry): boolean {
  const isSameVersion = !isSettled(one) || !isSettled(other) || one.version === other.version;
  return (
    isSameVersion &&
    one.path === other.path &&
    one.size === other.size &&
    one.annotations?.lastModified === other.annotations?.lastModified &&
    one.reveals?.path === other.reveals?.path
  );
}

function isSettled({ version }: Entry): boolean {
  return version !== undefined;
}

function isGone(root: string): boolean {
  try {
    return !lstatSync(root).isDirectory();
  } catch (cause) {
    return isNothing(cause);
  }
}
