/** Tells whether what was posted runs something that may change what is served. */
import type { Tool, ToolSet } from "../protocol/tools.ts";
import type { Caller } from "../resources.ts";
import type { ActionEndpoint } from "../transport/action-endpoint.ts";

interface WriteCheckOptions {
  readonly tools: readonly Tool[];
  /** Tools of mounts. */
  readonly moreTools?: ToolSet;
  /** The same actions over plain HTTP. */
  readonly endpoint?: Pick<ActionEndpoint, "writes">;
}

/** Undefined if a message calls no tool. */
export type WriteCheck = (caller: Caller, body: unknown, actionPath?: string) => Promise<boolean> | undefined;

export function createWriteCheck({ tools, moreTools, endpoint }: WriteCheckOptions): WriteCheck {
  /** A tool that is not listed counts as writing: the server of a mount may be slow or gone now, and back when the tool is called. */
  async function areWriting(names: readonly unknown[], caller: Caller): Promise<boolean> {
    const own = new Map<unknown, Tool>(tools.map((tool) => [tool.name, tool]));
    // Tools of other servers are listed only if one may be called.
    const isOwn = names.every((name) => own.has(name));
    const more = isOwn ? [] : ((await moreTools?.list(new Set(tools.map(({ name }) => name)), callOf(caller))) ?? []);
    const offered = new Map<unknown, Tool>([...own, ...more.map((tool) => [tool.name, tool] as const)]);
    return names.some((name) => offered.get(name)?.annotations?.readOnlyHint !== true);
  }

  return (caller, body, actionPath) => {
    if (actionPath !== undefined) return endpoint?.writes(actionPath, callOf(caller));
    const names = toolsIn(body);
    return names.length === 0 ? undefined : areWriting(names, caller);
  };
}

function callOf(caller: Caller) {
  return { caller, signal: new AbortController().signal };
}

/** The names of called tools; older revisions send several messages at once. */
function toolsIn(body: unknown): readonly unknown[] {
  return [body].flat().flatMap((message: unknown) => {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
    return method === "tools/call" ? [params?.name] : [];
  });
}
