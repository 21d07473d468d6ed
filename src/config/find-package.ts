/** Finds an installed package that a config names as a source. Runs nothing of it. */
import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { quote } from "../errors.ts";
import { canonicalJson } from "../lib/canonical-json.ts";
import { realPath } from "../lib/real-path.ts";
import { statsOf } from "../lib/stats-of.ts";
import { entryCandidates } from "./package-entry.ts";
import { packageFiles } from "./package-files.ts";
import { foldersAbove, programFiles } from "./program-files.ts";
import { isPlainObject } from "./references.ts";
import { readProgram } from "./run-program.ts";
import { isBelow, sha256 } from "./trust.ts";

export interface SourcePackage {
  readonly name: string;
  /** As its package.json states it; "unknown" if it states none. */
  readonly version: string;
  /** Without links. */
  readonly folder: string;
  /** The file that an import runs, without links. */
  readonly entry: string;
  readonly content: Uint8Array;
}

/** Why a package cannot be used; the message completes "<package> …". */
export class PackageError extends Error {
  /** Whether it is not installed. */
  readonly isAbsence: boolean;

  constructor(message: string, isAbsence = false) {
    super(message);
    this.isAbsence = isAbsence;
  }
}

export interface PackageSpecifier {
  readonly name: string;
  /** As in `exports` of a package.json: "." or "./sub". */
  readonly subpath: string;
}

/** What npm accepts for new packages, without leading punctuation, which a command line could take for an option. */
const namePart = /^[a-z0-9][a-z0-9._-]*$/;
const subpathPart = /^[\w-][\w.-]*$/;
const maxName = 214;
/** A name without a slash is a built-in source, now or in a later version, unless it begins with this. */
const prefix = "pressmark-source-";

/** Undefined for a text that cannot name a package with a source. */
export function parsePackage(text: string): PackageSpecifier | undefined {
  const parts = text.split("/");
  const count = text.startsWith("@") ? 2 : 1;
  const names = parts.slice(0, count);
  const below = parts.slice(count);
  const name = names.join("/");
  const isName =
    names.length === count &&
    names.every((part, index) => namePart.test(index === 0 && count === 2 ? part.slice(1) : part)) &&
    name.length <= maxName &&
    name !== "node_modules";
  if (!isName || !below.every((part) => subpathPart.test(part))) return undefined;
  if (parts.length === 1 && !name.startsWith(prefix)) return undefined;
  return { name, subpath: below.length === 0 ? "." : `./${below.join("/")}` };
}

/** Searches the `node_modules` of the folder and of each folder above, as Node does, and nothing else. */
export function findPackage({ name, subpath }: PackageSpecifier, from: string): SourcePackage {
  const base = realPath(from);
  const installed = foldersAbove(base)
    .map((folder) => join(folder, "node_modules", name))
    .find((path) => statsOf(path)?.isDirectory());
  if (installed === undefined)
    throw new PackageError(
      `is not installed in this project; if you trust it, run in the config's folder: ${installer(base)} ${name}`,
      true,
    );
  const folder = realPath(installed);
  const manifest = readManifest(join(folder, "package.json"));
  const candidates = entryCandidates(manifest, subpath);
  if (candidates.length === 0)
    throw new PackageError(`does not export ${quote(subpath)} to an import; see "exports" in its package.json`);
  const found = candidates.map((path) => resolve(folder, path)).find((path) => statsOf(path)?.isFile());
  if (found === undefined) throw new PackageError(`has no file ${quote(candidates[0]!)}; build or install it again`);
  const entry = realPath(found);
  if (!isBelow(folder, entry)) throw new PackageError(`leads out of its own folder, by ${quote(candidates[0]!)}`);
  if (!/\.[cm]?[jt]s$/.test(entry))
    throw new PackageError(`has the entry ${quote(relative(folder, entry))}, which is not a program`);
  if (/\.[cm]?ts$/.test(entry) && /[/\\]node_modules[/\\]/.test(entry))
    throw new PackageError(
      "has an entry in TypeScript, which Node does not run below node_modules; it must be published as JavaScript",
    );
  const content = readProgram(entry);
  if (!content)
    throw new PackageError(`has the entry ${quote(relative(folder, entry))}, which cannot be read or is too large`);
  return { name, version: versionOf(manifest), folder, entry, content };
}

/** Of a package as it was found: each look at it gives another object. */
const digests = new WeakMap<SourcePackage, string>();

/**
 * A digest of which file runs, of all files in the package's folder, and of files elsewhere that its entry imports by relative paths,
 * recursively. May throw a UnboundProgram.
 */
export function packageDigest(found: SourcePackage): string {
  const known = digests.get(found);
  if (known !== undefined) return known;
  const { entry, content, folder } = found;
  const files = { ...programFiles(entry, content, folder), ...packageFiles(folder) };
  const digest = sha256(canonicalJson({ entry: relative(folder, entry), files }));
  digests.set(found, digest);
  return digest;
}

const maxManifestBytes = 1024 * 1024;

function readManifest(file: string): Readonly<Record<string, unknown>> {
  const stats = statsOf(file);
  try {
    const value: unknown =
      stats?.isFile() && stats.size <= maxManifestBytes ? JSON.parse(readFileSync(file, "utf8")) : undefined;
    if (isPlainObject(value)) return value;
  } catch {
    // Reported as any other that cannot be used.
  }
  throw new PackageError("has no package.json that can be read; install it again");
}

function versionOf({ version }: Readonly<Record<string, unknown>>): string {
  return typeof version === "string" && /^[\w.+-]{1,64}$/.test(version) ? version : "unknown";
}

/** Lock files of package managers, with the command that adds a package. */
const installers = { "pnpm-lock.yaml": "pnpm add", "yarn.lock": "yarn add", "bun.lock": "bun add" };

function installer(base: string): string {
  for (const folder of foldersAbove(base)) {
    if (existsSync(join(folder, "package-lock.json"))) break;
    const found = Object.entries(installers).find(([lock]) => existsSync(join(folder, lock)));
    if (found) return found[1];
  }
  return "npm install";
}
