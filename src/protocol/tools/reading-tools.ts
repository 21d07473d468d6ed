/** Search, list and read as tools, for models whose host shows them nothing but tools. The server is bound in: none has to be named. */
import type { Call, Caller, Resources } from "../../resources.ts";
import type { RequestParams } from "../message.ts";
import type { Tool, ToolResult } from "../tools.ts";
import { gatherContext } from "./gather-context.ts";
import { listResources } from "./list-resources.ts";
import { type NamedMount, nameMounts } from "./mounts.ts";
import { readResource } from "./read-resource.ts";
import { searchResources } from "./search-resources.ts";

export type ReadingToolName = "search_resources" | "list_resources" | "read_resource" | "gather_context";

/** What a tool answers from. */
export interface ToolContext {
  readonly resources: Resources;
  /** Those that the caller may know of. */
  readonly mounts: readonly NamedMount[];
  /** Whether another tool is there to be referred to. */
  offers(name: ReadingToolName): boolean;
}

export interface ReadingTool extends Pick<Tool, "inputSchema" | "outputSchema"> {
  readonly name: ReadingToolName;
  readonly title: string;
  /** In the imperative: when to call it, and what for. */
  describe(about: { readonly server: string; readonly mounts: string; readonly offers: ToolContext["offers"] }): string;
  call(args: RequestParams, shelf: ToolContext, call: Call): Promise<ToolResult>;
}

export interface ReadingToolsOptions {
  readonly resources: Resources;
  /** The name that this server gives itself. */
  readonly server: string;
  /** The mounts of now, as far as this caller may know of them. */
  mounts(caller: Caller): readonly NamedMount[];
  /** Which of them are offered; all unless said. */
  readonly only?: readonly ReadingToolName[];
}

const allTools: readonly ReadingTool[] = [searchResources, listResources, readResource, gatherContext];
/** So much of a description is spent on the mounts' names. */
const maxMountsLength = 400;

export function createReadingTools({ resources, server, mounts, only }: ReadingToolsOptions): readonly Tool[] {
  const offers: ToolContext["offers"] = (name) => only === undefined || only.includes(name);
  return allTools
    .filter(({ name }) => offers(name))
    .map(({ name, title, describe, inputSchema, outputSchema, call }) => ({
      name,
      title,
      description: (caller) => {
        const seen = mounts(caller);
        const named = seen.length === 0 ? "what is served here" : nameMounts(seen, maxMountsLength);
        return describe({ server, mounts: named, offers });
      },
      inputSchema,
      ...(outputSchema && { outputSchema }),
      annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      call: (args, asked) => call(args, { resources, mounts: mounts(asked.caller), offers }, asked),
    }));
}
