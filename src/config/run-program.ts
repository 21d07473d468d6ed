/** Runs a user's program and returns its default export: a config, or a source. */
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { quote } from "../errors.ts";
import { describeThrown } from "../lib/describe-thrown.ts";
import { realPath } from "../lib/real-path.ts";
import { statsOf } from "../lib/stats-of.ts";
import { programFiles, UnboundProgram } from "./program-files.ts";
import { isPlainObject } from "./references.ts";
import { sha256 } from "./trust.ts";

/** Why it failed, in one line. */
export class ProgramError extends Error {}

/** Size limit of a source file. */
const maxBytes = 16 * 1024 * 1024;

/** Reads only regular files: a device would never end. */
export function readProgram(file: string): Uint8Array | undefined {
  const stats = statsOf(file);
  try {
    return stats?.isFile() && stats.size <= maxBytes ? readFileSync(file) : undefined;
  } catch {
    return undefined;
  }
}

/** Digests of the modules that the programs of this process have imported. */
const imported = new Map<string, string>();

/**
 * The default export of a module. Runs it again when its bytes change, because they are part of the import URL. Node loads what it imports
 * once, so it does not run again after a change of that.
 */
export async function runProgram(file: string, bytes: Uint8Array): Promise<unknown> {
  for (const [name, digest] of importedModules(file, bytes)) {
    if ((imported.get(name) ?? digest) !== digest)
      throw new ProgramError(`imports ${quote(basename(name))}, ${changed}`);
    imported.set(name, digest);
  }
  return importDefault(`${pathToFileURL(file).href}?${sha256(bytes).slice(0, 16)}`);
}

const changed = "which has changed since this process loaded it; restart Pressmark to use it as it is now";

/** By path. Other files that it names may change: it may read them, or write them itself. */
function importedModules(file: string, bytes: Uint8Array): [path: string, digest: string][] {
  try {
    return Object.entries(programFiles(file, bytes, dirname(file)))
      .slice(1)
      .filter(([name]) => /^".*\.[cm]?[jt]s"$/.test(name))
      .map(([name, digest]) => [join(realPath(dirname(file)), JSON.parse(name) as string), digest]);
  } catch (cause) {
    // Too large for trust: it runs only in a config that the user named.
    if (cause instanceof UnboundProgram) return [];
    throw cause;
  }
}

/** Digests of the packages that this process has run, by their entry. */
const ran = new Map<string, string>();

/**
 * The default export of a package's entry. Node loads each of its files once, so a package that has changed since cannot run beside what is
 * left of its earlier version.
 */
export async function runPackage(entry: string, digest: string): Promise<unknown> {
  if ((ran.get(entry) ?? digest) !== digest)
    throw new ProgramError("has changed since this process loaded it; restart Pressmark to use it as it is now");
  ran.set(entry, digest);
  const exported = await importDefault(pathToFileURL(entry).href);
  // A compiler's CommonJS has its default export one level deeper.
  return isPlainObject(exported) && exported["__esModule"] === true ? exported["default"] : exported;
}

const maxLoadMs = 30_000;

/** Has a deadline: a process that waits for nothing else would end without a word. */
async function importDefault(url: string): Promise<unknown> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late.reject(new ProgramError(`did not finish loading within ${maxLoadMs / 1000} s`));
  }, maxLoadMs);
  try {
    return await Promise.race([load(url), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function load(url: string): Promise<unknown> {
  try {
    const exported = (await import(/* @vite-ignore */ url)) as Readonly<Record<string, unknown>>;
    return await exported["default"];
  } catch (cause) {
    throw new ProgramError(`failed to run: ${describeThrown(cause)}`);
  }
}
