/** What a server offers beside the resources themselves: tools to find and read them by, prompts, and instructions that say so. */
import { createGatherPrompt } from "../protocol/gather-prompt.ts";
import type { PromptShelf } from "../protocol/prompts.ts";
import { createActionTools } from "../protocol/tools/action-tools.ts";
import { createReadingTools, type ReadingToolName } from "../protocol/tools/reading-tools.ts";
import type { Tool, ToolShelf } from "../protocol/tools.ts";
import type { Caller } from "../resources.ts";
import { createInstructions } from "./instructions.ts";
import { type House, mountsFor } from "./open-house.ts";
import { createPickTool } from "./picker-app.ts";
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
  /** What mounts can be asked to do. Absent where that is not offered. */
  readonly actions?: ToolShelf;
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
  const mounts = (caller: Caller) => mountsFor(house, caller);
  const callable = [
    ...createReadingTools({ resources: house.resources, server: server.name, mounts, only }),
    ...(tools !== false && maySave(house.settings.tools) ? [createSaveSet(house)] : []),
  ];
  return {
    server,
    tools: [
      ...callable,
      ...(tools !== false && isNamed("pick_resources", house.settings.tools)
        ? [createPickTool({ mounts, tools: callable.map(({ name }) => name) })]
        : []),
    ],
    ...(tools !== false && isNamed("actions", house.settings.tools) && { actions: createActionTools(house.resources) }),
    prompts: createSetPrompts({ ...house, others: [createGatherPrompt(house.resources)] }),
    instructions: instructions.of,
    prepare: (caller) => void instructions.glance(caller),
    close: instructions.close,
  };
}

function namesOf(setting: House["settings"]["tools"]): readonly ReadingToolName[] {
  if (setting === undefined || setting === true) return allNames;
  return setting === false ? [] : allNames.filter((name) => setting.includes(name));
}

/** Only where it is named: it is the one tool that keeps something. */
function maySave(setting: House["settings"]["tools"]): boolean {
  return Array.isArray(setting) && setting.includes("save_set");
}

/** Unless tools are chosen one by one, these are there. */
function isNamed(tool: "actions" | "pick_resources", setting: House["settings"]["tools"]): boolean {
  return Array.isArray(setting) ? setting.includes(tool) : setting !== false;
}
