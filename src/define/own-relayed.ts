/** Tools and prompts of a small server, as a mount passes them on. */
import { invalid, notFound, quote, ResourceError } from "../errors.ts";
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { Call, RelayedKind, RelayedToolResult } from "../resources.ts";
import { checkInput } from "../router/check-input.ts";
import type { SourceBlock, SourceRelayed } from "../source.ts";
import { blockProblem, type BlockResolver, type DefinedBlock } from "./blocks.ts";
import {
  checkFunction,
  checkMembers,
  checkRecord,
  checkText,
  isRecord,
  kindOf,
  wrongKind,
} from "./check-definition.ts";
import { runDefined, suggestDefined, toJson, wrongResult } from "./content.ts";
import type { DefinedMessage, DefinedPrompt } from "./prompt.ts";
import { createToolInput, isSchema, type ToolInput, wrongInput } from "./tool-input.ts";
import type { DefinedTool, ToolOutput } from "./tool.ts";

/** Limit of the specification. */
const maxSuggestions = 100;

const toolForms =
  '{ json: … }, a text, link(…), embed(…), { type: "image", bytes, mimeType }, or a list of texts, links and blocks';
const promptForms = "a text, link(…), embed(…), { role, content }, or a list of these";

export interface OwnRelayed {
  readonly relayed: SourceRelayed;
  /** Rejects with the names of all tools whose input cannot be served. */
  checkTools(): Promise<void>;
}

export function createOwnRelayed(
  tools: Readonly<Record<string, DefinedTool>>,
  prompts: Readonly<Record<string, DefinedPrompt>>,
  { resolve }: BlockResolver,
): OwnRelayed {
  checkRecord(tools, '"tools"', "{ name: tool({ description, run }) }");
  checkRecord(prompts, '"prompts"', "{ name: prompt({ description, run }) }");
  for (const [name, definition] of Object.entries(tools)) checkTool(name, definition);
  for (const [name, definition] of Object.entries(prompts)) checkPrompt(name, definition);
  /** Created on first use, because loading zod takes long. */
  const inputs = new Map<string, ToolInput>();

  async function inputOf(name: string, { input }: DefinedTool): Promise<ToolInput> {
    const known = inputs.get(name);
    if (known) return known;
    const { z: zod } = await import("zod");
    const made = createToolInput(name, input, zod);
    inputs.set(name, made);
    return made;
  }

  async function toResult(name: string, output: ToolOutput, call: Call): Promise<RelayedToolResult<SourceBlock>> {
    // The tool has done its work: an error could make the model repeat it.
    if (output === undefined || output === null) return { content: [] };
    if (!isRecord(output) || !("json" in output)) {
      const blocks = checkedList(`the tool ${quote(name)}`, output, blockProblem, toolForms);
      return { content: (await Promise.all(blocks.map((block) => resolve(block, call)))).flat() };
    }
    const text = toJson(output.json, `the tool ${quote(name)}`);
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return {
      content: [{ type: "text", text }],
      ...(isObject && { structuredContent: value as Readonly<Record<string, unknown>> }),
    };
  }

  const relayed: SourceRelayed = {
    async tools() {
      return Promise.all(
        Object.entries(tools).map(async ([name, definition]) => {
          const { title, description, readOnly, annotations, icons } = definition;
          const hints = { ...annotations, ...(readOnly !== undefined && { readOnlyHint: readOnly }) };
          // One faulty tool does not hide the others: calling it fails, and the log then has the cause.
          const { inputSchema } = await inputOf(name, definition).catch(() => ({ inputSchema: { type: "object" } }));
          return { name, isOwn: true as const, title, description, inputSchema, annotations: hints, icons };
        }),
      );
    },

    async callTool(name, args, _, call) {
      const definition = ownMember(tools, name);
      try {
        return await runDefined(`the tool ${quote(name)}`, call, async () => {
          const { schema } = await inputOf(name, definition).catch((cause: unknown) => {
            throw new ResourceError("unexpected", `the tool ${quote(name)} is faulty; the server's log has the cause`, {
              cause,
            });
          });
          const input = checkInput(schema, args, name);
          return toResult(name, await definition.run(input as never, call), call);
        });
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
      const what = `the prompt ${quote(name)}`;
      return runDefined(what, call, async () => {
        const output = await definition.run(values, call);
        const messages = await Promise.all(
          checkedList(what, output, messageProblem, promptForms).map(async (each) => {
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
      const found = complete ? await suggestDefined(what, call, () => complete(value, given, call), isText) : [];
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

  return {
    relayed,
    async checkTools() {
      const entries = Object.entries(tools);
      const checks = await Promise.allSettled(entries.map(([name, definition]) => inputOf(name, definition)));
      const failures = checks.flatMap((each) => (each.status === "rejected" ? [each.reason as Error] : []));
      if (failures.length > 0)
        throw new ResourceError("invalid", failures.map(({ message }) => message).join("\n"), { cause: failures[0] });
    },
  };
}

/** One result or several, if all are of a kind that may be sent. */
function checkedList<T>(
  what: string,
  output: T | readonly T[],
  problemOf: (each: unknown) => string | undefined,
  forms: string,
): readonly T[] {
  if (!Array.isArray(output)) {
    const problem = problemOf(output);
    if (problem !== undefined) throw wrongResult(what, problem, forms);
    return [output as T];
  }
  // A copy, because methods of arrays skip members that were never set.
  const problem = Array.from<unknown>(output)
    .map(problemOf)
    .find((each) => each !== undefined);
  if (problem !== undefined) throw wrongResult(what, `a list with ${problem}`, forms);
  return output;
}

function messageProblem(each: unknown): string | undefined {
  if (!isRecord(each) || !("role" in each)) return blockProblem(each);
  const { role, content } = each;
  if (role !== "user" && role !== "assistant") return 'a message whose "role" is not "user" or "assistant"';
  const problem = blockProblem(content);
  return problem === undefined ? undefined : `a message whose "content" is ${problem}`;
}

function isText(value: unknown): boolean {
  return typeof value === "string";
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

const toolMembers = "title description input readOnly annotations icons run".split(" ");

function checkTool(name: string, definition: unknown): void {
  checkName(name);
  const what = `the tool ${quote(name)}`;
  checkMembers(definition, what, toolMembers, "tool({ description, input, run })");
  const { title, description, input, readOnly, run } = definition as Partial<DefinedTool>;
  if (typeof description !== "string")
    throw wrongKind(`"description" of ${what}`, description, "a text that says when to call it");
  checkText(title, `"title" of ${what}`);
  checkFunction(run, `"run" of ${what}`, "a function");
  if (readOnly !== undefined && typeof readOnly !== "boolean")
    throw wrongKind(`"readOnly" of ${what}`, readOnly, "true or false");
  if (input !== undefined && typeof input !== "function" && !isSchema(input)) throw wrongInput(name, kindOf(input));
}

function checkPrompt(name: string, definition: unknown): void {
  checkName(name);
  const isMade = isRecord(definition) && Array.isArray(definition["arguments"]);
  if (!isMade || typeof definition["run"] !== "function")
    throw invalid(`the prompt ${quote(name)} is ${kindOf(definition)}; make it with prompt({ description, run })`);
}
