/** From the folders that a person named to the ones to serve: real, told apart, each with a name. */
import { realpathSync, statSync } from "node:fs";
import { basename, relative, resolve, sep } from "node:path";
import { invalid, quote } from "../errors.ts";

export interface NamedFolder {
  readonly name: string;
  /** Absolute, without links. */
  readonly path: string;
}

/** Without any, the one they are standing in. */
export function findFolders(named: readonly string[], from: string): readonly NamedFolder[] {
  const found: { readonly said: string; readonly path: string }[] = [];
  for (const said of named.length === 0 ? ["."] : named) {
    const path = realFolder(said, from);
    for (const other of found) {
      if (other.path === path)
        throw invalid(`${quote(said)} and ${quote(other.said)} are the same folder; name it once`);
      const [outer, inner] = isWithin(other.path, path) ? [other.said, said] : [said, other.said];
      if (isWithin(other.path, path) || isWithin(path, other.path))
        throw invalid(`${quote(inner)} lies within ${quote(outer)} and would be served twice; name only one of them`);
    }
    found.push({ said, path });
  }
  return withNames(found.map(({ path }) => path));
}

/** Whether the second is below the first. */
export function isWithin(outer: string, inner: string): boolean {
  const way = relative(outer, inner);
  return way !== "" && way !== ".." && !way.startsWith(`..${sep}`) && resolve(outer, way) === inner;
}

function realFolder(said: string, from: string): string {
  if (said === "") throw invalid('the name of a folder is empty; for the current one, write "."');
  const path = resolve(from, said);
  try {
    if (!statSync(path).isDirectory()) throw invalid(`${quote(said)} is a file; name the folder that holds it`);
    return realpathSync.native(path);
  } catch (cause) {
    switch ((cause as NodeJS.ErrnoException).code) {
      case "ENOENT":
        throw invalid(`there is no folder ${quote(said)}; check the spelling, or create it first`);
      case "ENOTDIR":
        throw invalid(`${quote(said)} leads through a file; check the spelling`);
      case "EACCES":
      case "EPERM":
        throw invalid(`the system does not let you into ${quote(said)}; check its permissions`);
      case "ELOOP":
        throw invalid(`${quote(said)} is a link that leads back to itself; name the folder it was meant to lead to`);
      default:
        throw cause;
    }
  }
}

function withNames(paths: readonly string[]): readonly NamedFolder[] {
  const taken = new Set<string>();
  return paths.map((path) => {
    const plain = basename(path) || "root";
    let name = plain;
    for (let count = 2; taken.has(name); count++) name = `${plain}-${count}`;
    taken.add(name);
    return { name, path };
  });
}
