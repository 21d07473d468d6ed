/** The files of a program: the named one and its relative imports, recursively. */
import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { canonicalJson } from "../lib/canonical-json.ts";
import { realPath } from "../lib/real-path.ts";
import { statsOf } from "../lib/stats-of.ts";
import { isPlainObject } from "./references.ts";
import { relativeSpecifiers } from "./relative-specifiers.ts";
import { type Facts, sha256 } from "./trust.ts";

/** A larger program cannot have been reviewed before it was trusted. */
const maxFiles = 1000;
const maxBytes = 16 * 1024 * 1024;
/** Each costs several looks at the disk. */
const maxSpecifiers = 20_000;

/** The program cannot be bound to its content, such as one that is too large. The message completes "it …". */
export class UnboundProgram extends Error {}

/** Files that contain no imports. CommonJS runs a file with any other ending, or none. */
const data = /\.(?:json|node|wasm)$/;
/** Endings that an import may leave out. */
const endings = [".js", ".json", ".node", ".cjs", ".mjs", ".ts", ".cts", ".mts"];

/**
 * The digest of each file by its path relative to the folder. `bytes` is the content of the file itself. Every quoted text that
 * begins with "./" or "../" and names a file counts as an import, so there may be too many. Computed import paths and packages
 * are not included.
 */
export function programFiles(file: string, bytes: Uint8Array, folder: string): Facts {
  const digests: Record<string, string> = {};
  const base = realPath(folder);
  const waiting: { readonly path: string; readonly content: Uint8Array }[] = [];
  let total = 0;
  let specifiers = 0;
  const seen = new Set<string>();
  const manifests = new Map<string, Manifest | undefined>();

  function count(path: string, size: number): void {
    seen.add(path);
    total += size;
    if (seen.size > maxFiles || total > maxBytes)
      throw new UnboundProgram(`names or imports more than ${maxFiles} files or ${maxBytes / 2 ** 20} MiB`);
  }

  function countSpecifier(): void {
    specifiers += 1;
    if (specifiers > maxSpecifiers) throw new UnboundProgram(`names more than ${maxSpecifiers} relative paths`);
  }

  function add(path: string, content: Uint8Array): void {
    digests[nameOf(base, path)] = sha256(content);
    if (!data.test(path)) waiting.push({ path, content });
  }

  function manifestOf(within: string): Manifest | undefined {
    const path = join(within, "package.json");
    if (!manifests.has(path)) manifests.set(path, manifestAt(path));
    return manifests.get(path);
  }

  /** Binds what decides about imports in a package.json, and nothing else: the rest changes with each installation. */
  function bindManifest(within: string): Manifest {
    const manifest = manifestOf(within) ?? {};
    if (Object.keys(manifest).length > 0)
      digests[`main and imports of ${nameOf(base, join(within, "package.json"))}`] = sha256(canonicalJson(manifest));
    return manifest;
  }

  /** All files that Node may choose for an import of this path. */
  function filesAt(path: string): string[] {
    const stats = statsOf(path);
    const found = endings.map((ending) => path + ending).filter((each) => statsOf(each)?.isFile());
    if (stats?.isFile() && !isDatabase(path)) found.push(path);
    if (!stats?.isDirectory()) return found;
    const inside = ["index", bindManifest(path).main].filter((name) => typeof name === "string");
    for (const name of inside) {
      const candidate = resolve(path, name);
      if (statsOf(candidate)?.isFile()) found.push(candidate);
      for (const ending of [...endings, "/index.js", "/index.json", "/index.node"])
        if (statsOf(candidate + ending)?.isFile()) found.push(candidate + ending);
    }
    return found;
  }

  function importsOf({ path, content }: { readonly path: string; readonly content: Uint8Array }): string[] {
    const named = [...relativeSpecifiers(new TextDecoder().decode(content), countSpecifier)];
    const paths = new Set(named.flatMap((specifier) => pathsOf(specifier, path)));
    // Its own package.json may redirect imports such as "#name".
    const owner = foldersAbove(dirname(path)).find((each) => manifestOf(each));
    if (owner !== undefined && manifestOf(owner)?.imports !== undefined)
      for (const target of textsIn(bindManifest(owner).imports)) paths.add(resolve(owner, target));
    return [...paths].flatMap(filesAt);
  }

  count(realPath(file), bytes.length);
  add(realPath(file), bytes);
  for (let next = waiting.pop(); next; next = waiting.pop())
    for (const found of importsOf(next)) {
      const path = realPath(found);
      // A link may lead to another of these files later.
      if (path !== resolve(found)) digests[`the target of ${nameOf(base, found)}`] = sha256(path);
      if (seen.has(path)) continue;
      count(path, statsOf(path)?.size ?? 0);
      add(path, contentOf(path));
    }
  return digests;
}

/** The name of a file in facts. */
export function nameOf(base: string, path: string): string {
  return JSON.stringify(relative(base, path).split(sep).join("/"));
}

/** The folder, and all above it. */
export function foldersAbove(folder: string): string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...foldersAbove(parent)];
}

/** What a specifier means in an ES module, where it is a URL, and in CommonJS, where it is a path. */
function pathsOf(specifier: string, from: string): string[] {
  const path = resolve(dirname(from), specifier);
  try {
    return [path, fileURLToPath(new URL(specifier, pathToFileURL(from)))];
  } catch {
    return [path];
  }
}

interface Manifest {
  readonly main?: unknown;
  readonly imports?: unknown;
}

const maxManifestBytes = 1024 * 1024;

function manifestAt(path: string): Manifest | undefined {
  const stats = statsOf(path);
  if (!stats?.isFile() || stats.size > maxManifestBytes) return undefined;
  try {
    const value: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!isPlainObject(value)) return undefined;
    const { main, imports } = value;
    return { ...(main !== undefined && { main }), ...(imports !== undefined && { imports }) };
  } catch {
    return undefined;
  }
}

function textsIn(value: unknown): string[] {
  if (typeof value === "string") return value.startsWith("./") ? [value] : [];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

const databaseStart = Buffer.from("SQLite format 3\0");

/** A database changes with each use, and its first bytes are no program in any language that Node runs. */
function isDatabase(path: string): boolean {
  const start = Buffer.alloc(databaseStart.length);
  try {
    const opened = openSync(path, "r");
    try {
      readSync(opened, start);
    } finally {
      closeSync(opened);
    }
  } catch {
    return false;
  }
  return start.equals(databaseStart);
}

/** Empty if it cannot be read: then it cannot be imported either. */
export function contentOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch {
    return new Uint8Array();
  }
}
