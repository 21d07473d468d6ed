/** Adds sets to a server: those of its config, and saved ones. */
import { mkdirSync, statSync } from "node:fs";
import type { Policy } from "../../access/policy.ts";
import type { Config } from "../../config/config.ts";
import type { SetConfig } from "../../config/sets.ts";
import { gatherPrompt } from "../../protocol/gather-prompt.ts";
import type { Mount } from "../../router/route.ts";
import type { Runtime } from "../../source.ts";
import { watchFile } from "../watch-file.ts";
import { type ServedMount, uriFor } from "../locate.ts";
import type { Project } from "../search/index-location.ts";
import { createSets, type Sets } from "../sets.ts";
import { createSavedSets } from "./saved-sets.ts";
import { createPromptNames } from "./set-prompts.ts";
import { setsMount, zedMount } from "./sets-source.ts";

export interface ServerSetsOptions {
  readonly policy: Policy;
  /** The current mounts, without those of the sets. */
  mounts(): readonly ServedMount[];
  /** The current config. */
  configured(): Pick<Config, "sets" | "folder" | "server">;
  readonly stateFolder: string;
  readonly project: Project;
  /** With the resources of the server. */
  readonly runtime: Runtime & Required<Pick<Runtime, "resources">>;
  /** Whether to watch for sets saved by other processes. */
  readonly live: boolean;
}

interface ServerSets {
  readonly sets: Sets;
  /** The mounts of the sets in the current config. */
  mounts(): readonly Mount[];
  /** Stops watching. */
  close(): Promise<void>;
}

const startMs = 500;
/** File times come from a clock that lags some milliseconds behind. */
const clockLagMs = 100;

export function createServerSets(options: ServerSetsOptions): ServerSets {
  const { policy, mounts, configured, runtime } = options;
  const resources = runtime.resources;
  const store = createSavedSets(options.stateFolder, options.project, runtime);
  const closing = new AbortController();
  const sets = createSets({ resources, policy, store, configured: () => written() });
  const following = options.live ? follow().catch(() => undefined) : undefined;

  /** Runs late, because computing the folder takes a digest that the first response need not wait for. */
  async function follow(): Promise<void> {
    const openedMs = runtime.now();
    await runtime.wait(startMs, closing.signal);
    try {
      // Changes below a folder that does not exist yet would be noticed seconds later.
      mkdirSync(store.folder, { recursive: true, mode: 0o700 });
    } catch {
      // Nothing can be saved here by this user either.
    }
    const followed = watchFile(store.stamp, async () => sets.changed(), { runtime, signal: closing.signal });
    if ((statSync(store.stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= openedMs - clockLagMs) sets.changed();
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

  const set = setsMount(sets, resources, createPromptNames([{ name: gatherPrompt }]));
  const zed = zedMount(sets, resources);
  return {
    sets,
    mounts: () => (configured().server.zed ? [set, zed] : [set]),
    async close() {
      closing.abort();
      await following;
    },
  };
}
