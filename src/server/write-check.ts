/** Tells which posted messages run something that may change what is served. */
import type { Tool, ToolSet } from "../protocol/tools.ts";
import type { Caller } from "../resources.ts";
import type { ActionEndpoint } from "../transport/action-endpoint.ts";

interface WriteCheckOptions {
  readonly tools: readonly Tool[];
  /** Actions of mounts as tools. */
  readonly actions?: ToolSet;
  /** The same actions over plain HTTP. */
  readonly endpoint?: Pick<ActionEndpoint, "writes">;
}

export type WriteCheck = (caller: Caller, path: string, body: unknown) => Promise<boolean>;

export function createWriteCheck({ tools, actions, endpoint }: WriteCheckOptions): WriteCheck {
  return async (caller, path, body) => {
    const call = { caller, signal: new AbortController().signal };
    if (await endpoint?.writes(path, call)) return true;
    const names = namesIn(body);
    if (names.length === 0) return false;
    const offered = [...tools, ...((await actions?.list(new Set(tools.map(({ name }) => name)), call)) ?? [])];
    return offered.some(({ name, annotations }) => names.includes(name) && annotations?.readOnlyHint !== true);
  };
}

/** The names of called tools; older revisions send several messages at once. */
function namesIn(body: unknown): readonly unknown[] {
  return [body].flat().flatMap((message: unknown) => {
    const { method, params } = (message ?? {}) as { method?: unknown; params?: { name?: unknown } };
    return method === "tools/call" ? [params?.name] : [];
  });
}
