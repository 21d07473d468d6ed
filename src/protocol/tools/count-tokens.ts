/** The tool `count_tokens`: the number of tokens of each resource, for a person who chooses within a budget. */
import { cancelled, invalid, quote, toResourceError } from "../../errors.ts";
import { createSlots } from "../../lib/create-slots.ts";
import { inParallel } from "../../lib/in-parallel.ts";
import { type Call, directoryType, type Resources } from "../../resources.ts";
import { member, type RequestParams } from "../message.ts";
import type { Tool } from "../tools.ts";
import { checkNames } from "./arguments.ts";

const maxUris = 100;
const maxUriLength = 16 * 1024;
/** Limits of one call: further resources are not counted. */
const maxBytes = 16 * 1024 * 1024;
const defaultTimeoutMs = 20_000;
const readAtOnce = 4;

type Count =
  | { readonly uri: string; readonly tokens: number; readonly isExact: boolean }
  | { readonly uri: string; readonly problem: string };

type Read = { readonly uri: string } & ({ readonly text: string } | { readonly problem: string });

interface CountTokensOptions {
  /** Limit of one call, including its wait for others. */
  readonly timeoutMs?: number;
}

export function createCountTokens(
  resources: Resources,
  { timeoutMs = defaultTimeoutMs }: CountTokensOptions = {},
): Tool {
  const title = "Count tokens";
  const takeTurn = createTurns();

  async function countAll(uris: readonly string[], call: Call): Promise<readonly Count[]> {
    const deadline = AbortSignal.timeout(timeoutMs);
    const bounded: Call = { ...call, signal: AbortSignal.any([call.signal, deadline]) };

    function problemOf(cause: unknown): string {
      if (call.signal.aborted) throw cancelled(cause);
      if (!deadline.aborted) return toResourceError(cause).message;
      return `not counted: the server did not finish within ${timeoutMs / 1000} seconds`;
    }

    const orProblem = <T>(uri: string, work: Promise<T>) =>
      work.catch((cause: unknown) => ({ uri, problem: problemOf(cause) }));

    let room = maxBytes;
    async function read(uri: string): Promise<Read> {
      const found = await textOf(uri, room, resources, bounded);
      if ("problem" in found) return { uri, ...found };
      if (found.text.length > room) return { uri, problem: tooMuch };
      room -= found.text.length;
      return { uri, ...found };
    }

    const { countInThread } = await import("../../context/use-workbench.ts");
    const free = await orProblem("", takeTurn(call.caller.id, bounded.signal));
    if (typeof free !== "function") return uris.map((uri) => ({ ...free, uri }));
    try {
      const all = await inParallel(uris, readAtOnce, (uri) => orProblem(uri, read(uri)));
      return await inParallel(all, 1, async (each): Promise<Count> => {
        if ("problem" in each) return each;
        const { uri, text } = each;
        return { uri, ...(await orProblem(uri, countInThread(text, bounded.signal))) };
      });
    } finally {
      free();
    }
  }

  return {
    name: "count_tokens",
    title,
    description:
      "Count the tokens of resources before reading them. The count is exact for models that use o200k if the server has a tokenizer, else an estimate.",
    inputSchema: {
      type: "object",
      properties: {
        uris: {
          type: "array",
          items: { type: "string" },
          minItems: 1,
          maxItems: maxUris,
          description: "URIs of resources, also with a range, as in ?lines=10-40",
        },
      },
      required: ["uris"],
      additionalProperties: false,
    },
    outputSchema: {
      type: "object",
      properties: {
        counts: {
          type: "array",
          description: "One for each URI, in the same order",
          items: {
            type: "object",
            properties: {
              uri: { type: "string" },
              tokens: { type: "integer" },
              isExact: { type: "boolean", description: "False for an estimate" },
              problem: { type: "string", description: "Why there is no count" },
            },
            required: ["uri"],
          },
        },
      },
      required: ["counts"],
    },
    annotations: { title, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    async call(args, call) {
      checkNames(args, "count_tokens", ["uris"]);
      const counts = await countAll(urisArgument(args), call);
      return {
        content: [{ type: "text", text: counts.map(describeCount).join("\n") }],
        structuredContent: { counts },
      };
    },
  };
}

/** One call of each caller runs at a time: those that wait have read nothing yet. */
function createTurns(): (caller: string, signal: AbortSignal) => Promise<() => void> {
  const turns = new Map<string, { readonly take: ReturnType<typeof createSlots>; calls: number }>();
  return async (caller, signal) => {
    const turn = turns.get(caller) ?? { take: createSlots(1), calls: 0 };
    turns.set(caller, turn);
    turn.calls += 1;
    const leave = (): void => {
      turn.calls -= 1;
      if (turn.calls === 0) turns.delete(caller);
    };
    try {
      const free = await turn.take(signal);
      return () => {
        free();
        leave();
      };
    } catch (cause) {
      leave();
      throw cause;
    }
  };
}

function urisArgument(args: RequestParams): readonly string[] {
  const uris = member(args, "uris");
  const isList = Array.isArray(uris) && uris.every((uri) => typeof uri === "string" && uri.length <= maxUriLength);
  if (!isList || uris.length === 0 || uris.length > maxUris)
    throw invalid(`"uris" must be a list of 1 to ${maxUris} URIs`);
  return uris as readonly string[];
}

const tooMuch = `not counted: all resources of one call together may have ${maxBytes / 1024 / 1024} MiB`;

/** The text that a model would get: of a document, its extracted text. */
async function textOf(
  uri: string,
  room: number,
  { stat, read }: Resources,
  call: Call,
): Promise<{ readonly text: string } | { readonly problem: string }> {
  const { mimeType = "", size = 0, meta } = await stat(uri, call);
  if (mimeType === directoryType) return { problem: "a directory" };
  const forms = meta?.["pressmark/as"];
  const isDocument = !mimeType.startsWith("text/") && Array.isArray(forms) && forms.includes("text");
  const hasQuery = uri.includes("?");
  // The size of a document says nothing about its text, and that of a resource nothing about a range of it.
  if (!isDocument && !hasQuery && size > room) return { problem: tooMuch };
  const { contents } = await read(isDocument && !hasQuery ? `${uri}?as=text` : uri, call);
  const texts = contents.flatMap(({ body }) => ("text" in body ? [body.text] : []));
  if (texts.length === 0) return { problem: `not text${mimeType === "" ? "" : ` (${mimeType})`}` };
  return { text: texts.join("\n") };
}

function describeCount(count: Count): string {
  if ("problem" in count) return `${quote(count.uri)}: ${count.problem}`;
  return `${quote(count.uri)}: ${count.isExact ? "" : "about "}${count.tokens} tokens`;
}
