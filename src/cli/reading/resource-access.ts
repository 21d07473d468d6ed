/** Where the reading commands get their resources: the one place that knows what house they come from. */
import type { Writable } from "node:stream";
import type { Call, Resource, Resources } from "../../resources.ts";
import type { ServerIndex } from "../../server/server-index.ts";
import { listFlag, UsageError, valueFlag, type CommandContext } from "../command.ts";

export const resourceAccessFlags = {
  folder: listFlag("FOLDER", "look in this folder instead of the current one; may be given again", "folders"),
  config: valueFlag<string | undefined>("FILE", "look at what this config mounts", {
    initial: undefined,
    offer: "files",
    parse: (text) => text,
  }),
  server: valueFlag<string | undefined>(
    "URL|COMMAND",
    "ask another MCP server: its address, or a command that starts it",
    {
      initial: undefined,
      parse: (text) => text,
    },
  ),
  header: listFlag(
    "'NAME: VALUE'",
    "send this to the other server, as in 'Authorization: Bearer ${env:TOKEN}'; a value may be @FILE; may be given again",
  ),
};

export interface ResourceAccessFlags {
  readonly folder: readonly string[];
  readonly config: string | undefined;
  readonly server?: string | undefined;
  readonly header?: readonly string[];
}

/** A mount, as far as a reader needs to know it. */
export interface ReachRoot {
  readonly uri: string;
  /** What all its URIs begin with. */
  readonly base: string;
}

export interface ResourceAccess {
  readonly resources: Resources;
  /** What is mounted; none where that is not known. */
  readonly roots: readonly ReachRoot[];
  /** The URI that a person means by a URI or by a path. What is not there throws "not-found". */
  locate(where: string, call: Call): Promise<string>;
  /** What is searched in, where that is kept here. */
  readonly index?: ServerIndex;
  close(): Promise<void>;
}

/** What goes wrong on the way is said to `err`. */
export async function openResourceAccess(
  { folder, config, server, header = [] }: ResourceAccessFlags,
  { folder: from, env, version }: Pick<CommandContext, "folder" | "env" | "version">,
  err: Pick<Writable, "write">,
): Promise<ResourceAccess> {
  if (server !== undefined) {
    if (folder.length > 0 || config !== undefined)
      throw new UsageError("--server asks another server: leave out --folder and --config");
    const { openRemote } = await import("./remote.ts");
    return openRemote(server, header, { folder: from, env, version });
  }
  if (header.length > 0) throw new UsageError("--header is for another server: name it with --server");
  const { openServer } = await import("../../server/open-server.ts");
  const pressmark = await openServer({ folders: folder, config, from, env, err });
  return {
    resources: pressmark.resources,
    roots: pressmark.mounts.map(({ base }) => ({ base, uri: rootOf(base) })),
    locate: pressmark.locate,
    index: pressmark.index,
    close: pressmark.close,
  };
}

/** `file:///a/` is the base of `file:///a`; a base without any name in it is its own root. */
function rootOf(base: string): string {
  return /^[^:]+:[/]*$/.test(base) ? base : base.replace(/\/$/, "");
}

/** The path of a URI within its mount, decoded; undefined where it has none that could be written as one. */
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
