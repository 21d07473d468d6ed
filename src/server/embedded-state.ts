/** What single servers have stored on this machine, for the move into the shared state. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createOAuthStore, type OAuthState } from "../auth/builtin/oauth-store.ts";
import type { Runtime } from "../runtime.ts";
import { auditFolder, readAuditLog } from "./audit-log.ts";
import { createSavedSets, type SavedSet } from "./sets/saved-sets.ts";
import { createTokenStore, type StoredToken } from "./token-store.ts";

interface EmbeddedOptions {
  readonly stateFolder: string;
  /** The config's file, without links. It need not exist any more. */
  readonly config: string;
  readonly runtime: Runtime;
}

export interface EmbeddedState {
  readonly tokens: readonly StoredToken[];
  readonly sets: readonly SavedSet[];
  /** Of all configs of this machine. Absent if none was stored. */
  readonly cursorKey: Uint8Array | undefined;
  /** Absent if nobody has signed in. */
  readonly signIns: OAuthState | undefined;
}

export function readEmbedded({ stateFolder, config, runtime }: EmbeddedOptions): EmbeddedState {
  const signIns = createOAuthStore(stateFolder, config, runtime.now).read();
  const hasSignIns = signIns.keys.length > 0 || Object.keys(signIns.passwords).length > 0;
  return {
    tokens: createTokenStore(stateFolder, config).list(),
    sets: createSavedSets(stateFolder, { config }, runtime).all(),
    cursorKey: readIfThere(join(stateFolder, "cursor-key")),
    signIns: hasSignIns ? signIns : undefined,
  };
}

/** How much there is. The cursor key is left out: it belongs to no config. */
export async function countEmbedded(options: EmbeddedOptions): Promise<Readonly<Record<string, number>>> {
  const { tokens, sets, signIns } = readEmbedded(options);
  let entries = 0;
  for await (const _entry of readAuditLog(auditFolder(options.stateFolder, options.config))) entries += 1;
  return { tokens: tokens.length, sets: sets.length, "sign-ins": signIns ? 1 : 0, "audit entries": entries };
}

/** The configs for which tokens or sets are stored, sorted. */
export function configsWithState(stateFolder: string): readonly string[] {
  const tokenFiles = jsonFilesIn(join(stateFolder, "tokens")).map((file) => readJson(file));
  const setFiles = foldersIn(join(stateFolder, "sets")).map((folder) => readJson(jsonFilesIn(folder)[0]));
  const configs = [
    ...tokenFiles.map((file) => (hasItems(file?.["tokens"]) ? file?.["config"] : undefined)),
    ...setFiles.map((file) => (file?.["project"] as { readonly config?: unknown } | undefined)?.config),
  ];
  return [...new Set(configs.filter((config) => typeof config === "string"))].sort();
}

function hasItems(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

function jsonFilesIn(folder: string): readonly string[] {
  return namesIn(folder)
    .filter((name) => name.endsWith(".json"))
    .map((name) => join(folder, name));
}

function foldersIn(folder: string): readonly string[] {
  return namesIn(folder).map((name) => join(folder, name));
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Undefined if it cannot be read: it is only a hint then that is missing. */
function readJson(file: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (file === undefined) return undefined;
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, unknown>>;
  } catch {
    return undefined;
  }
}

function readIfThere(file: string): Uint8Array | undefined {
  try {
    return readFileSync(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw cause;
  }
}
