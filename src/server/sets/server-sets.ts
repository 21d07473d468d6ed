/** Adds sets to a server: those of its config, and saved ones. */
import type { Policy } from "../../access/policy.ts";
import type { Config } from "../../config/config.ts";
import type { SetConfig } from "../../config/sets.ts";
import { gatherPrompt } from "../../protocol/gather-prompt.ts";
import type { Mount } from "../../router/route.ts";
import type { Runtime } from "../../source.ts";
import { type ServedMount, uriFor } from "../locate.ts";
import type { Project } from "../search/index-location.ts";
import { createSets, type Sets } from "../sets.ts";
import { createSavedSets, type SavedSets } from "./saved-sets.ts";
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
  /** Default: files of the state folder. */
  readonly saved?: SavedSets | undefined;
}

interface ServerSets {
  readonly sets: Sets;
  /** The mounts of the sets in the current config. */
  mounts(): readonly Mount[];
  /** Stops watching. */
  close(): Promise<void>;
}

export function createServerSets(options: ServerSetsOptions): ServerSets {
  const { policy, mounts, configured, runtime } = options;
  const resources = runtime.resources;
  const store = options.saved ?? createSavedSets(options.stateFolder, options.project, runtime);
  const closing = new AbortController();
  const sets = createSets({ resources, policy, store, configured: () => written() });
  const following = options.live
    ? store.follow(() => sets.changed(), closing.signal).catch(() => undefined)
    : undefined;

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
