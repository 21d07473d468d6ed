/** Each set as a prompt with all its resources. */
import { quote, toResourceError } from "../../errors.ts";
import type { ContentBlock } from "../../protocol/blocks.ts";
import type { Prompt, PromptMessage, PromptSet } from "../../protocol/prompts.ts";
import { type Call, directoryType, type Resources } from "../../resources.ts";
import { noSuchSet, type SetInfo, type SetMember, type Sets } from "../sets.ts";
import { setsUri } from "./sets-source.ts";

interface SetPromptsOptions {
  /** Including the sets. */
  readonly resources: Resources;
  readonly sets: Sets;
  /** Other prompts; a set of the same name becomes `set-name`. */
  readonly others: readonly Prompt[];
}

/** Larger members become links, and so do all after the total reaches the second limit. */
const maxMemberBytes = 256 * 1024;
const maxPromptBytes = 1024 * 1024;

/** The name of a set's prompt, also in hosts. */
export function createPromptNames(others: readonly Pick<Prompt, "name">[]): (set: string) => string {
  const taken = new Set(others.map(({ name }) => name));
  return (set) => (taken.has(set) ? `set-${set}` : set);
}

export function createSetPrompts({ resources, sets, others }: SetPromptsOptions): PromptSet {
  const taken = new Map(others.map((prompt) => [prompt.name, prompt]));
  const promptName = createPromptNames(others);

  function toPrompt({ name, title, description }: SetInfo): Prompt {
    return {
      name: promptName(name),
      title: title ?? name,
      description: description ?? `The resources of the set ${name}`,
      async get(_, call) {
        const found = await sets.find(name, call);
        if (!found) throw noSuchSet(name);
        return {
          description: found.description,
          messages: [
            say(`The resources of the set ${quote(found.title ?? name)} follow${about(found.description)}`),
            ...(await embed(found.members, resources, call)),
          ],
        };
      },
    };
  }

  return {
    async list(call) {
      const all = [...taken.values()];
      const names = new Set(taken.keys());
      for (const set of await sets.list(call)) {
        const prompt = toPrompt(set);
        if (names.has(prompt.name)) continue;
        names.add(prompt.name);
        all.push(prompt);
      }
      return all;
    },

    async find(name, call) {
      const own = taken.get(name);
      if (own) return own;
      const behind = name.startsWith("set-") && taken.has(name.slice(4)) ? name.slice(4) : name;
      const set = (await sets.find(behind, call)) ?? (behind === name ? undefined : await sets.find(name, call));
      return set && toPrompt(set);
    },

    // The list of prompts changes exactly when the list of sets does.
    watch: (call) => resources.watch({ uris: [setsUri] }, call),
  };
}

function about(description: string | undefined): string {
  return description === undefined ? "." : `: ${description}`;
}

function say(text: string): PromptMessage {
  return { role: "user", content: { type: "text", text } };
}

async function embed(members: readonly SetMember[], resources: Resources, call: Call): Promise<PromptMessage[]> {
  const messages: PromptMessage[] = [];
  let room = maxPromptBytes;
  for (const { uri, resource } of members) {
    const add = (content: ContentBlock) => void messages.push({ role: "user", content });
    const link = () => add({ type: "link", resource: resource ?? { uri, name: uri } });
    if (resource?.mimeType === directoryType || (resource?.size ?? 0) > Math.min(room, maxMemberBytes)) {
      link();
      continue;
    }
    try {
      const { contents } = await resources.read(uri, call);
      const bytes = contents.reduce((sum, { body }) => sum + ("text" in body ? body.text : body.bytes).length, 0);
      if (bytes > Math.min(room, maxMemberBytes)) {
        link();
        continue;
      }
      room -= bytes;
      for (const content of contents) add({ type: "embedded", content, annotations: resource?.annotations });
    } catch (cause) {
      const { kind, message } = toResourceError(cause);
      if (call.signal.aborted || kind === "cancelled") throw cause;
      if (kind === "too-large") link();
      // Members deleted in the meantime are left out.
      else if (kind !== "not-found" && kind !== "invalid")
        messages.push(say(`${uri} is currently unavailable: ${message}`));
    }
  }
  return messages;
}
