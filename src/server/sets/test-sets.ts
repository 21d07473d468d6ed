/** A server in memory with sets, for tests; its config can be changed. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openPolicy, type Policy } from "../../access/policy.ts";
import type { SetConfig } from "../../config/sets.ts";
import type { Call, Resources } from "../../resources.ts";
import { createResources, type LocalResources, type LocalResourcesOptions } from "../../router/create-resources.ts";
import type { Runtime } from "../../source.ts";
import { createMemory, type Memory, type MemoryValue } from "../../sources/memory.ts";
import { createRuntime } from "../runtime.ts";
import { withBuiltInMounts } from "../built-in-mounts.ts";
import { createServerSets, type ServerSetsOptions } from "./server-sets.ts";
import { setMount, type Sets } from "../sets.ts";

export const base = "memory://m/";

export interface SetServer extends AsyncDisposable {
  readonly resources: Resources;
  readonly sets: Sets;
  readonly memory: Memory;
  readonly stateFolder: string;
  /** Sets the config. */
  configure(sets: readonly SetConfig[]): void;
}

export interface SetServerOptions {
  readonly sampleContents: Readonly<Record<string, MemoryValue>>;
  readonly sets?: readonly SetConfig[];
  readonly policy?: Policy;
  readonly zed?: boolean;
  /** Another mount besides the memory. */
  readonly scheme?: string;
  readonly stateFolder?: string;
  readonly live?: boolean;
}

export function createSetServer({
  sampleContents,
  policy = openPolicy,
  live = false,
  ...options
}: SetServerOptions): SetServer {
  const made = options.stateFolder === undefined;
  const stateFolder = options.stateFolder ?? mkdtempSync(join(tmpdir(), "pressmark-sets-"));
  const runtime = createRuntime({ write: () => true });
  const memory = createMemory(sampleContents);
  const mounts = [
    { name: "m", base, source: memory.source },
    ...(options.scheme === undefined
      ? []
      : [{ name: "own", base: `${options.scheme}://`, source: createMemory({ onboarding: "mine" }).source }]),
  ];
  let configured = { sets: options.sets ?? [], folder: "/", server: { zed: options.zed } };
  const pressmark = createResourcesWithSets({
    mounts,
    policy,
    runtime,
    cursorKey: new Uint8Array(32),
    configured: () => configured,
    stateFolder,
    live,
  });
  return {
    resources: pressmark.resources,
    sets: pressmark.sets,
    memory,
    stateFolder,
    configure(sets) {
      configured = { ...configured, sets };
      pressmark.sets.changed();
    },
    async [Symbol.asyncDispose]() {
      await pressmark.resources.close();
      if (made) rmSync(stateFolder, { recursive: true, force: true });
    },
  };
}

/** Resources and sets, connected as in a server. */
export function createResourcesWithSets({
  configured,
  stateFolder = "/nowhere",
  live = false,
  ...options
}: LocalResourcesOptions &
  Pick<ServerSetsOptions, "configured"> &
  Partial<Pick<ServerSetsOptions, "stateFolder" | "live">>): {
  readonly resources: LocalResources;
  readonly sets: Sets;
} {
  const runtime = {
    ...options.runtime,
    resources: {
      read: (uri, call) => resources.read(uri, call),
      stat: (uri, call) => resources.stat(uri, call),
      watch: (filter, call) => resources.watch(filter, call),
    },
  } satisfies Runtime;
  const {
    mounts: setMounts,
    sets,
    close,
  } = createServerSets({
    policy: options.policy,
    mounts: () => options.mounts,
    configured,
    stateFolder,
    project: { folders: ["/project"] },
    runtime,
    live,
  });
  const resources = createResources({ ...options, mounts: withBuiltInMounts(options.mounts, setMounts()) });
  return {
    sets,
    resources: {
      ...resources,
      async close() {
        await close();
        await resources.close();
      },
    },
  };
}

export function callOf(id: string, signal: AbortSignal = new AbortController().signal): Call {
  return { caller: { id }, signal };
}

/** Hides paths below `secrets`, and the set `boss`, from everyone but the owner. */
export const discreet: Policy = {
  maySee: ({ id }, mount, { path }) =>
    id === "owner" || !(path === "secrets" || path.startsWith("secrets/") || (mount === setMount && path === "boss")),
};
