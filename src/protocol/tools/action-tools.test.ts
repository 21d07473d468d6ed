import { expect, it } from "vitest";
import type { Action, Call } from "../../resources.ts";
import type { ToolCall } from "../tools.ts";
import { createActionTools } from "./action-tools.ts";

const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };
const asked: ToolCall = { ...call, inputResponses: undefined, requestState: undefined, clientCapabilities: {} };
const action = (mount: string, name: string): Action => ({
  mount,
  name,
  description: "Do it.",
  inputSchema: { type: "object" },
  readOnly: false,
});

function toolsOf(...actions: readonly Action[]) {
  return createActionTools({
    actions: async () => actions,
    act: async ({ mount, name }, input) => ({
      value: { mount, name, input },
      resources: [{ uri: `${mount}://x`, name: "x" }],
    }),
  });
}

it("an action that is the only one of its name has that name as a tool", async () => {
  const [tool] = await toolsOf(action("wall", "find")).list(new Set(), call);
  expect(tool).toMatchObject({
    name: "find",
    description: "Do it.",
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
  });
  expect(await tool!.call({ a: 1 }, asked)).toEqual({
    content: [
      { type: "text", text: '{"mount":"wall","name":"find","input":{"a":1}}' },
      { type: "link", resource: { uri: "wall://x", name: "x" }, isSaid: true },
    ],
    structuredContent: { mount: "wall", name: "find", input: { a: 1 } },
  });
});

it("actions of one name, and names that are taken, are distinguished by their mounts", async () => {
  const long = "m".repeat(90);
  const tools = await toolsOf(
    action("a", "find"),
    action("部屋", "find"),
    action("会議", "find"),
    action(long, "find"),
    action("a", "read_resource"),
  ).list(new Set(["read_resource"]), call);
  const names = tools.map(({ name }) => name);
  expect(names).toEqual(["find_a", "find_-", "find_--2", `find_${"m".repeat(55)}`, "read_resource_a"]);
  expect(names.every((name) => /^[A-Za-z0-9_-]{1,64}$/.test(name))).toBe(true);
  expect(tools[1]?.description).toContain('"部屋"');
  const answer = await tools[2]!.call({}, asked);
  expect(answer).toMatchObject({ structuredContent: { mount: "会議" } });
});

it("where nothing can be done there is no tool", async () => {
  expect(await createActionTools({}).list(new Set(), call)).toEqual([]);
});
