/** A house in memory with sets, for the tests: what its config says can be changed by hand. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPolicy, type Policy } from "../../access/policy.ts";
import type { SetConfig } from "../../config/sets.ts";
import type { Call, Resources } from "../../resources.ts";
import { createResources } from "../../router/create-resources.ts";
import { createMemory, type Memory, type MemoryValue } from "../../sources/memory.ts";
import { createTools } from "../tools.ts";
import { createHouseSets } from "./house-sets.ts";
import type { Sets } from "../sets.ts";

export const base = "memory://m/";

export interface SetHouse extends AsyncDisposable {
  readonly resources: Resources;
  readonly sets: Sets;
  readonly memory: Memory;
  readonly stateFolder: string;
  /** What the config says from now on. */
  configure(sets: readonly SetConfig[], zed?: boolean): void;
}

export interface SetHouseOptions {
  readonly rooms: Readonly<Record<string, MemoryValue>>;
  readonly sets?: readonly SetConfig[];
  readonly policy?: Policy;
  readonly zed?: boolean;
  /** Another mount beside the memory. */
  readonly scheme?: string;
  readonly stateFolder?: string;
  readonly live?: boolean;
}

export function createSetHouse({ rooms, policy = openPolicy, live = false, ...options }: SetHouseOptions): SetHouse {
  const made = options.stateFolder === undefined;
  const stateFolder = options.stateFolder ?? mkdtempSync(join(tmpdir(), "pressmark-sets-"));
  const tools = createTools({ write: () => true });
  const memory = createMemory(rooms);
  const mounts = [
    { mount: { name: "m", base, source: memory.source } },
    ...(options.scheme === undefined
      ? []
      : [
          { mount: { name: "own", base: `${options.scheme}://`, source: createMemory({ onboarding: "mine" }).source } },
        ]),
  ];
  const { close, ...inner } = createResources({
    mounts: mounts.map(({ mount }) => mount),
    policy,
    tools,
    cursorKey: new Uint8Array(32),
  });
  let said = { sets: options.sets ?? [], folder: "/", zed: options.zed ?? false };
  const house = createHouseSets({
    resources: inner,
    policy,
    mounts: () => mounts,
    configured: () => said,
    stateFolder,
    project: { folders: ["/project"] },
    tools,
    live,
  });
  return {
    resources: house.resources,
    sets: house.sets,
    memory,
    stateFolder,
    configure(sets, zed = said.zed) {
      said = { ...said, sets, zed };
      house.sets.changed();
    },
    async [Symbol.asyncDispose]() {
      await house.close();
      await close();
      if (made) rmSync(stateFolder, { recursive: true, force: true });
    },
  };
}

export function callOf(id: string, signal: AbortSignal = new AbortController().signal): Call {
  return { caller: { id }, signal };
}

/** Hides what lies below `secrets` from everyone but the owner, and the set `boss` too. */
export const discreet: Policy = {
  maySee: ({ id }, mount, { path }) =>
    id === "owner" || !(path === "secrets" || path.startsWith("secrets/") || (mount === "set" && path === "boss")),
};
