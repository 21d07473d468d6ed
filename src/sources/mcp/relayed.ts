/** Tools and prompts of another server, as far as the mount passes them on. */
import type { Client, RequestOptions } from "@modelcontextprotocol/client";
import { createBackoff } from "../../lib/backoff.ts";
import { type CoalescingQueue, createCoalescingQueue } from "../../lib/coalescing-queue.ts";
import { withDeadline } from "../../lib/with-deadline.ts";
import { notFound, ResourceError, unavailable } from "../../errors.ts";
import type { RemoteServer } from "../../client/connect.ts";
import { type Call, type RelayedKind, type Resource, serverCaller } from "../../resources.ts";
import type { Entry, Runtime, SourceRelayed } from "../../source.ts";
import type { Addresses } from "./addresses.ts";
import { toBlock, toRelayedPrompt, toRelayedTool, toToolResult } from "./relayed-content.ts";
import { relayedKinds, relayPace, type RelayedConnection } from "./relayed-connection.ts";
import type { UpstreamCall } from "./upstream-calls.ts";

/** True for all, or the names of those that pass. */
export type Passed = boolean | readonly string[];

interface RelayedOptions {
  readonly tools: Passed;
  readonly prompts: Passed;
  readonly timeoutMs: number;
  readonly connection: RelayedConnection;
  readonly addresses: Addresses;
  readonly runtime: Runtime;
  send<T>(request: (server: RemoteServer) => Promise<T>, call?: Call): Promise<T>;
  entryOf(resource: Resource): Entry | undefined;
  leaveOut(what: string, name: string, why: string): void;
}

type Loose = Readonly<Record<string, unknown>>;

/** A list is fetched again after this time, or when the server announces a change. */
const freshMs = 10_000;
/** Longest wait for the list of a slow server; when it arrives, it is announced. Some hosts give up a server after ten seconds. */
const listMs = 8000;
/** Hosts and models cannot use more. */
const maxItems = 500;
/** Times that one call may ask, or tell the client to come again. */
const maxRounds = 20;
const againMs = 250;
/** The SDK's own time limit is not used: while a person is asked, time does not count. */
const unlimitedMs = 24 * 60 * 60_000;
const capabilitiesKey = "io.modelcontextprotocol/clientCapabilities";

export function createRelayed(options: RelayedOptions): SourceRelayed & { close(): void } {
  const { connection, addresses, runtime, send, entryOf, timeoutMs } = options;
  const { calls } = connection;
  const readers = new Set<CoalescingQueue<RelayedKind>>();
  const closing = new AbortController();
  const content = { addresses, entryOf };

  const tools = createList("tools", options.tools, async (server, call) =>
    (await server.listTools(call)).map((tool) => ({
      name: tool.name,
      item: { wire: tool, shown: toRelayedTool(tool) },
    })),
  );
  const prompts = createList("prompts", options.prompts, (server, call) =>
    server.send(async (client, request) => {
      if (!client.getServerCapabilities()?.prompts) return [];
      const { prompts: found } = await client.listPrompts({}, { ...request, cacheMode: "bypass" });
      return found.map((prompt) => ({ name: prompt.name, item: { wire: prompt, shown: toRelayedPrompt(prompt) } }));
    }, call),
  );
  const lists = { tools, prompts };
  connection.changed = (kind) => void lists[kind].changed();
  connection.connected = () => {
    for (const list of [tools, prompts]) if (list.isKnown()) void list.changed();
  };

  /** Shared by all callers. */
  function createList<Item extends { readonly shown: object | string }>(
    kind: RelayedKind,
    passed: Passed,
    fetch: (server: RemoteServer, call: Call) => Promise<readonly { name: string; item: Item }[]>,
  ) {
    let known: ReadonlyMap<string, Item> | undefined;
    /** A caller got no list: the next one is announced. */
    let wasMissed = false;
    /** The last list did not come in time: nobody waits for the next one. */
    let isSlow = false;
    let freshUntilMs = -Infinity;
    let announced = 0;
    let isDue = false;
    const backoff = createBackoff({ ...relayPace, atOnce: 1, now: runtime.monotonicMs });
    let fetching: Promise<ReadonlyMap<string, Item>> | undefined;

    function select(found: readonly { name: string; item: Item }[]): ReadonlyMap<string, Item> {
      const selected = new Map<string, Item>();
      const what = kind === "tools" ? "a tool" : "a prompt";
      for (const { name, item } of found) {
        if (passed !== true && !(passed && passed.includes(name))) continue;
        if (selected.size >= maxItems) {
          options.leaveOut(what, name, `there are more than ${maxItems}`);
          break;
        }
        const why = selected.has(name) ? "another has the same name" : item.shown;
        if (typeof why === "string") options.leaveOut(what, name, why);
        else selected.set(name, item);
      }
      if (Array.isArray(passed))
        for (const name of passed)
          if (!selected.has(name)) options.leaveOut(what, name, "the server offers none of this name");
      return selected;
    }

    async function load(): Promise<ReadonlyMap<string, Item>> {
      const call: Call = { caller: serverCaller, signal: closing.signal };
      const before = announced;
      const next = select(await send((server) => fetch(server, call)));
      const isOther = known && JSON.stringify([...known.values()]) !== JSON.stringify([...next.values()]);
      known = next;
      // A change that was announced meanwhile may be missing.
      freshUntilMs = before === announced ? runtime.monotonicMs() + freshMs : -Infinity;
      if (isOther || wasMissed) for (const reader of readers) reader.push(kind);
      wasMissed = false;
      isSlow = false;
      return next;
    }

    async function get({ signal }: Pick<Call, "signal">): Promise<ReadonlyMap<string, Item>> {
      if (!passed) return new Map();
      if (known && runtime.monotonicMs() < freshUntilMs) return known;
      fetching ??= load().finally(() => {
        fetching = undefined;
      });
      fetching.catch(() => undefined);
      try {
        if (isSlow) throw tooLate();
        const current = fetching;
        const slow = () => {
          isSlow = true;
          return tooLate();
        };
        return await withDeadline(Math.min(listMs, timeoutMs), signal, slow, () => current);
      } catch (cause) {
        // On failure the earlier list stays valid.
        if (known && !signal.aborted) return known;
        wasMissed = true;
        throw cause;
      }
    }

    return {
      get,
      /** Announced to callers if the next list differs. */
      async changed(): Promise<void> {
        announced += 1;
        freshUntilMs = -Infinity;
        if (isDue) return;
        isDue = true;
        // A fetch may itself make a new connection, which calls this again.
        await runtime.wait(backoff.ended(), closing.signal).catch(() => undefined);
        await fetching?.catch(() => undefined);
        isDue = false;
        backoff.begun();
        if (readers.size > 0 && !closing.signal.aborted) await get(closing).catch(() => undefined);
      },
      isKnown: () => known !== undefined,
    };
  }

  /** Calls until the server has what it needs. */
  async function complete(
    params: Loose,
    upstream: UpstreamCall,
    request: (client: Client, params: Loose, options: RequestOptions) => Promise<unknown>,
  ): Promise<Loose> {
    let next = params;
    for (let round = 0; round < maxRounds; round += 1) {
      const result = (await send((server) =>
        server.sendUntilAborted((client) => {
          upstream.uses(client);
          const isModern = client.getProtocolEra() === "modern";
          const _meta = isModern ? { [capabilitiesKey]: upstream.capabilities } : undefined;
          return request(client, { ...next, ...(_meta && { _meta }) }, optionsOf(upstream));
        }, upstream.signal),
      )) as Loose;
      if (result["resultType"] !== "input_required") return result;
      const inputRequests = (result["inputRequests"] ?? {}) as Loose;
      const inputResponses = await upstream.ask(inputRequests);
      if (Object.keys(inputRequests).length === 0) await runtime.wait(againMs, upstream.signal);
      next = { ...params, inputResponses, requestState: result["requestState"] };
    }
    throw new ResourceError("unexpected", "the other server asks for input again and again");
  }

  return {
    async tools(call) {
      return [...(await tools.get(call)).values()].map(({ shown }) => shown as Exclude<typeof shown, string>);
    },

    async callTool(name, args, input, call) {
      const tool = (await tools.get(call)).get(name);
      if (!tool) throw notFound(name);
      // Results are passed on as they are: the caller's client compares them with the schema.
      const { outputSchema: _, ...toolDefinition } = tool.wire;
      return calls.run(`tool ${name}`, input, call, async (upstream) => {
        const result = await complete({ name, arguments: args }, upstream, (client, params, request) =>
          client.callTool(params as never, { ...request, toolDefinition }),
        );
        return toToolResult(result, content);
      });
    },

    async prompts(call) {
      return [...(await prompts.get(call)).values()].map(({ shown }) => shown as Exclude<typeof shown, string>);
    },

    async getPrompt(name, args, input, call) {
      if (!(await prompts.get(call)).has(name)) throw notFound(name);
      return calls.run(`prompt ${name}`, input, call, async (upstream) => {
        const result = await complete({ name, arguments: args }, upstream, (client, params, request) =>
          client.getPrompt(params as never, request),
        );
        const { description, messages } = result as Awaited<ReturnType<Client["getPrompt"]>>;
        return {
          ...(description !== undefined && { description }),
          messages: messages.map(({ role, content: block }) => ({ role, content: toBlock(block, content) })),
        };
      });
    },

    async completePrompt(name, { variable, value, given }, call) {
      if (!(await prompts.get(call)).has(name)) throw notFound(name);
      return send(
        (server) =>
          server.send(async (client, request) => {
            if (!client.getServerCapabilities()?.completions) return { values: [] };
            const { completion } = await client.complete(
              {
                ref: { type: "ref/prompt", name },
                argument: { name: variable, value },
                ...(Object.keys(given).length > 0 && { context: { arguments: { ...given } } }),
              },
              request,
            );
            const { values, total, hasMore: more } = completion;
            return { values: values.slice(0, 100), total, more };
          }, call),
        call,
      );
    },

    async watch({ signal }) {
      const reader = createCoalescingQueue<RelayedKind>((kind) => kind);
      readers.add(reader);
      const end = (): void => {
        readers.delete(reader);
        void reader.return();
      };
      if (signal.aborted) end();
      else signal.addEventListener("abort", end, { once: true });
      // Without a connection nothing would be heard.
      for (const kind of relayedKinds) lists[kind].get(closing).catch(() => undefined);
      return reader;
    },

    close() {
      closing.abort();
      calls.close();
      for (const reader of readers) void reader.return();
    },
  };
}

function optionsOf({ signal, progress }: UpstreamCall): RequestOptions {
  return {
    signal,
    timeout: unlimitedMs,
    allowInputRequired: true,
    onprogress: ({ progress: done, total, message }) => progress(done, total, message),
  };
}

function tooLate(): ResourceError {
  return unavailable("the other server did not list its tools and prompts in time");
}
