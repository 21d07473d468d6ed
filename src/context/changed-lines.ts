/** Finds the lines that the most similar commits left behind, as evidence for the place within a file. */
import { encodePath } from "../lib/encode-path.ts";
import type { Call, Resources } from "../resources.ts";
import { readText } from "./read-text.ts";
import { roundRobin } from "./round-robin.ts";
import { maxPaths, type SimilarCommit, unlessSlow } from "./similar-commits.ts";

/** Text of a line without its indentation → weight. */
export type ChangedLines = ReadonlyMap<string, number>;

/** Each patch costs a run of git. */
const maxPatches = 3;
const maxPatchLength = 256 * 1024;
/** Shorter lines occur everywhere. */
const minLength = 6;
/** The line that names the function around a hunk counts like so many of its lines. */
const functionLine = 3;

/** By the URI of the file. */
export async function linesChangedBy(
  resources: Resources,
  commits: readonly SimilarCommit[],
  roots: ReadonlyMap<string, string | undefined>,
  call: Call,
): Promise<ReadonlyMap<string, ChangedLines>> {
  const best = commits
    .filter(({ history, paths, fade }) => fade > 0 && paths.length <= maxPaths && roots.get(history) !== undefined)
    .toSorted((left, right) => right.weight - left.weight)
    .slice(0, maxPatches);
  const patches = await roundRobin(best, maxPatches, ({ history, resource }) => {
    const hash = resource.uri.slice(resource.uri.lastIndexOf("/") + 1);
    return unlessSlow((limited) => readText(resources, `${history}diff/${hash}~1/${hash}`, limited), "", call);
  });
  const found = new Map<string, Map<string, number>>();
  patches.forEach((patch, at) => {
    const { history, weight } = best[at]!;
    for (const [path, hunks] of hunksOf(patch.slice(0, maxPatchLength))) {
      const uri = roots.get(history)! + encodePath(path);
      const lines = found.get(uri) ?? new Map<string, number>();
      found.set(uri, lines);
      for (const hunk of hunks) for (const line of hunk) lines.set(line, (lines.get(line) ?? 0) + weight / hunk.length);
    }
  });
  return found;
}

/** Path → the lines of each hunk as they are after the change, each hunk with the line of its function. */
export function hunksOf(patch: string): ReadonlyMap<string, readonly (readonly string[])[]> {
  const files = new Map<string, string[][]>();
  let hunks: string[][] | undefined;
  const take = (text: string, times: number): void => {
    const line = text.trim();
    if (line.length >= minLength) hunks?.at(-1)?.push(...Array.from({ length: times }, () => line));
  };
  for (const line of patch.split("\n")) {
    if (line.startsWith("diff --git ")) hunks = undefined;
    else if (!hunks && line.startsWith("+++ ")) files.set(pathOf(line.slice("+++ ".length)), (hunks = []));
    else if (line.startsWith("@@ ")) {
      hunks?.push([]);
      take(line.replace(/^@@ [^@]* @@/, ""), functionLine);
    } else if (line.startsWith("+") || line.startsWith(" ")) take(line.slice(1), 1);
  }
  return files;
}

/** Git writes `b/path`, with a tab after a path with spaces, or `"b/\\346\\227\\245"`, in which each byte beyond ASCII is octal. */
function pathOf(name: string): string {
  if (!name.startsWith('"')) return name.slice("b/".length).replace(/\t$/, "");
  const bytes = name
    .slice('"b/'.length, -1)
    .replaceAll(/\\([0-7]{3}|.)/g, (_, escaped: string) =>
      escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : escaped,
    );
  return Buffer.from(bytes, "latin1").toString("utf8");
}
