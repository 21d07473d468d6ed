/** The location of a project's index in the user's cache. */
import { join } from "node:path";

/** What an index belongs to: a config, or named folders. */
export interface Project {
  readonly config?: string;
  readonly folders?: readonly string[];
}

export function indexesIn(cacheFolder: string): string {
  return join(cacheFolder, "index");
}

export function indexLocation(cacheFolder: string, project: Project): string {
  return join(indexesIn(cacheFolder), projectKey(project));
}

/** Stable across processes: 32 hex digits. */
export function projectKey({ config, folders = [] }: Project): string {
  // Loaded on demand, to keep the start fast.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const what = config === undefined ? ["folders", ...folders.toSorted()] : ["config", config];
  return createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 32);
}
