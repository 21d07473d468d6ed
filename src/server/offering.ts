/** What a server offers beside the resources themselves: tools to find and read them by, prompts, and instructions that say so. */
import { createGatherPrompt } from "../protocol/gather-prompt.ts";
import type { PromptShelf } from "../protocol/prompts.ts";
import { createReadingTools, type ReadingToolName } from "../protocol/tools/reading-tools.ts";
import type { Tool } from "../protocol/tools.ts";
import type { Caller } from "../resources.ts";
import { createInstructions } from "./instructions.ts";
import { type House, mountsFor } from "./open-house.ts";
import { createSaveSet } from "./sets/save-set.ts";
import { createSetPrompts } from "./sets/set-prompts.ts";

export interface OfferingOptions {
  readonly house: Pick<House, "resources" | "mounts" | "policy" | "settings" | "tools" | "sets">;
  /** False offers no tools, whatever the config says. */
  readonly tools?: boolean | undefined;
}

export interface Offering {
  readonly server: { readonly name: string; readonly title: string };
  readonly tools: readonly Tool[];
  readonly prompts: PromptShelf;
  readonly instructions: (caller: Caller) => string;
  /** Looks for what this caller, who will probably ask first, should read first. */
  prepare(caller: Caller): void;
  close(): void;
}

const server = { name: "pressmark", title: "Pressmark" };
const allNames: readonly ReadingToolName[] = ["search_resources", "list_resources", "read_resource", "gather_context"];

export function createOffering({ house, tools }: OfferingOptions): Offering {
  const only = tools === false ? [] : namesOf(house.settings.tools);
  const instructions = createInstructions({ house, server: server.name, tools: only });
  return {
    server,
    tools: [
      ...createReadingTools({
        resources: house.resources,
        server: server.name,
        mounts: (caller) => mountsFor(house, caller),
        only,
      }),
      ...(tools !== false && maySave(house.settings.tools) ? [createSaveSet(house)] : []),
    ],
    prompts: createSetPrompts({ ...house, others: [createGatherPrompt(house.resources)] }),
    instructions: instructions.of,
    prepare: (caller) => void instructions.glance(caller),
    close: instructions.close,
  };
}

function namesOf(setting: House["settings"]["tools"]): readonly ReadingToolName[] {
  if (setting === undefined || setting === true) return allNames;
  return setting === false ? [] : setting.filter((name) => name !== "save_set");
}

/** Only where it is named: it is the one tool that keeps something. */
function maySave(setting: House["settings"]["tools"]): boolean {
  return Array.isArray(setting) && setting.includes("save_set");
}
