/** Prompts: what a person may pick. Their messages may carry resources. */
import { invalid, quote } from "../errors.ts";
import type { Suggestions } from "../resources.ts";
import type { Ask } from "./ask.ts";
import { type Block, wireBlock } from "./blocks.ts";
import { type InputRequired, isInputRequired, wireInputRequired } from "./input-required.ts";
import { codes, ProtocolError } from "./message.ts";
import { cursorOf, nameOf, stringsOf } from "./params.ts";
import { asked, type Asked } from "./tools.ts";

export interface PromptMessage {
  readonly role: "user" | "assistant";
  readonly content: Block;
}

export interface PromptAnswer {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
}

export interface Prompt {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly { readonly name: string; readonly description?: string; readonly required?: boolean }[];
  get(args: Readonly<Record<string, string>>, asked: Asked): Promise<PromptAnswer | InputRequired>;
  complete?(argument: string, value: string, given: Readonly<Record<string, string>>): Promise<Suggestions>;
}

export const promptsList: Ask = {
  needs: "prompts",
  answer({ offer, revision, params }) {
    if (cursorOf(params).cursor !== undefined) throw invalid("no such cursor: ask again without one");
    const prompts = [...offer.prompts.values()].map(({ name, title, description, arguments: args }) => ({
      name,
      ...(revision.has.titles && title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(args && { arguments: args }),
    }));
    return revision.seal({ prompts }, offer.resources.listFreshness, offer.server);
  },
};

export const promptsGet: Ask = {
  needs: "prompts",
  async answer(question) {
    const { offer, revision, params } = question;
    const name = nameOf(params);
    const prompt = offer.prompts.get(name);
    if (!prompt) throw new ProtocolError(codes.params, `there is no prompt ${quote(name)}`);
    const args = stringsOf(params, "arguments");
    for (const { name: wanted, required } of prompt.arguments ?? []) {
      if (required && args[wanted] === undefined)
        throw invalid(`the prompt ${quote(name)} needs the argument ${quote(wanted)}`);
    }
    const answer = await prompt.get(args, asked(question));
    if (isInputRequired(answer)) return wireInputRequired(answer, question);
    const result = {
      ...(answer.description !== undefined && { description: answer.description }),
      messages: answer.messages.map(({ role, content }) => ({ role, content: wireBlock(content, revision.has) })),
    };
    return revision.seal(result, undefined, offer.server);
  },
};
