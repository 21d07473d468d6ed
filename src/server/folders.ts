/** Resolves the folders to serve: real paths, no duplicates, each with a name. */
import { opendirSync, realpathSync, statSync } from "node:fs";
import { basename, relative, resolve, sep } from "node:path";
import { invalid, quote } from "../errors.ts";

export interface NamedFolder {
  readonly name: string;
  /** Absolute, without links. */
  readonly path: string;
}

/** Without any, the current folder. */
export function findFolders(folders: readonly string[], from: string): readonly NamedFolder[] {
  const found: { readonly named: string; readonly path: string }[] = [];
  for (const named of folders.length === 0 ? ["."] : folders) {
    const path = realFolder(named, from);
    for (const other of found) {
      if (other.path === path)
        throw invalid(`${quote(named)} and ${quote(other.named)} are the same folder; name it once`);
      const [outer, inner] = isWithin(other.path, path) ? [other.named, named] : [named, other.named];
      if (isWithin(other.path, path) || isWithin(path, other.path))
        throw invalid(`${quote(inner)} is inside ${quote(outer)} and would be served twice; name only one of them`);
    }
    found.push({ named, path });
  }
  return withNames(found.map(({ path }) => path));
}

/** Whether `inner` is below `outer`. */
export function isWithin(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && resolve(outer, way) === inner;
}

function realFolder(named: string, from: string): string {
  if (named === "") throw invalid('the name of a folder is empty; write "." for the current folder');
  const path = resolve(from, named);
  try {
    if (!statSync(path).isDirectory()) throw invalid(`${quote(named)} is a file; name its folder`);
    opendirSync(path).closeSync();
    // Needs the permission to enter it.
    statSync(`${path}${sep}.`);
    return realpathSync.native(path);
  } catch (cause) {
    switch ((cause as NodeJS.ErrnoException).code) {
      case "ENOENT":
        throw invalid(`no folder ${quote(named)}; check the path, or create it first`);
      case "ENOTDIR":
        throw invalid(`${quote(named)} contains a file where a folder is expected; check the path`);
      case "EACCES":
      case "EPERM":
        throw invalid(`no permission to open ${quote(named)}; check its permissions`);
      case "ELOOP":
        throw invalid(`${quote(named)} is a link to itself; name the real folder`);
      default:
        throw cause;
    }
  }
}

function withNames(paths: readonly string[]): readonly NamedFolder[] {
  const taken = new Set<string>();
  return paths.map((path) => {
    return { name: freeName(basename(path) || "root", taken), path };
  });
}

/** The name, with a number if it is taken; takes it. */
export function freeName(plain: string, taken: Set<string>): string {
  let name = plain;
  for (let count = 2; taken.has(name); count++) name = `${plain}-${count}`;
  taken.add(name);
  return name;
}
