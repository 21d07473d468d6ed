/** The packages of others that a release contains or needs, with their licences. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface Part {
  readonly name: string;
  readonly version: string;
  /** As its package says, in SPDX; "" if it says none. */
  readonly licence: string;
  /**
   * `installed`: npm installs it with the package. `bundled`: its code is in the package. `embedded`: its code is in the single executable
   * only.
   */
  readonly kind: "installed" | "bundled" | "embedded";
}

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** What nobody needs at run time. */
const forTests = new Set(["vitest"]);

/** Sorted by kind and name. `folder` has the manifest, the lock file and `dist`. */
export function partsOf(folder: string): readonly Part[] {
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  const { dependencies = {}, peerDependencies = {} } = lock.packages[""]!;
  const installed = lockedClosure(lock.packages, Object.keys(dependencies));
  const optional = Object.keys(peerDependencies).filter((name) => !forTests.has(name));
  const embedded = [...lockedClosure(lock.packages, optional)].filter((path) => !installed.has(path));
  const toPart =
    (kind: Part["kind"]) =>
    (path: string): Part => {
      const { version = "", license = "" } = lock.packages[path]!;
      return { name: path.replace(/^.*node_modules\//, ""), version, licence: license, kind };
    };
  const notices = readFileSync(join(folder, "dist/third-parties.md"), "utf8");
  const bundled = Array.from(
    notices.matchAll(/^## (\S+) (\S+) \((.*)\)$/gm),
    ([, name = "", version = "", licence = ""]) => ({
      name,
      version,
      licence,
      kind: "bundled" as const,
    }),
  );
  return [...[...installed].sort().map(toPart("installed")), ...bundled, ...embedded.sort().map(toPart("embedded"))];
}

/** Paths in the lock file of these packages and of all that they depend on. */
function lockedClosure(packages: Readonly<Record<string, LockedPackage>>, names: readonly string[]): Set<string> {
  const found = new Set<string>();
  const add = (name: string, from: string): void => {
    const path = locate(packages, name, from);
    // An optional package of another system is not in the file.
    if (path !== undefined) found.add(path);
  };
  for (const name of names) add(name, "");
  for (const path of found) {
    const { dependencies, optionalDependencies } = packages[path]!;
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) add(name, path);
  }
  return found;
}

/** As Node finds it: in the nearest `node_modules`. */
function locate(packages: Readonly<Record<string, LockedPackage>>, name: string, from: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("/node_modules/")))) {
    const path = `${folder === "" ? "" : `${folder}/`}node_modules/${name}`;
    if (path in packages) return path;
    if (folder === "") return undefined;
  }
}
