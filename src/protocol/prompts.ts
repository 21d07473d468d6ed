/** Prompts, which a user may pick. Their messages may contain resources. */
import { invalid, quote } from "../errors.ts";
import type { Call, Icon, PromptArgument, Suggestions } from "../resources.ts";
import type { RequestHandler } from "./client-request.ts";
import { type ContentBlock, wireBlock } from "./blocks.ts";
import { type InputRequired, isInputRequired, wireInputRequired, withInput } from "./input-required.ts";
import { nameFilterOf } from "./list-filter.ts";
import { codes, ProtocolError } from "./message.ts";
import type { ChangingSet } from "./notices.ts";
import { cursorOf, nameParam, stringsOf } from "./params.ts";
import { toToolCall, type ToolCall } from "./tools.ts";
import { tellEmbedded } from "./request-observer.ts";

export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: ContentBlock;
}

export interface PromptResult {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
}

export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly PromptArgument[];
  readonly icons?: readonly Icon[];
  readonly meta?: Readonly<Record<string, unknown>>;
  get(args: Readonly<Record<string, string>>, request: ToolCall): Promise<PromptResult | InputRequired>;
  /** Suggests only what this caller may see. */
  complete?(argument: string, value: string, given: Readonly<Record<string, string>>, call: Call): Promise<Suggestions>;
}

/** The prompts, if they change or depend on the caller. */
export interface PromptSet extends ChangingSet {
  /** Prompts that this caller may see, without duplicate names. */
  list(call: Call): Promise<readonly Prompt[]>;
  find(name: string, call: Call): Promise<Prompt | undefined>;
}

/** A fixed set of prompts for everyone. */
export function promptSetOf(prompts: readonly Prompt[]): PromptSet {
  const byName = new Map(prompts.map((prompt) => [prompt.name, prompt]));
  return { list: async () => [...byName.values()], find: async (name) => byName.get(name) };
}

export const promptsList: RequestHandler = {
  needs: "prompts",
  async answer(question) {
    const { offer, revision, params, call, subscriptions } = question;
    const matches = nameFilterOf(question);
    if (cursorOf(params).cursor !== undefined) throw invalid("no such cursor; start again without one");
    await subscriptions?.promptsFollowed();
    const found = (await offer.prompts?.list(call)) ?? [];
    const { has } = revision;
    const prompts = found.filter(matches).map(({ name, title, description, arguments: args, icons, meta }) => ({
      name,
      ...(has.titles && title !== undefined && { title }),
      description,
      arguments: has.titles ? args : args?.map(({ title: _title, ...argument }) => argument),
      ...(has.icons && icons && { icons }),
      ...(has.titles && meta && { _meta: meta }),
    }));
    return revision.seal({ prompts }, { ...offer.resources.listFreshness, scope: "private" }, offer.server);
  },
};

export const promptsGet: RequestHandler = {
  needs: "prompts",
  async answer(question) {
    const { offer, revision, params, call } = question;
    const name = nameParam(params);
    const prompt = await offer.prompts?.find(name, call);
    if (!prompt) throw new ProtocolError(codes.params, `no prompt ${quote(name)}`);
    const args = stringsOf(params, "arguments");
    for (const { name: wanted, required } of prompt.arguments ?? []) {
      if (required && args[wanted] === undefined)
        throw invalid(`the prompt ${quote(name)} needs the argument ${quote(wanted)}`);
    }
    const answer = await withInput(question, toToolCall(question), (request) => prompt.get(args, request));
    if (isInputRequired(answer)) return wireInputRequired(answer, question);
    tellEmbedded(
      offer.observer,
      question.visitor,
      answer.messages.map(({ content }) => content),
    );
    if (question.visitor) offer.observer?.gave?.(question.visitor, { prompt: name, messages: answer.messages });
    const result = {
      description: answer.description,
      messages: answer.messages.map(({ role, content }) => ({ role, content: wireBlock(content, revision.has) })),
    };
    return revision.seal(result, undefined, offer.server);
  },
};
