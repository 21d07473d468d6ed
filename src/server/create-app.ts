/** Everything behind a transport, for a program: mounts with their layers, search, tools and the protocol. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Policy } from "../access/policy.ts";
import type { ServerSettings } from "../config/schema.ts";
import { invalid } from "../errors.ts";
import type { Protocol } from "../protocol/protocol.ts";
import type { Caller, Resources } from "../resources.ts";
import type { Runtime } from "../source.ts";
import { buildServer } from "./build-server.ts";
import { loadCursorKey } from "./cursor-key.ts";
import { createFeatures, createServerProtocol } from "./features.ts";
import { createProgramConfig, type ProgramConfigOptions } from "./program-config.ts";
import { createRuntime } from "./runtime.ts";

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
   * Default: a temporary folder, which is removed when the app closes.
   */
  readonly stateFolder?: string;
}

export interface App {
  readonly resources: Resources;
  readonly protocol: Protocol;
  readonly runtime: Runtime;
  /** Looks up for this caller what a model should read first: the instructions of later responses name it. Never rejects. */
  prepare(caller: Caller): Promise<void>;
  /** Ends every watch, closes every source and removes temporary files. */
  close(): Promise<void>;
}

const keyBytes = 32;

/** Throws "invalid" if an option or a mount is wrong, and what a source throws when it cannot be opened. */
export async function createApp(options: AppOptions): Promise<App> {
  const { name, title = name, version = "1.0.0", tools, pageSize, policy, cursorKey } = options;
  const { instructions, runtime = createRuntime(process.stderr) } = options;
  if (cursorKey && cursorKey.length !== keyBytes) throw invalid(`the cursor key must have ${keyBytes} bytes`);
  const here = process.cwd();
  const config = await createProgramConfig({ ...options, server: { tools, pageSize } }, here);
  const state = openStateFolder(options.stateFolder);
  try {
    const server = await buildServer({
      config,
      project: { config: `program ${name}` },
      runtime,
      stateFolder: state.path,
      cacheFolder: state.path,
      cursorKey: cursorKey ? () => cursorKey : loadCursorKey(state.path, runtime),
      policy,
      currentFolder: here,
      live: true,
    });
    const features = createFeatures({
      pressmark: server,
      server: { name, title },
      instructions: typeof instructions === "string" ? () => instructions : instructions,
    });
    const protocol = createServerProtocol(server, features, { version, isPrivate: options.isPrivate });
    let closing: Promise<void> | undefined;
    const closeAll = async (): Promise<void> => {
      features.close();
      await protocol.close();
      await server.close();
      state.remove();
    };
    return {
      resources: server.resources,
      protocol,
      runtime: server.runtime,
      prepare: features.prepare,
      close: () => (closing ??= closeAll()),
    };
  } catch (cause) {
    state.remove();
    throw cause;
  }
}

interface StateFolder {
  readonly path: string;
  remove(): void;
}

/** A temporary folder is also removed when the process exits without closing the app. */
function openStateFolder(chosen: string | undefined): StateFolder {
  if (chosen !== undefined) return { path: resolve(chosen), remove: () => undefined };
  const path = mkdtempSync(join(tmpdir(), "pressmark-app-"));
  const remove = (): void => {
    process.off("exit", remove);
    rmSync(path, { recursive: true, force: true });
  };
  process.on("exit", remove);
  return { path, remove };
}
