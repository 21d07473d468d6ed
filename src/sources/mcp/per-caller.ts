/** A source of its own for each caller, for a server that is told who asks. */
import { cancelled } from "../../errors.ts";
import type { Call, Caller } from "../../resources.ts";
import type { Source, SourceRelayed } from "../../source.ts";

/** Beyond this, the connection of the caller who came first is closed. */
const maxCallers = 1000;

type PerCallerSource = Source & Required<Pick<Source, (typeof abilities)[number]>>;
const abilities = ["stat", "children", "search", "skills", "skill", "watch", "follow", "close"] as const;

/**
 * `open` connects nothing before the first request. Without templates and without an index, because both are shared by all callers. A
 * caller's source is closed when the caller is no longer admitted.
 */
export function createPerCaller(
  open: (caller: Caller) => PerCallerSource,
  { timeoutMs, relays = false }: { readonly timeoutMs: number; readonly relays?: boolean },
): Source {
  const sources = new Map<Caller, PerCallerSource>();

  function of({ caller }: Call): PerCallerSource {
    const known = sources.get(caller);
    if (known) return known;
    if (caller.ended?.aborted) throw cancelled(caller.ended.reason);
    const source = open(caller);
    sources.set(caller, source);
    caller.ended?.addEventListener("abort", () => void drop(caller), { once: true });
    const [first] = sources.keys();
    if (sources.size > maxCallers && first) void drop(first);
    return source;
  }

  async function drop(caller: Caller): Promise<void> {
    const source = sources.get(caller);
    sources.delete(caller);
    await source?.close().catch(() => undefined);
  }

  const relayedOf = (call: Call): SourceRelayed => of(call).relayed as SourceRelayed;
  const relayed: SourceRelayed = {
    tools: async (call) => relayedOf(call).tools(call),
    callTool: async (name, args, input, call) => relayedOf(call).callTool(name, args, input, call),
    prompts: async (call) => relayedOf(call).prompts(call),
    getPrompt: async (name, args, input, call) => relayedOf(call).getPrompt(name, args, input, call),
    completePrompt: async (name, request, call) => relayedOf(call).completePrompt(name, request, call),
    watch: async (call) => relayedOf(call).watch(call),
  };

  return {
    timeoutMs,
    isUnordered: true,
    ...(relays && { relayed }),
    list: async (request, call) => of(call).list(request, call),
    read: async (at, call) => of(call).read(at, call),
    stat: async (at, call) => of(call).stat(at, call),
    children: async (at, request, call) => of(call).children(at, request, call),
    search: async (request, call) => of(call).search(request, call),
    skills: async (request, call) => of(call).skills(request, call),
    skill: async (at, call) => of(call).skill(at, call),
    watchesPerCaller: true,
    watch: async (call) => of(call).watch(call),
    follow: async (at, call) => of(call).follow(at, call),
    async close() {
      await Promise.all([...sources.keys()].map(drop));
    },
  };
}
