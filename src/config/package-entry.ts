/** Picks the file of a package that an import runs, by Node's rules, from its package.json alone. */
import { isPlainObject } from "./references.ts";

/** The conditions under which Node imports a package. https://nodejs.org/api/packages.html#conditional-exports */
const conditions = new Set(["node", "import", "module-sync", "node-addons", "default"]);
/** Deeper conditions are a mistake, or an attack on the stack. */
const maxDepth = 20;

/**
 * Paths below the package's folder, the first existing one counts. Empty if the package does not export the subpath ("." or "./name").
 * Node's own resolver is not used: it keeps each package.json until the process ends, and so answers for a version that is gone.
 */
export function entryCandidates(manifest: Readonly<Record<string, unknown>>, subpath: string): readonly string[] {
  const exported = manifest["exports"] ?? undefined;
  if (exported !== undefined) {
    const path = exportedPath(exported, subpath);
    return path === undefined ? [] : [path];
  }
  if (subpath !== ".") return [subpath];
  const main = manifest["main"];
  const named = typeof main === "string" && main !== "" ? [main, `${main}.js`, `${main}/index.js`] : [];
  return [...named, "./index.js"];
}

function exportedPath(exported: unknown, subpath: string): string | undefined {
  const isMap = isPlainObject(exported) && Object.keys(exported).every((key) => key.startsWith("."));
  const map: Readonly<Record<string, unknown>> = isMap ? exported : { ".": exported };
  if (Object.hasOwn(map, subpath) && !subpath.includes("*")) return targetPath(map[subpath], "", 0) ?? undefined;
  const matches = Object.keys(map).flatMap((key) => {
    const [before = "", after, ...more] = key.split("*");
    const isMatch =
      after !== undefined &&
      more.length === 0 &&
      subpath.length > before.length + after.length &&
      subpath.startsWith(before) &&
      subpath.endsWith(after);
    return isMatch ? [{ key, before, match: subpath.slice(before.length, subpath.length - after.length) }] : [];
  });
  // The longest text before the star wins, then the longest key.
  const [best] = matches.sort(
    (one, other) => other.before.length - one.before.length || other.key.length - one.key.length,
  );
  return best && (targetPath(map[best.key], best.match, 0) ?? undefined);
}

/** Undefined if no condition applies; null if the package excludes it. */
function targetPath(target: unknown, match: string, depth: number): string | null | undefined {
  if (target === null || depth > maxDepth) return null;
  if (typeof target === "string") {
    const path = target.replaceAll("*", () => match);
    return isInside(path) ? path : null;
  }
  if (Array.isArray(target)) {
    for (const each of target) {
      const path = targetPath(each, match, depth + 1);
      if (typeof path === "string") return path;
    }
    return null;
  }
  if (!isPlainObject(target)) return null;
  for (const [condition, value] of Object.entries(target)) {
    const path = conditions.has(condition) ? targetPath(value, match, depth + 1) : undefined;
    if (path !== undefined) return path;
  }
  return undefined;
}

/** Whether a target stays in the package: as in Node, without ".", ".." and "node_modules", in any case or escaped. */
function isInside(path: string): boolean {
  return (
    path.startsWith("./") &&
    !/[%\\\0]/.test(path) &&
    path
      .slice(2)
      .split("/")
      .every((name) => !["", ".", "..", "node_modules"].includes(name.toLowerCase()))
  );
}
