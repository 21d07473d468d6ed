/** The actions of mounts as tools: each caller gets those of visible mounts. */
import type { Action, Resources } from "../../resources.ts";
import type { Tool, ToolSet } from "../tools.ts";

type Doing = Required<Pick<Resources, "actions" | "act">>;

/** Some hosts refuse longer names. */
const maxNameLength = 64;

export function createActionTools({ actions, act }: Pick<Resources, "actions" | "act">): ToolSet {
  return {
    async list(taken, call) {
      if (!actions || !act) return [];
      const offered = await actions(call);
      const names = new Set(taken);
      return offered.map((action) => {
        const isOnly = offered.filter(({ name }) => name === action.name).length === 1;
        const name = isOnly && !names.has(action.name) ? action.name : longName(action, names);
        names.add(name);
        return toTool(name, action, isOnly, act);
      });
    },
  };
}

/** Appends the mount's name, as far as a tool's name allows. */
function longName({ name, mount }: Action, taken: ReadonlySet<string>): string {
  const long = `${name}_${mount.replaceAll(/[^A-Za-z0-9_-]+/g, "-")}`.slice(0, maxNameLength - 4);
  let free = long;
  for (let count = 2; taken.has(free); count += 1) free = `${long}-${count}`;
  return free;
}

function toTool(name: string, action: Action, isOnly: boolean, act: Doing["act"]): Tool {
  const { mount, title, description, inputSchema, readOnly } = action;
  return {
    name,
    title,
    description: isOnly ? description : `${description} It belongs to the mount ${JSON.stringify(mount)}.`,
    inputSchema,
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: false,
      openWorldHint: false,
    },
    async call(args, call) {
      const { value, resources } = await act(action, args, call);
      return {
        content: [
          { type: "text", text: JSON.stringify(value) },
          ...resources.map((resource) => ({ type: "link" as const, resource, isSaid: true })),
        ],
        structuredContent: value,
      };
    },
  };
}
