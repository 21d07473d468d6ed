/** Prompts of other servers, for callers who may see everything of their mounts. */
import type { Call, Relayed, RelayedPrompt } from "../resources.ts";
import { changeNotices, mergeNotices, promptsChanged, watchKind } from "./notices.ts";
import type { Prompt, PromptSet } from "./prompts.ts";
import { nameAll } from "./relayed-names.ts";

/** Adds them to a set of other prompts, whose names come first. */
export function withRelayedPrompts(others: PromptSet, relayed: Relayed): PromptSet {
  async function list(call: Call): Promise<readonly Prompt[]> {
    const [own, found] = await Promise.all([others.list(call), relayed.prompts(call)]);
    const taken = own.map(({ name }) => name);
    return [...own, ...nameAll(found, taken).map(([name, prompt]) => toPrompt(name, prompt, relayed))];
  }

  return {
    list,
    async find(name, call) {
      return (await others.find(name, call)) ?? (await list(call)).find((prompt) => prompt.name === name);
    },
    async watch(call) {
      const sets = [...(others.watch ? [others] : []), { watch: () => watchKind(relayed, "prompts", call) }];
      const notices = mergeNotices(...(await Promise.all(sets.map((set) => changeNotices(set, promptsChanged, call)))));
      return { [Symbol.asyncIterator]: () => notices };
    },
  };
}

function toPrompt(name: string, prompt: RelayedPrompt, { getPrompt, completePrompt }: Relayed): Prompt {
  const { title, description, arguments: args, icons, meta } = prompt;
  return {
    name,
    title,
    description,
    arguments: args,
    icons,
    meta,
    get: (given, call) => getPrompt(prompt, given, call, call),
    complete: (variable, value, given, call) => completePrompt(prompt, { variable, value, given }, call),
  };
}
