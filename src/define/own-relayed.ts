/** Tools and prompts of a small server, as a mount passes them on. */
import type { z } from "zod";
import { invalid, notFound, quote, ResourceError } from "../errors.ts";
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { Call, RelayedKind, RelayedToolResult } from "../resources.ts";
import { checkInput } from "../router/check-input.ts";
import type { SourceBlock, SourceRelayed } from "../source.ts";
import type { BlockResolver, DefinedBlock } from "./blocks.ts";
import { runDefined, toJson } from "./content.ts";
import type { DefinedMessage, DefinedPrompt } from "./prompt.ts";
import type { DefinedTool, ToolOutput } from "./tool.ts";

/** Limit of the specification. */
const maxSuggestions = 100;

interface CheckedTool {
  readonly schema: z.ZodType;
  readonly inputSchema: Readonly<Record<string, unknown>>;
}

export function createOwnRelayed(
  tools: Readonly<Record<string, DefinedTool>>,
  prompts: Readonly<Record<string, DefinedPrompt>>,
  { resolve }: BlockResolver,
): SourceRelayed {
  for (const name of [...Object.keys(tools), ...Object.keys(prompts)]) checkName(name);
  /** Created on first use, because loading zod takes long. */
  const checked = new Map<string, CheckedTool>();

  async function check(name: string, { input }: DefinedTool): Promise<CheckedTool> {
    const known = checked.get(name);
    if (known) return known;
    const { z: zod } = await import("zod");
    const schema: z.ZodType = input ? input(zod) : zod.object({});
    const { $schema: _, ...inputSchema } = zod.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
    if (inputSchema["type"] !== "object")
      throw invalid(`the input of the tool ${quote(name)} must be an object: write (z) => z.object({ … })`);
    const made = { schema, inputSchema };
    checked.set(name, made);
    return made;
  }

  async function toBlocks(blocks: readonly DefinedBlock[], call: Call): Promise<SourceBlock[]> {
    return (await Promise.all(blocks.map((block) => resolve(block, call)))).flat();
  }

  async function toResult(name: string, output: ToolOutput, call: Call): Promise<RelayedToolResult<SourceBlock>> {
    if (typeof output === "string" || !("json" in output))
      return { content: await toBlocks(Array.isArray(output) ? output : [output as DefinedBlock], call) };
    const text = toJson(output.json, `the tool ${quote(name)}`);
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return {
      content: [{ type: "text", text }],
      ...(isObject && { structuredContent: value as Readonly<Record<string, unknown>> }),
    };
  }

  return {
    async tools() {
      return Promise.all(
        Object.entries(tools).map(async ([name, definition]) => {
          const { title, description, readOnly, annotations, icons } = definition;
          const hints = { ...annotations, ...(readOnly !== undefined && { readOnlyHint: readOnly }) };
          const { inputSchema } = await check(name, definition);
          return { name, isOwn: true as const, title, description, inputSchema, annotations: hints, icons };
        }),
      );
    },

    async callTool(name, args, _, call) {
      const definition = ownMember(tools, name);
      const { schema } = await check(name, definition);
      try {
        const input = checkInput(schema, args, name);
        return await runDefined(`the tool ${quote(name)}`, call, async () =>
          toResult(name, await definition.run(input as never, call), call),
        );
      } catch (cause) {
        // The model reads why, and can correct its call.
        if (!(cause instanceof ResourceError) || cause.kind === "unexpected" || call.signal.aborted) throw cause;
        return { content: [{ type: "text", text: cause.message }], isError: true };
      }
    },

    async prompts() {
      return Object.entries(prompts).map(([name, { title, description, arguments: args, icons }]) => ({
        name,
        isOwn: true as const,
        title,
        description,
        arguments: args.map(({ complete: _complete, ...argument }) => argument),
        icons,
      }));
    },

    async getPrompt(name, given, _, call) {
      const definition = ownMember(prompts, name);
      const known = new Set(definition.arguments.map((argument) => argument.name));
      const values = Object.fromEntries(Object.entries(given).filter(([argument]) => known.has(argument)));
      return runDefined(`the prompt ${quote(name)}`, call, async () => {
        const output = await definition.run(values, call);
        const messages = await Promise.all(
          (Array.isArray(output) ? output : [output]).map(async (each: DefinedBlock | DefinedMessage) => {
            const { role, content } = isMessage(each) ? each : ({ role: "user", content: each } as const);
            return (await resolve(content, call)).map((block) => ({ role, content: block }));
          }),
        );
        const { description } = definition;
        return { ...(description !== undefined && { description }), messages: messages.flat() };
      }).catch((cause: unknown) => {
        // Otherwise "not-found" would be about the prompt, which exists.
        if (cause instanceof ResourceError && cause.kind === "not-found") throw invalid(cause.message);
        throw cause;
      });
    },

    async completePrompt(name, { variable, value, given }, call) {
      const complete = ownMember(prompts, name).arguments.find((argument) => argument.name === variable)?.complete;
      const what = `completing ${quote(variable)} of the prompt ${quote(name)}`;
      const found = complete ? await runDefined(what, call, () => complete(value, given, call)) : [];
      return { values: found.slice(0, maxSuggestions), total: found.length, more: found.length > maxSuggestions };
    },

    async watch({ signal }) {
      // They never change.
      const queue = createCoalescingQueue<RelayedKind>((kind) => kind);
      if (signal.aborted) queue.end();
      else signal.addEventListener("abort", () => queue.end(), { once: true });
      return queue;
    },
  };
}

function isMessage(each: DefinedBlock | DefinedMessage): each is DefinedMessage {
  return typeof each === "object" && "role" in each;
}

function ownMember<T>(all: Readonly<Record<string, T>>, name: string): T {
  const found = Object.hasOwn(all, name) ? all[name] : undefined;
  if (found === undefined) throw notFound(name);
  return found;
}

function checkName(name: string): void {
  if (!/^[A-Za-z0-9_.-]{1,64}$/.test(name))
    throw invalid(
      `${quote(name)} cannot be the name of a tool or prompt: use up to 64 letters, digits, "_", "-" and "."`,
    );
}
