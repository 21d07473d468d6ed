/** Adds sets to a server: those of its config, and saved ones. */
import { statSync } from "node:fs";
import type { Policy } from "../../access/policy.ts";
import type { Config } from "../../config/config.ts";
import type { SetConfig } from "../../config/sets.ts";
import type { Resources } from "../../resources.ts";
import type { Runtime } from "../../source.ts";
import { watchFile } from "../watch-file.ts";
import { type ServedMount, uriFor } from "../locate.ts";
import type { Project } from "../search/index-location.ts";
import { createSets, type Sets } from "../sets.ts";
import { createSavedSets } from "./saved-sets.ts";
import { withSets } from "./with-sets.ts";

export interface ServerSetsOptions {
  readonly resources: Resources;
  readonly policy: Policy;
  /** The current mounts. */
  mounts(): readonly ServedMount[];
  /** The current config. */
  configured(): Pick<Config, "sets" | "folder" | "server">;
  readonly stateFolder: string;
  readonly project: Project;
  readonly runtime: Runtime;
  /** Whether to watch for sets saved by other processes. */
  readonly live: boolean;
}

export interface ServerSets {
  readonly resources: Resources;
  readonly sets: Sets;
  /** Stops watching. */
  close(): Promise<void>;
}

const startMs = 500;

export function createServerSets(options: ServerSetsOptions): ServerSets {
  const { resources: inner, policy, mounts, configured, runtime } = options;
  const store = createSavedSets(options.stateFolder, options.project, runtime);
  const closing = new AbortController();
  const sets = createSets({ resources: inner, policy, store, configured: () => written() });
  const following = options.live ? follow().catch(() => undefined) : undefined;

  /** Runs late, because computing the folder takes a digest that the first response need not wait for. */
  async function follow(): Promise<void> {
    const openedMs = runtime.now();
    await runtime.wait(startMs, closing.signal);
    const followed = watchFile(store.stamp, async () => sets.changed(), { runtime, signal: closing.signal });
    if ((statSync(store.stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= openedMs) sets.changed();
    await followed;
  }

  function written(): readonly SetConfig[] {
    const { sets: given, folder } = configured();
    if (given.length === 0) return [];
    const served = mounts();
    // Resources outside all mounts are left out.
    const toUris = (each: readonly string[]) => each.flatMap((where) => uriFor(where, folder, served) ?? []);
    return given.map((set) => ({ ...set, resources: toUris(set.resources) }));
  }

  return {
    sets,
    resources: withSets(inner, {
      sets,
      hasZed: () => configured().server.zed ?? false,
      isTaken: (scheme) => mounts().some(({ base }) => base.startsWith(`${scheme}:`)),
    }),
    async close() {
      closing.abort();
      await following;
    },
  };
}
