/** Tools: what a model may call. Their answers may carry resources. */
import { ResourceError } from "../errors.ts";
import type { Call, Caller } from "../resources.ts";
import type { Ask, Question } from "./ask.ts";
import { type Block, wireBlocks } from "./blocks.ts";
import { type InputRequired, isInputRequired, wireInputRequired } from "./input-required.ts";
import { codes, member, type Params, ProtocolError } from "./message.ts";
import { cursorOf, nameOf, recordOf } from "./params.ts";
import { invalid, quote } from "../errors.ts";

export interface ToolAnswer {
  readonly content: readonly Block[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
}

/** What a tool or a prompt is told beside its arguments. */
export interface Asked extends Call {
  /** What the client answered to an earlier demand for input. Not to be trusted. */
  readonly inputResponses: Params | undefined;
  readonly requestState: string | undefined;
  /** What the client declared that it can do: nothing else may be asked of it. */
  readonly clientCapabilities: Params;
}

export interface Tool {
  readonly name: string;
  readonly title?: string;
  /** What a model is told of it; where it names what is served, no more than this caller may know of. */
  readonly description: string | ((caller: Caller) => string);
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** What `structuredContent` holds in every answer that is no error. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly meta?: Readonly<Record<string, unknown>>;
  call(args: Params, asked: Asked): Promise<ToolAnswer | InputRequired>;
}

/** The part of a question that tools and prompts see. */
export function asked({ call, params, clientCapabilities }: Question): Asked {
  const inputResponses = member(params, "inputResponses");
  const requestState = member(params, "requestState");
  if (requestState !== undefined && typeof requestState !== "string") throw invalid('"requestState" is a string');
  return {
    caller: call.caller,
    signal: call.signal,
    ...(call.progress && { progress: call.progress }),
    inputResponses: inputResponses === undefined ? undefined : recordOf(params, "inputResponses"),
    requestState,
    clientCapabilities,
  };
}

export const toolsList: Ask = {
  needs: "tools",
  answer({ offer, revision, params, call }) {
    if (cursorOf(params).cursor !== undefined) throw invalid("no such cursor: ask again without one");
    const { has } = revision;
    const tools = Array.from(offer.tools.values(), (tool) => {
      const { name, title, description, inputSchema, outputSchema, annotations, meta } = tool;
      return {
        name,
        ...(has.titles && title !== undefined && { title }),
        description: typeof description === "function" ? description(call.caller) : description,
        inputSchema,
        ...(has.titles && outputSchema && { outputSchema }),
        ...(has.audio && annotations && { annotations }),
        ...(has.titles && meta && { _meta: meta }),
      };
    });
    return revision.seal({ tools }, offer.resources.listFreshness, offer.server);
  },
};

export const toolsCall: Ask = {
  needs: "tools",
  async answer(question) {
    const { offer, revision, params } = question;
    const name = nameOf(params);
    const tool = offer.tools.get(name);
    if (!tool) throw new ProtocolError(codes.params, `there is no tool ${quote(name)}`);
    const args = member(params, "arguments") === undefined ? {} : recordOf(params, "arguments");
    const answer = await tool.call(args, asked(question)).catch((cause: unknown): ToolAnswer => {
      // A tool's failure is for the model to read; only a withdrawn call has no one left to read it.
      if (!(cause instanceof ResourceError) || cause.kind === "cancelled") throw cause;
      return { content: [{ type: "text", text: cause.message }], isError: true };
    });
    if (isInputRequired(answer)) return wireInputRequired(answer, question);
    const { content, structuredContent, isError } = answer;
    const result = {
      content: wireBlocks(content, revision.has),
      ...(revision.has.titles && structuredContent && { structuredContent }),
      ...(isError && { isError }),
    };
    return revision.seal(result, undefined, offer.server);
  },
};
