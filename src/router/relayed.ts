/** Shows tools and prompts of other servers to callers who may see everything of their mounts, and calls them. */
import { type CoalescingQueue, createCoalescingQueue } from "../lib/coalescing-queue.ts";
import { causeFacts, lastingFailure, quote, ResourceError, toResourceError } from "../errors.ts";
import type { Call, ContentBlock, Relayed, RelayedKind, RelayedName, RelayedTool } from "../resources.ts";
import type { SourceBlock, SourceRelayed } from "../source.ts";
import type { Access } from "./access.ts";
import type { RoutedMount } from "./route.ts";

interface RelayingMount {
  readonly mount: RoutedMount;
  readonly source: SourceRelayed;
}

export function createRelayed(access: Access): Relayed {
  const { runtime } = access;
  /** Logged once, until they work again. */
  const failing = new Set<RoutedMount>();

  function mountsFor(call: Call): RelayingMount[] {
    return access.routes.mounts.flatMap((mount) =>
      mount.source.relayed && access.maySeeWhole(call, mount) ? [{ mount, source: mount.source.relayed }] : [],
    );
  }

  /** The tools or prompts of every mount of the caller that can be reached. */
  async function listAll<T extends Pick<RelayedName, "name">>(
    call: Call,
    list: (relaying: RelayingMount) => Promise<readonly T[]>,
  ): Promise<(T & RelayedName)[]> {
    const relaying = mountsFor(call);
    const mounts = relaying.map(({ mount }) => mount.name);
    const lists = relaying.map(async (each) => {
      const { mount } = each;
      try {
        const found = (await list(each)).map((item) => ({ ...item, mount: mount.name, mounts }));
        failing.delete(mount);
        return found;
      } catch (cause) {
        if (call.signal.aborted) throw cause;
        // The other server does not know every caller.
        if (toResourceError(cause).kind !== "denied" && !failing.has(mount)) {
          failing.add(mount);
          runtime.log("warn", "tools and prompts of a mount cannot be listed", {
            mount: mount.name,
            ...causeFacts(cause),
          });
        }
        return [];
      }
    });
    return (await Promise.all(lists)).flat();
  }

  const mayCall = ({ annotations }: Pick<RelayedTool, "annotations">, mount: RoutedMount, call: Call): boolean =>
    annotations?.["readOnlyHint"] === true || access.mayWrite(call, mount);

  function find(what: RelayedName, call: Call): RelayingMount {
    const found = mountsFor(call).find(({ mount }) => mount.name === what.mount);
    if (!found) throw nothing(what);
    return found;
  }

  async function run<T>({ mount }: RelayingMount, asked: string, call: Call, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (cause) {
      const refusal = access.refusal(cause, { uri: mount.root, mount, asked }, call);
      // The caller knows of the tool or prompt, so this reveals nothing.
      if (refusal.kind === "not-found")
        throw lastingFailure(`the server behind ${quote(mount.name)} refused this`, cause);
      throw refusal;
    }
  }

  /** A resource that the caller may not see, or that no URI can express, becomes a note. */
  function show(block: SourceBlock, mount: RoutedMount, call: Call): ContentBlock {
    if (block.type !== "link" && block.type !== "embedded") return block;
    const note: ContentBlock = { type: "text", text: "[a resource that cannot be shown]" };
    if (block.type === "link") {
      const resource = access.show(block.entry, mount, call);
      return resource ? { type: "link", resource } : note;
    }
    const { part, ...rest } = block;
    const { at, body, mimeType, meta } = part;
    const uri = access.maySee(call, mount, at) ? access.routes.format(mount, at) : undefined;
    if (uri === undefined) return note;
    return { ...rest, content: { uri, body, mimeType, meta } };
  }

  return {
    tools(call) {
      return listAll(call, async ({ mount, source }) =>
        (await source.tools(call)).filter((tool) => mayCall(tool, mount, call)),
      );
    },

    async callTool(what, args, input, call) {
      const found = find(what, call);
      const { mount, source } = found;
      const tools = await run(found, what.name, call, () => source.tools(call));
      const tool = tools.find(({ name }) => name === what.name);
      if (!tool || !mayCall(tool, mount, call)) throw nothing(what);
      return run(found, what.name, call, async () => {
        const result = await source.callTool(what.name, args, input, call);
        if ("requestState" in result) return result;
        return { ...result, content: result.content.map((block) => show(block, mount, call)) };
      });
    },

    prompts: (call) => listAll(call, ({ source }) => source.prompts(call)),

    async getPrompt(what, args, input, call) {
      const found = find(what, call);
      const { mount, source } = found;
      return run(found, what.name, call, async () => {
        const result = await source.getPrompt(what.name, args, input, call);
        if ("requestState" in result) return result;
        const messages = result.messages.map(({ role, content }) => ({ role, content: show(content, mount, call) }));
        return { ...result, messages };
      });
    },

    async completePrompt(what, request, call) {
      const found = find(what, call);
      return run(found, what.name, call, () => found.source.completePrompt(what.name, request, call));
    },

    async watch(call) {
      const reader = createCoalescingQueue<RelayedKind>((kind) => kind);
      call.signal.addEventListener("abort", () => void reader.return(), { once: true });
      await Promise.all(
        mountsFor(call).map(async ({ mount, source }) => {
          try {
            const changes = await source.watch(call);
            pump(changes, reader).catch(() => reader.pushAll(["tools", "prompts"]));
          } catch (cause) {
            if (call.signal.aborted) throw cause;
            if (toResourceError(cause).kind !== "denied")
              runtime.log("warn", "changes of tools and prompts are not announced", {
                mount: mount.name,
                ...causeFacts(cause),
              });
          }
        }),
      );
      return reader;
    },
  };
}

async function pump(changes: AsyncIterable<RelayedKind>, reader: CoalescingQueue<RelayedKind>): Promise<void> {
  for await (const kind of changes) reader.push(kind);
}

function nothing({ mount, name }: RelayedName): ResourceError {
  return new ResourceError("not-found", `no tool or prompt ${quote(name)} of a mount ${quote(mount)}`);
}
