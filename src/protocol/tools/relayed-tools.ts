/** Tools of other servers, for callers who may see everything of their mounts. */
import type { Relayed, RelayedTool } from "../../resources.ts";
import { watchKind } from "../notices.ts";
import { nameAll } from "../relayed-names.ts";
import type { Tool, ToolSet } from "../tools.ts";

export function createRelayedTools(relayed: Relayed): ToolSet {
  return {
    async list(taken, call) {
      return nameAll(await relayed.tools(call), taken).map(([name, tool]) => toTool(name, tool, relayed));
    },
    watch: (call) => watchKind(relayed, "tools", call),
  };
}

function toTool(name: string, tool: RelayedTool, { callTool }: Relayed): Tool {
  const { title, description, inputSchema, outputSchema, annotations, icons, meta } = tool;
  return {
    name,
    title,
    description,
    inputSchema,
    outputSchema,
    annotations,
    icons,
    meta,
    call: (args, call) => callTool(tool, args, call, call),
  };
}

/** The tools of several sets, those of the first under their own names. */
export function joinToolSets(first: ToolSet, second: ToolSet): ToolSet {
  return {
    async list(taken, call) {
      const some = await first.list(taken, call);
      return [...some, ...(await second.list(new Set([...taken, ...some.map(({ name }) => name)]), call))];
    },
    watch: second.watch,
  };
}
