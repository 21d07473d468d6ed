/**
 * Determines which locations on the disk git would read for a repository, without running git and before git runs on it. A repository is
 * rejected if git might follow something that this module does not understand.
 */
import { isUtf8 } from "node:buffer";
import { type Dirent, lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { invalid, quote, ResourceError } from "../../errors.ts";
import { isRefName } from "./ref-name.ts";
import { readSmallFile, realOf, type GitRepository } from "./repository.ts";

export interface Reach {
  /** Object folders without links: the repository's own first, then its alternates. */
  readonly objectFolders: readonly string[];
  /** Every location that is read, without links. */
  readonly locations: readonly string[];
}

const maxListBytes = 256 * 1024;
const maxObjectFolders = 32;
/** A repository with more loose objects and refs than this needs "git gc" before it is served. */
const maxEntries = 200_000;
/** Git's own limit for nested alternates. */
const maxDepth = 5;

/** Throws "invalid" for a repository that git may read in ways that this module does not understand. */
export function reachOf(repository: GitRepository): Reach {
  try {
    return findReach(repository);
  } catch (cause) {
    if (cause instanceof ResourceError) throw cause;
    throw unusual(`a part of it cannot be read (${(cause as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
}

function findReach({ gitDir, commonDir }: GitRepository): Reach {
  const locations = new Set([commonDir, gitDir]);
  const objectFolders = new Set<string>();
  const walked = new Set<string>();
  let entriesLeft = maxEntries;

  function entriesOf(folder: string): readonly Dirent[] {
    let entries: readonly Dirent[];
    try {
      entries = readdirSync(folder, { withFileTypes: true });
    } catch (cause) {
      // Git removes empty folders while it works.
      if ((cause as NodeJS.ErrnoException).code === "ENOENT") return [];
      throw cause;
    }
    entriesLeft -= entries.length;
    if (entriesLeft < 0) throw unusual(`it has more than ${maxEntries} loose objects and refs; run "git gc"`);
    return entries;
  }

  /** Adds the target of the link. */
  function follow(link: string): string {
    const real = realOf(link);
    if (real === undefined) throw unusual(`${nameOf(link)} is a broken link`);
    locations.add(real);
    return real;
  }

  function addFile(path: string): void {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (!stats?.isSymbolicLink()) return;
    const target = resolve(dirname(path), readlinkSync(path));
    // Its target may be created later.
    locations.add(realOf(path) ?? join(realOf(dirname(target)) ?? dirname(target), basename(target)));
  }

  function addObjects(path: string, depth: number): void {
    const objects = realOf(path);
    // Git skips a missing alternate.
    if (objects === undefined || objectFolders.has(objects)) return;
    if (!statSync(objects).isDirectory()) throw unusual("one of its alternates is not a folder");
    if (objectFolders.size >= maxObjectFolders) throw unusual(`it has more than ${maxObjectFolders - 1} alternates`);
    locations.add(objects);
    objectFolders.add(objects);
    for (const entry of entriesOf(objects)) {
      const inner = join(objects, entry.name);
      if (/^[0-9a-f]{2}$/.test(entry.name)) {
        const odd = entry.isDirectory() ? entriesOf(inner).find((each) => !each.isFile()) : entry;
        if (odd) throw unusual(`${nameOf(inner)} is not a folder of loose objects`);
      } else if (entry.name === "pack" || entry.name === "info")
        addFiles(entry.isSymbolicLink() ? follow(inner) : inner, entry.name === "info");
    }
    for (const line of alternatesOf(join(objects, "info", "alternates")))
      if (depth < maxDepth) addObjects(resolve(objects, line), depth + 1);
  }

  /** The files of a folder, and of its subfolders if `isDeep`. */
  function addFiles(folder: string, isDeep: boolean): void {
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      const real = entry.isSymbolicLink() ? follow(path) : path;
      const kind = entry.isSymbolicLink() ? statSync(real) : entry;
      if (kind.isDirectory() && isDeep) addFiles(real, false);
      else if (!kind.isDirectory() && !kind.isFile()) throw unusual(`${nameOf(path)} is not a file`);
    }
  }

  function addRefs(folder: string): void {
    if (walked.has(folder)) return;
    walked.add(folder);
    for (const entry of entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) {
        // Git reads the text of such a link as the name of another ref, and does not follow it.
        const text = readlinkSync(path);
        if (text.startsWith("refs/") && isRefName(text)) continue;
        const real = follow(path);
        if (statSync(real).isDirectory()) addRefs(real);
      } else if (entry.isDirectory()) addRefs(path);
    }
  }

  for (const name of ["HEAD", "index", "config.worktree", "info/sparse-checkout"]) addFile(join(gitDir, name));
  for (const name of ["config", "packed-refs", "shallow", "info/exclude"]) addFile(join(commonDir, name));
  const refs = realOf(join(commonDir, "refs"));
  if (refs !== undefined) {
    locations.add(refs);
    addRefs(refs);
  }
  const reftable = realOf(join(gitDir, "reftable"));
  if (reftable !== undefined) {
    locations.add(reftable);
    addFiles(reftable, false);
    // Git opens the files that the list names, wherever they are.
    for (const line of linesOf(join(reftable, "tables.list"), "reftable/tables.list"))
      if (!/^[\w.-]*$/.test(line)) throw unusual('"reftable/tables.list" names a file elsewhere');
  }
  addObjects(join(commonDir, "objects"), 0);
  return { objectFolders: [...objectFolders], locations: [...locations] };
}

/** The locations outside the folders. A location inside another one is not repeated. */
export function placesOutside({ locations }: Reach, folders: readonly string[]): string[] {
  const inside = folders.map((folder) => realOf(folder) ?? folder);
  const found: string[] = [];
  for (const location of locations)
    if (![...inside, ...found].some((outer) => isInside(outer, location))) found.push(location);
  return found;
}

/**
 * The locations outside the folder that git reads for this repository: a git folder elsewhere (worktrees, submodules), alternates, links.
 * For a repository that is not understood, its git folder.
 */
export function placesBeyond(repository: GitRepository, folder: string): string[] {
  try {
    return placesOutside(reachOf(repository), [folder]);
  } catch {
    return [repository.gitDir];
  }
}

/** Changes when an object folder, its packs or its alternates change. Costs a few system calls. */
export function reachStamp({ gitDir, commonDir }: GitRepository, objectFolders: readonly string[]): string {
  const within = ["", "pack", "info", "info/alternates"];
  const paths = objectFolders.flatMap((folder) => within.map((name) => join(folder, name)));
  return [...new Set([commonDir, gitDir, join(commonDir, "objects"), ...paths])].map(stampOf).join(" ");
}

function stampOf(path: string): string {
  try {
    const stats = statSync(path, { throwIfNoEntry: false, bigint: true });
    return stats ? `${stats.dev}-${stats.ino}-${stats.ctimeNs}` : "";
  } catch (cause) {
    return `${(cause as NodeJS.ErrnoException).code}`;
  }
}

/** The folders in an alternates file, as written there. */
function alternatesOf(path: string): string[] {
  const lines = linesOf(path, "objects/info/alternates");
  // Git writes no quotes into this file, and parses quoted lines by special rules.
  if (lines.some((line) => line.startsWith('"'))) throw unusual('"objects/info/alternates" has a line in quotes');
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

function linesOf(path: string, name: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  const bytes = readSmallFile(path, maxListBytes);
  if (!bytes) throw unusual(`${quote(name)} is larger than ${maxListBytes} bytes or cannot be read`);
  const text = bytes.toString("utf8");
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  if (!isUtf8(bytes) || /[\u0000-\u0009\u000b-\u001f]/.test(text))
    throw unusual(`${quote(name)} contains bytes that are not valid in a folder name`);
  return text.split("\n");
}

function nameOf(path: string): string {
  return quote(`${basename(dirname(path))}/${basename(path)}`);
}

function unusual(what: string) {
  return invalid(`this git repository is not served, because git might read locations outside it: ${what}`);
}

/** Whether the second is the first or below it. */
function isInside(outer: string, inner: string): boolean {
  const relativePath = relative(outer, inner);
  return (
    relativePath === "" || (relativePath !== ".." && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath))
  );
}
