/** The forms in which a host may show a server to its model, from nothing but resources to everything that the server offers. */
import type { ToolChoice, ToolUse } from "./dialects.ts";
import type { Outcome, Shop, Visit } from "./visit.ts";

export const formNames = ["bare", "instructions", "tools", "both"] as const;
export type FormName = (typeof formNames)[number];

export interface Form {
  readonly name: FormName;
  readonly system: string;
  readonly tools: readonly ToolChoice[];
  /** What comes of a tool, and which resource was read by it. */
  use(use: ToolUse): Promise<Outcome & { readonly read?: string }>;
}

const role =
  "You are the assistant of a small company, in a chat with one of its people. Answer in their language, in one or two sentences. Say so if you do not know.";

/** What hosts with a tool of their own for resources call it, more or less. */
const hostTool: ToolChoice = {
  name: "read_mcp_resource",
  description: "Read a resource of a connected MCP server.",
  schema: {
    type: "object",
    properties: {
      server: { type: "string", description: "the name of the server" },
      uri: { type: "string", description: "the URI of the resource" },
    },
    required: ["server", "uri"],
  },
};

export function createForm(name: FormName, { plain, withTools }: Shop): Form {
  const hasTools = name === "tools" || name === "both";
  const visit = hasTools ? withTools : plain;
  const hasInstructions = name === "instructions" || name === "both";
  const system = [
    role,
    ...(hasTools ? [] : [sayResources(visit)]),
    ...(hasInstructions ? [`Instructions of the MCP server ${visit.server}:\n${visit.instructions}`] : []),
  ].join("\n\n");
  return {
    name,
    system,
    tools: hasTools ? visit.tools : [hostTool],
    use: (use) => (hasTools ? useTool(use, visit) : useHostTool(use, visit)),
  };
}

/** As a host that attaches the list of resources does. */
function sayResources({ server, resources }: Visit): string {
  return [
    `Connected MCP server: ${server}. Its resources:`,
    ...resources.map(({ name, uri }) => `- ${name}: ${uri}`),
  ].join("\n");
}

async function useHostTool({ name, arguments: { server, uri } }: ToolUse, visit: Visit) {
  if (name !== hostTool.name) return { text: `There is no tool ${name}.`, isError: true };
  if (server !== visit.server) return { text: `There is no server ${JSON.stringify(server)}.`, isError: true };
  if (typeof uri !== "string") return { text: "uri is missing.", isError: true };
  const outcome = await visit.read(uri);
  return outcome.isError ? outcome : { ...outcome, read: uri };
}

async function useTool({ name, arguments: given }: ToolUse, visit: Visit) {
  if (!visit.tools.some((tool) => tool.name === name)) return { text: `There is no tool ${name}.`, isError: true };
  const outcome = await visit.call(name, given);
  const { uri } = given;
  const isRead = name === "read_resource" && !outcome.isError && typeof uri === "string";
  return isRead ? { ...outcome, read: uri } : outcome;
}
