/** What a server offers besides resources: tools, prompts and instructions. */
import { createProtocol } from "../protocol/create-protocol.ts";
import type { Protocol } from "../protocol/protocol.ts";
import { createGatherPrompt } from "../protocol/gather-prompt.ts";
import type { PromptSet } from "../protocol/prompts.ts";
import { withRelayedPrompts } from "../protocol/relayed-prompts.ts";
import { createCountTokens } from "../protocol/tools/count-tokens.ts";
import { createActionTools } from "../protocol/tools/action-tools.ts";
import { createRelayedTools, joinToolSets } from "../protocol/tools/relayed-tools.ts";
import { createReadingTools, type ReadingToolName } from "../protocol/tools/reading-tools.ts";
import type { Tool, ToolSet } from "../protocol/tools.ts";
import { runCharged } from "../lib/cost-account.ts";
import { runInScope } from "../lib/request-scope.ts";
import type { Caller, Resources } from "../resources.ts";
import { createInstructions } from "./instructions.ts";
import { createMeteredResources } from "./metered-resources.ts";
import { type Server, mountsFor } from "./open-server.ts";
import type { ServerMetrics } from "./server-metrics.ts";
import type { Tracing } from "./tracing.ts";
import { createCompleteTemplate } from "./complete-template.ts";
import { createPickTool } from "./picker-app.ts";
import { forPicker } from "./picker-tools.ts";
import { createDeleteSet, createSaveSet } from "./sets/save-set.ts";
import { createPromptNames, createSetPrompts } from "./sets/set-prompts.ts";

interface FeaturesOptions {
  readonly pressmark: Pick<
    Server,
    "resources" | "mounts" | "faulty" | "policy" | "settings" | "runtime" | "sets" | "quotas"
  >;
  /** False offers no tools, regardless of the config. */
  readonly tools?: boolean;
  /** Name and title of the server. Default: Pressmark. */
  readonly server?: Features["server"];
  /** Replaces the instructions for models. */
  readonly instructions?: Features["instructions"] | undefined;
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

const ownName = { name: "pressmark", title: "Pressmark" };
const allNames: readonly ReadingToolName[] = ["search_resources", "list_resources", "read_resource", "gather_context"];

interface ServerProtocolOptions {
  readonly version: string;
  /** Whether every result is private, because callers must authenticate. */
  readonly isPrivate?: boolean;
  /** Counts requests. */
  readonly metrics?: ServerMetrics;
  readonly tracing?: Tracing | undefined;
}

/** The protocol of a server with all its features, the same for every transport. */
export function createServerProtocol(
  { register, deliveries, runtime, quotas }: Pick<Server, "register" | "deliveries" | "runtime" | "quotas">,
  { resources, server: name, instructions, tools, moreTools, prompts }: Features,
  { version, isPrivate = false, metrics, tracing }: ServerProtocolOptions,
): Protocol {
  // Without a list of deliveries, recent reads are not recorded either.
  const recording = deliveries ? { gave: deliveries.gave } : { read: () => undefined };
  return createProtocol({
    resources,
    server: { ...name, version },
    instructions,
    tools,
    moreTools,
    prompts,
    observer: {
      ...register,
      ...recording,
      answered: metrics?.answered,
      watching: metrics?.watching,
      trace: tracing?.trace,
    },
    isPrivate,
    quotas,
    log: runtime.log,
    wait: runtime.wait,
  });
}

export function createFeatures(options: FeaturesOptions): Features {
  const { pressmark, tools, server = ownName, instructions: own } = options;
  const setting = tools === false ? false : pressmark.settings.tools;
  const only = namesOf(setting);
  const instructions = createInstructions({ pressmark, server: server.name, tools: only });
  const mounts = (caller: Caller) => mountsFor(pressmark, caller);
  const resources = createMeteredResources(pressmark.resources, pressmark.quotas);
  const hasApp = isNamed("pick_resources", setting);
  const isListed = ({ name }: Tool) => Array.isArray(setting) && (setting as readonly string[]).includes(name);
  const unlessListed = (tool: Tool, isOwners: boolean) =>
    isListed(tool) ? tool : forPicker(tool, { hasApp, isOwners });
  const otherPrompts = [createGatherPrompt(resources, mounts)];
  const forPeople = [
    unlessListed(createCountTokens(resources), false),
    unlessListed(createCompleteTemplate(resources), false),
    unlessListed(createSaveSet({ ...pressmark, promptName: createPromptNames(otherPrompts) }), true),
    unlessListed(createDeleteSet(pressmark), true),
  ];
  const callable = [
    ...createReadingTools({ resources, server: server.name, mounts, only }),
    ...(setting === false ? [] : forPeople),
  ];
  const actions = isNamed("actions", setting);
  const prompts = createSetPrompts({ ...pressmark, resources, others: otherPrompts });
  return {
    resources,
    server,
    tools: [...callable, ...(hasApp ? [createPickTool({ mounts, tools: callable })] : [])],
    actions,
    ...(setting !== false && { moreTools: toolsOfMounts(resources, actions) }),
    prompts: resources.relayed ? withRelayedPrompts(prompts, resources.relayed) : prompts,
    // What the server looks up for them is not charged to the caller, and no part of the request.
    instructions:
      own ?? ((caller) => runInScope(undefined, () => runCharged(undefined, () => instructions.of(caller)))),
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

/** Offered unless the config lists tools without it. */
function isNamed(tool: "actions" | "pick_resources", setting: Server["settings"]["tools"]): boolean {
  return Array.isArray(setting) ? setting.includes(tool) : setting !== false;
}
