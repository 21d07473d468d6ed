/** Tools, which a model may call. Their results may contain resources. */
import { ResourceError, toResourceError } from "../errors.ts";
import type { Call, Caller, Icon } from "../resources.ts";
import type { RequestHandler, ClientRequest } from "./client-request.ts";
import { type ContentBlock, wireBlocks } from "./blocks.ts";
import { type InputRequired, isInputRequired, wireInputRequired, withInput } from "./input-required.ts";
import { nameFilterOf } from "./list-filter.ts";
import { codes, member, type RequestParams, ProtocolError } from "./message.ts";
import type { ChangingSet } from "./notices.ts";
import { checkParamHeaders } from "./param-headers.ts";
import { cursorOf, nameParam, recordOf } from "./params.ts";
import { invalid, quote } from "../errors.ts";
import { tellEmbedded } from "./request-observer.ts";

export interface ToolResult {
  readonly content: readonly ContentBlock[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** What a tool or prompt receives besides its arguments. */
export interface ToolCall extends Call {
  /** The client's input for an earlier request. Not verified. */
  readonly inputResponses: RequestParams | undefined;
  readonly requestState: string | undefined;
  /** Capabilities that the client declared: nothing else may be requested from it. */
  readonly clientCapabilities: RequestParams;
}

export interface Tool {
  readonly name: string;
  readonly title?: string;
  /** Description for models; names only mounts that this caller may see. */
  readonly description?: string | ((caller: Caller) => string);
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Schema of `structuredContent` in every successful result. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly icons?: readonly Icon[];
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Whether to offer it to this caller, in a client with these capabilities. Default: to everyone. */
  isFor?(clientCapabilities: RequestParams, caller: Caller): boolean;
  call(args: RequestParams, request: ToolCall): Promise<ToolResult | InputRequired>;
}

/** Tools that may change, or depend on the caller. */
export interface ToolSet extends ChangingSet {
  /** Tools of this caller, without duplicate names and names in `taken`. */
  list(taken: ReadonlySet<string>, call: Call): Promise<readonly Tool[]>;
}

/** The part of a request that tools and prompts see. */
export function toToolCall({ call, params, clientCapabilities }: ClientRequest): ToolCall {
  const inputResponses = member(params, "inputResponses");
  const requestState = member(params, "requestState");
  if (requestState !== undefined && typeof requestState !== "string") throw invalid('"requestState" must be a string');
  return {
    caller: call.caller,
    ...(call.client && { client: call.client }),
    signal: call.signal,
    progress: call.progress,
    inputResponses: inputResponses === undefined ? undefined : recordOf(params, "inputResponses"),
    requestState,
    clientCapabilities,
  };
}

export const toolsList: RequestHandler = {
  needs: "tools",
  async answer(question) {
    const { offer, revision, params, call, subscriptions } = question;
    const matches = nameFilterOf(question);
    if (cursorOf(params).cursor !== undefined) throw invalid("no such cursor; start again without one");
    await subscriptions?.toolsFollowed();
    const { has } = revision;
    const more = offer.moreTools ? await offer.moreTools.list(new Set(offer.tools.keys()), call) : [];
    const offered = [...offer.tools.values(), ...more].filter((tool) => isOfferedTo(tool, question));
    const tools = offered.filter(matches).map((tool) => {
      const { name, title, description, inputSchema, outputSchema, annotations, icons, meta } = tool;
      return {
        name,
        ...(has.titles && title !== undefined && { title }),
        description: typeof description === "function" ? description(call.caller) : description,
        inputSchema,
        ...(has.titles && outputSchema && { outputSchema }),
        ...(has.audio && annotations && { annotations }),
        ...(has.icons && icons && { icons }),
        ...(has.titles && meta && { _meta: meta }),
      };
    });
    const { listFreshness } = offer.resources;
    const freshness = offer.moreTools ? { ...listFreshness, scope: "private" as const } : listFreshness;
    return revision.seal({ tools }, freshness, offer.server);
  },
};

function isOfferedTo(
  { isFor }: Tool,
  { clientCapabilities, call }: Pick<ClientRequest, "clientCapabilities" | "call">,
): boolean {
  return isFor === undefined || isFor(clientCapabilities, call.caller);
}

async function findMore(name: string, { offer, call }: ClientRequest): Promise<Tool | undefined> {
  const tools = await offer.moreTools?.list(new Set(offer.tools.keys()), call);
  return tools?.find((tool) => tool.name === name);
}

export const toolsCall: RequestHandler = {
  needs: "tools",
  async answer(question) {
    const { offer, revision, params } = question;
    const name = nameParam(params);
    const tool = offer.tools.get(name) ?? (await findMore(name, question));
    if (!tool || !isOfferedTo(tool, question)) throw new ProtocolError(codes.params, `no tool ${quote(name)}`);
    const args = member(params, "arguments") === undefined ? {} : recordOf(params, "arguments");
    if (question.headers) checkParamHeaders(tool.inputSchema, args, question.headers);
    const calling = withInput(question, toToolCall(question), (request) => tool.call(args, request));
    const answer = await calling.catch((cause: unknown): ToolResult => {
      // The model reads a tool's error; a cancelled call has no reader.
      const { kind, message } = toResourceError(cause);
      if (!(cause instanceof ResourceError) || kind === "cancelled") throw cause;
      return { content: [{ type: "text", text: message }], isError: true };
    });
    if (isInputRequired(answer)) return wireInputRequired(answer, question);
    const { content, structuredContent, isError, meta } = answer;
    tellEmbedded(offer.observer, question.visitor, content);
    if (question.visitor && !isError) offer.observer?.gave?.(question.visitor, { tool: name, args, result: answer });
    const result = {
      content: wireBlocks(content, revision.has),
      ...(revision.has.titles && structuredContent && { structuredContent }),
      ...(isError && { isError }),
      ...(revision.has.titles && meta && { _meta: meta }),
    };
    return revision.seal(result, undefined, offer.server);
  },
};
