/** Everything behind a transport, for a program: mounts with their layers, search, tools and the protocol. */
import { resolve } from "node:path";
import type { Policy } from "../access/policy.ts";
import type { Problem } from "../config/problem.ts";
import type { ServerSettings } from "../config/schema.ts";
import { lastingFailure } from "../errors.ts";
import { isDoneWithin } from "../lib/is-done-within.ts";
import type { Protocol } from "../protocol/protocol.ts";
import type { Caller, Resources } from "../resources.ts";
import type { Runtime } from "../source.ts";
import { appShape, checkOptions } from "./app-options.ts";
import { buildServer } from "./build-server.ts";
import { freshCursorKey, loadCursorKey } from "./cursor-key.ts";
import { createFeatures, createServerProtocol } from "./features.ts";
import { createProgramConfig, type ProgramConfigOptions } from "./program-config.ts";
import { createRuntime } from "./runtime.ts";
import { createTemporaryFolder } from "./temporary-folder.ts";

export interface AppOptions extends Omit<ProgramConfigOptions, "server"> {
  /** Name of the server, for clients. */
  readonly name: string;
  /** Title of the server, for people. Default: the name. */
  readonly title?: string;
  /** Version of the server. Default: "1.0.0". */
  readonly version?: string;
  /** Text for models about what is here. Default: written from the mounts, for each caller. */
  readonly instructions?: string | ((caller: Caller) => string);
  /** Who may see what, decided by the program instead of `rules`. Default: without rules, every caller may see everything. */
  readonly policy?: Policy;
  /** Names of the tools to offer. False: none, not even those of mounts. Default: all. */
  readonly tools?: ServerSettings["tools"];
  /** Number of entries on the first page of a list. Default: 1000. */
  readonly pageSize?: number;
  /** Whether results are never marked as public, because callers must authenticate. Default: false. */
  readonly isPrivate?: boolean;
  /** Clocks, log and environment. Default: those of the process; the log goes to standard error. */
  readonly runtime?: Runtime;
  /** 32 bytes that sign cursors. Default: a key in the state folder. */
  readonly cursorKey?: Uint8Array;
  /**
   * Folder for the index, sets and the cursor key, so that they survive a restart. One process per folder writes the index.
   * Default: a temporary folder, which is removed when the app closes; a cursor is then valid in this app only.
   */
  readonly stateFolder?: string;
}

export interface App {
  /** Throws "unavailable" once the app is closed. */
  readonly resources: Resources;
  readonly protocol: Protocol;
  readonly runtime: Runtime;
  /** Looks up for this caller what a model should read first: the instructions of later responses name it. Never rejects. */
  prepare(caller: Caller): Promise<void>;
  /**
   * Ends every watch, closes every source, also those that the program has opened, and removes temporary files. Waits 5 seconds for
   * running requests, and as long for the sources; logs which of them continue.
   */
  close(): Promise<void>;
}

const graceMs = 5000;

/** Throws "invalid" with all wrong options and mounts, and what a source throws when it cannot be opened. */
export async function createApp(options: AppOptions): Promise<App> {
  return openApp(options, await checkOptions(options, appShape));
}

/** Throws "invalid" with the problems of the options, if there are any. */
export async function openApp(options: AppOptions, problems: readonly Problem[]): Promise<App> {
  const { name, title = name, version = "1.0.0", tools, pageSize, policy, stateFolder } = options;
  const { instructions, runtime = createRuntime(process.stderr) } = options;
  const here = process.cwd();
  const config = await createProgramConfig({ ...options, server: { tools, pageSize } }, here, problems);
  const state = stateFolder === undefined ? createTemporaryFolder() : { path: resolve(stateFolder) };
  try {
    const server = await buildServer({
      config,
      project: { config: `program ${name}` },
      runtime,
      stateFolder: state.path,
      cacheFolder: state.path,
      cursorKey: cursorKeyOf(options, runtime),
      policy,
      currentFolder: here,
      live: true,
      // Nobody else knows a temporary folder.
      followsSets: stateFolder !== undefined,
    });
    const features = createFeatures({
      pressmark: server,
      server: { name, title },
      instructions: typeof instructions === "string" ? () => instructions : instructions,
    });
    const protocol = createServerProtocol(server, features, { version, isPrivate: options.isPrivate });
    let closing: Promise<void> | undefined;
    const within = async (work: Promise<void>, late: string): Promise<void> => {
      try {
        if (!(await isDoneWithin(work, graceMs, runtime.wait))) runtime.log("warn", late, { server: name });
      } catch (cause) {
        runtime.log("error", "an app could not be closed completely", { server: name, cause });
      }
    };
    const closeAll = async (): Promise<void> => {
      features.close();
      await within(protocol.close(), "a request or tool still runs after the app was closed: it ignores its signal");
      await within(server.close(), "a source or the index still runs after the app was closed");
      if ("remove" in state) state.remove();
    };
    return {
      resources: untilClosed(server.resources, () => closing !== undefined),
      protocol,
      runtime: server.runtime,
      prepare: features.prepare,
      close: () => (closing ??= closeAll()),
    };
  } catch (cause) {
    if ("remove" in state) state.remove();
    throw cause;
  }
}

function cursorKeyOf({ cursorKey, stateFolder }: AppOptions, runtime: Runtime): () => Uint8Array {
  if (cursorKey === undefined && stateFolder !== undefined) return loadCursorKey(resolve(stateFolder), runtime);
  const key = cursorKey ?? freshCursorKey();
  return () => key;
}

/** The same resources, whose functions throw once `isClosed`. */
function untilClosed(resources: Resources, isClosed: () => boolean): Resources {
  return new Proxy(resources, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== "function" || !isClosed()) return member;
      return async () => {
        throw lastingFailure("the app is closed");
      };
    },
  });
}
