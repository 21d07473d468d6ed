/** Gives a house its sets: those of its config, and those that were saved for it. */
import { statSync } from "node:fs";
import type { Policy } from "../../access/policy.ts";
import type { SetConfig } from "../../config/sets.ts";
import type { Resources } from "../../resources.ts";
import type { Runtime } from "../../source.ts";
import { watchFile } from "../watch-file.ts";
import { type Located, uriFor } from "../locate.ts";
import type { Project } from "../search/index-location.ts";
import { createSets, type Sets } from "../sets.ts";
import { createSavedSets } from "./saved-sets.ts";
import { withSets } from "./with-sets.ts";

export interface ServerSetsOptions {
  readonly resources: Resources;
  readonly policy: Policy;
  /** Those of now. */
  mounts(): readonly Located[];
  /** What the config says now, where there is one. */
  configured?(): { readonly sets: readonly SetConfig[]; readonly folder: string; readonly zed: boolean };
  readonly stateFolder: string;
  readonly project: Project;
  readonly runtime: Runtime;
  /** Whether sets that another process saves are heard of. */
  readonly live: boolean;
}

export interface ServerSets {
  readonly resources: Resources;
  readonly sets: Sets;
  /** Nothing is followed afterwards. */
  close(): Promise<void>;
}

const startMs = 500;

export function createServerSets(options: ServerSetsOptions): ServerSets {
  const { resources: inner, policy, mounts, configured, runtime } = options;
  const kept = createSavedSets(options.stateFolder, options.project, runtime);
  const closing = new AbortController();
  const sets = createSets({ resources: inner, policy, kept, configured: () => written() });
  const following = options.live ? follow().catch(() => undefined) : undefined;

  /** Where they are kept takes a digest to say, which the first answer need not wait for. */
  async function follow(): Promise<void> {
    const openedMs = runtime.now();
    await runtime.wait(startMs, closing.signal);
    const followed = watchFile(kept.stamp, async () => sets.changed(), { runtime, signal: closing.signal });
    if ((statSync(kept.stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0) >= openedMs) sets.changed();
    await followed;
  }

  function written(): readonly SetConfig[] {
    const said = configured?.();
    if (!said || said.sets.length === 0) return [];
    const located = mounts();
    // What leads into no mount is as good as not there.
    const toUris = (each: readonly string[]) => each.flatMap((where) => uriFor(where, said.folder, located) ?? []);
    return said.sets.map((set) => ({ ...set, resources: toUris(set.resources) }));
  }

  return {
    sets,
    resources: withSets(inner, {
      sets,
      hasZed: () => configured?.().zed ?? false,
      isTaken: (scheme) => mounts().some(({ mount }) => mount.base.startsWith(`${scheme}:`)),
    }),
    async close() {
      closing.abort();
      await following;
    },
  };
}
