/** Search, list and read as tools, for hosts that show models only tools. */
import type { Call, Caller, Resources } from "../../resources.ts";
import type { RequestParams } from "../message.ts";
import type { Tool, ToolResult } from "../tools.ts";
import { checkNames } from "./arguments.ts";
import { gatherContext } from "./gather-context.ts";
import { listResources } from "./list-resources.ts";
import { type NamedMount, nameMounts } from "./mounts.ts";
import { readResource } from "./read-resource.ts";
import { searchResources } from "./search-resources.ts";

export type ReadingToolName = "search_resources" | "list_resources" | "read_resource" | "gather_context";

/** What a tool works with. */
interface ToolContext {
  readonly resources: Resources;
  /** Mounts that the caller may see. */
  readonly mounts: readonly NamedMount[];
  /** Whether another tool exists and may be mentioned. */
  offers(name: ReadingToolName): boolean;
}

export interface ReadingTool extends Pick<Tool, "outputSchema"> {
  readonly inputSchema: Tool["inputSchema"] & { readonly properties: object };
  readonly name: ReadingToolName;
  readonly title: string;
  /** In the imperative: when and why to call it. */
  describe(about: { readonly server: string; readonly mounts: string; readonly offers: ToolContext["offers"] }): string;
  call(args: RequestParams, context: ToolContext, call: Call): Promise<ToolResult>;
}

export interface ReadingToolsOptions {
  readonly resources: Resources;
  /** The server's own name. */
  readonly server: string;
  /** Current mounts that this caller may see. */
  mounts(caller: Caller): readonly NamedMount[];
  /** The tools to offer. Default: all. */
  readonly only?: readonly ReadingToolName[];
}

const allTools: readonly ReadingTool[] = [searchResources, listResources, readResource, gatherContext];
/** Maximum length of the mounts' names in a description. */
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
      outputSchema,
      annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      async call(args, request) {
        checkNames(args, name, Object.keys(inputSchema.properties));
        return call(args, { resources, mounts: mounts(request.caller), offers }, request);
      },
    }));
}
