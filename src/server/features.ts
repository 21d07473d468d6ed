/** What a server offers besides resources: tools, prompts and instructions. */
import { createProtocol } from "../protocol/create-protocol.ts";
import type { Protocol } from "../protocol/protocol.ts";
import { createGatherPrompt } from "../protocol/gather-prompt.ts";
import type { PromptSet } from "../protocol/prompts.ts";
import { withRelayedPrompts } from "../protocol/relayed-prompts.ts";
import { createActionTools } from "../protocol/tools/action-tools.ts";
import { createRelayedTools, joinToolSets } from "../protocol/tools/relayed-tools.ts";
import { createReadingTools, type ReadingToolName } from "../protocol/tools/reading-tools.ts";
import type { Tool, ToolSet } from "../protocol/tools.ts";
import { runCharged } from "../lib/cost-account.ts";
import type { Caller, Resources } from "../resources.ts";
import { createInstructions } from "./instructions.ts";
import { createMeteredResources } from "./metered-resources.ts";
import { type Server, mountsFor } from "./open-server.ts";
import type { ServerMetrics } from "./server-metrics.ts";
import { createPickTool } from "./picker-app.ts";
import { createSaveSet } from "./sets/save-set.ts";
import { createSetPrompts } from "./sets/set-prompts.ts";

interface FeaturesOptions {
  readonly pressmark: Pick<
    Server,
    "resources" | "mounts" | "faulty" | "policy" | "settings" | "runtime" | "sets" | "quotas"
  >;
  /** False offers no tools, regardless of the config. */
  readonly tools?: boolean;
}

interface Features {
  /** Charges callers for what they list and find. */
  readonly resources: Resources;
  readonly server: { readonly name: string; readonly title: string };
  readonly tools: readonly Tool[];
  /** Whether actions of mounts are offered, also over plain HTTP. */
  readonly actions: boolean;
  /** Actions of mounts and tools of other servers. Absent if no tools are offered. */
  readonly moreTools?: ToolSet;
  readonly prompts: PromptSet;
  readonly instructions: (caller: Caller) => string;
  /** Looks up the key resources for the caller that will probably connect first. Never rejects. */
  prepare(caller: Caller): Promise<void>;
  close(): void;
}

const server = { name: "pressmark", title: "Pressmark" };
const allNames: readonly ReadingToolName[] = ["search_resources", "list_resources", "read_resource", "gather_context"];

interface ServerProtocolOptions {
  readonly version: string;
  /** Whether every result is private, because callers must authenticate. */
  readonly isPrivate?: boolean;
  /** Counts requests. */
  readonly metrics?: ServerMetrics;
}

/** The protocol of a server with all its features, the same for every transport. */
export function createServerProtocol(
  pressmark: Pick<Server, "register" | "runtime" | "quotas">,
  { resources, server: name, instructions, tools, moreTools, prompts }: Features,
  { version, isPrivate = false, metrics }: ServerProtocolOptions,
): Protocol {
  return createProtocol({
    resources,
    server: { ...name, version },
    instructions,
    tools,
    moreTools,
    prompts,
    observer: { ...pressmark.register, answered: metrics?.answered, watching: metrics?.watching },
    isPrivate,
    quotas: pressmark.quotas,
    log: pressmark.runtime.log,
  });
}

export function createFeatures({ pressmark, tools }: FeaturesOptions): Features {
  const only = tools === false ? [] : namesOf(pressmark.settings.tools);
  const instructions = createInstructions({ pressmark, server: server.name, tools: only });
  const mounts = (caller: Caller) => mountsFor(pressmark, caller);
  const resources = createMeteredResources(pressmark.resources, pressmark.quotas);
  const callable = [
    ...createReadingTools({ resources, server: server.name, mounts, only }),
    ...(tools !== false && maySave(pressmark.settings.tools) ? [createSaveSet(pressmark)] : []),
  ];
  const actions = tools !== false && isNamed("actions", pressmark.settings.tools);
  const prompts = createSetPrompts({ ...pressmark, resources, others: [createGatherPrompt(resources, mounts)] });
  return {
    resources,
    server,
    tools: [
      ...callable,
      ...(tools !== false && isNamed("pick_resources", pressmark.settings.tools)
        ? [createPickTool({ mounts, tools: callable.map(({ name }) => name) })]
        : []),
    ],
    actions,
    ...(tools !== false && pressmark.settings.tools !== false && { moreTools: toolsOfMounts(resources, actions) }),
    prompts: resources.relayed ? withRelayedPrompts(prompts, resources.relayed) : prompts,
    // What the server looks up for them is not charged to the caller.
    instructions: (caller) => runCharged(undefined, () => instructions.of(caller)),
    prepare: instructions.glance,
    close: instructions.close,
  };
}

/** Tools of other servers are offered whatever the setting lists: their mounts ask for each. */
function toolsOfMounts(resources: Resources, withActions: boolean): ToolSet {
  const actions = withActions ? createActionTools(resources) : { list: async () => [] };
  return resources.relayed ? joinToolSets(actions, createRelayedTools(resources.relayed)) : actions;
}

function namesOf(setting: Server["settings"]["tools"]): readonly ReadingToolName[] {
  if (setting === undefined || setting === true) return allNames;
  return setting === false ? [] : allNames.filter((name) => setting.includes(name));
}

/** Only if listed: it is the only tool that writes. */
function maySave(setting: Server["settings"]["tools"]): boolean {
  return Array.isArray(setting) && setting.includes("save_set");
}

/** Offered unless the config lists tools without it. */
function isNamed(tool: "actions" | "pick_resources", setting: Server["settings"]["tools"]): boolean {
  return Array.isArray(setting) ? setting.includes(tool) : setting !== false;
}
