/** Gives a house its sets: those of its config, and those that were saved for it. */
import { statSync } from "node:fs";
import type { Policy } from "../../access/policy.ts";
import type { SetConfig } from "../../config/sets.ts";
import type { Resources } from "../../resources.ts";
import type { Tools } from "../../source.ts";
import { followFile } from "../follow-file.ts";
import { type Located, uriFor } from "../locate.ts";
import type { Project } from "../search/index-place.ts";
import { createSets, type Sets } from "../sets.ts";
import { createKeptSets } from "./kept-sets.ts";
import { withSets } from "./with-sets.ts";

export interface HouseSetsOptions {
  readonly resources: Resources;
  readonly policy: Policy;
  /** Those of now. */
  mounts(): readonly Located[];
  /** What the config says now, where there is one. */
  configured?(): { readonly sets: readonly SetConfig[]; readonly folder: string; readonly zed: boolean };
  readonly stateFolder: string;
  readonly project: Project;
  readonly tools: Tools;
  /** Whether sets that another process saves are heard of. */
  readonly live: boolean;
}

export interface HouseSets {
  readonly resources: Resources;
  readonly sets: Sets;
  /** Nothing is followed afterwards. */
  close(): Promise<void>;
}

const startMs = 500;

export function createHouseSets(options: HouseSetsOptions): HouseSets {
  const { resources: inner, policy, mounts, configured, tools } = options;
  const kept = createKeptSets(options.stateFolder, options.project, tools);
  const closing = new AbortController();
  const sets = createSets({ resources: inner, policy, kept, configured: () => written() });
  const following = options.live ? follow().catch(() => undefined) : undefined;

  /** Where they are kept takes a digest to say, which the first answer need not wait for. */
  async function follow(): Promise<void> {
    const openedMs = tools.now();
    await tools.wait(startMs, closing.signal);
    const followed = followFile(kept.stamp, async () => sets.changed(), { tools, signal: closing.signal });
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
