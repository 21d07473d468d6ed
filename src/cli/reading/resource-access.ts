/** Opens the resources for the reading commands: folders, a config, or another server. */
import type { Writable } from "node:stream";
import type { Call, Resource, Resources } from "../../resources.ts";
import type { MountsWatch } from "../../server/watch-mounts.ts";
import type { ServerIndex } from "../../server/server-index.ts";
import { type FlagValues, listFlag, textFlag, UsageError, type CommandContext } from "../command.ts";

export const resourceAccessFlags = {
  folder: listFlag("FOLDER", "Use this folder instead of the current one; may be repeated", "folders"),
  config: textFlag("FILE", "Use the mounts of this config", "files"),
  server: textFlag("URL|COMMAND", "Use another MCP server: its URL, or a command that starts it"),
  header: listFlag(
    "'NAME: VALUE'",
    "Header to send to the other server, as in 'Authorization: Bearer ${env:TOKEN}'; @FILE reads the value from a file; may be repeated",
  ),
};

export type ResourceAccessFlags = FlagValues<typeof resourceAccessFlags>;

/** A mount's name and URI prefix. */
export interface ReachRoot {
  /** Unknown for another server. */
  readonly name?: string;
  readonly uri: string;
  /** Prefix of all its URIs. */
  readonly base: string;
  /** True for a key store: its list has no order, and its directories exist only through the resources below them. */
  readonly isKeyStore?: boolean;
  /** Whether paths are meant to be in it: `locate` looks for them here first. */
  readonly acceptsPaths: boolean;
}

export interface ResourceAccess {
  readonly resources: Resources;
  /** The mounts; empty if unknown. */
  readonly roots: readonly ReachRoot[];
  /** URI of the current folder in the innermost mount that contains it; it may be missing there. */
  readonly current?: string;
  /** Resolves a URI or path to a URI. Throws "not-found" if it does not exist. */
  locate(where: string, call: Call): Promise<string>;
  /** Watches everything. Absent for another server, which reports only changes of resources that a client names. */
  watchAll?(call: Call): Promise<MountsWatch>;
  /** The local search index, if there is one. */
  readonly index?: ServerIndex;
  close(): Promise<void>;
}

/** Warnings are written to `err`. */
export async function openResourceAccess(
  { folder, config, server, header }: ResourceAccessFlags,
  { folder: from, env, version }: Pick<CommandContext, "folder" | "env" | "version">,
  err: Pick<Writable, "write">,
): Promise<ResourceAccess> {
  if (server !== undefined) {
    if (folder.length > 0 || config !== undefined)
      throw new UsageError("--server cannot be combined with --folder or --config");
    const { openRemote } = await import("./remote.ts");
    return openRemote(server, header, { folder: from, env, version, err });
  }
  if (header.length > 0) throw new UsageError("--header works only with --server");
  const { currentFolder, openServer } = await import("../../server/open-server.ts");
  const { uriOfFolder } = await import("../../server/locate.ts");
  const pressmark = await openServer({ folders: folder, config, from, env, err });
  return {
    resources: pressmark.resources,
    roots: pressmark.mounts.map(({ name, base, folder: path, source }) => ({
      name,
      base,
      uri: rootOf(base),
      acceptsPaths: path !== undefined,
      isKeyStore: source.isUnordered === true && source.impliesDirectories === true,
    })),
    current: folder.length > 1 ? undefined : uriOfFolder(currentFolder({ folders: folder, from }), pressmark.mounts),
    locate: pressmark.locate,
    watchAll: async (call) => (await import("../../server/watch-mounts.ts")).watchMounts(pressmark, call),
    index: pressmark.index,
    close: pressmark.close,
  };
}

/** The root of the base `file:///a/` is `file:///a`; a base without a path is its own root. */
function rootOf(base: string): string {
  return /^[^:]+:[/]*$/.test(base) ? base : base.replace(/\/$/, "");
}

/** Decoded path of a URI within its mount; undefined if it cannot be written as a path. */
export function pathBelowRoot(roots: readonly ReachRoot[], { uri }: Pick<Resource, "uri">): string | undefined {
  const root = roots.find(({ base }) => uri.startsWith(base));
  if (!root || uri.includes("?") || uri.includes("#")) return undefined;
  const rest = uri.slice(root.base.length);
  if (!rest.includes("%")) return rest;
  try {
    const names = rest.split("/").map(decodeURIComponent);
    return names.some((name) => name.includes("/")) ? undefined : names.join("/");
  } catch {
    return undefined;
  }
}
