/** Where the index of a project stands: one for each, in the person's cache. */
import { join } from "node:path";

/** What an index is of: a config, or folders that were named. */
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

/** The same for the same project, in any process: 32 digits. */
export function projectKey({ config, folders = [] }: Project): string {
  // Loaded late: a house starts without it.
  const { createHash } = process.getBuiltinModule("node:crypto");
  const what = config === undefined ? ["folders", ...folders.toSorted()] : ["config", config];
  return createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 32);
}
