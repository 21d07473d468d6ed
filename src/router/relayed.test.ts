/** Tools and prompts of another server: who is offered them, and what their results name. */
import { describe, expect, it } from "vitest";
import { type AccessRule, createRulesPolicy } from "../access/rules.ts";
import type { Policy } from "../access/policy.ts";
import { openPolicy } from "../access/policy.ts";
import type { Call, ClientInput } from "../resources.ts";
import type { Source, SourceBlock, SourceRelayed } from "../source.ts";
import { createRuntime } from "../server/runtime.ts";
import { createResources } from "./create-resources.ts";

const paths = ["a", "a/b", "a/b/c", "d", "d/e"];
const input: ClientInput = { clientCapabilities: {} };
const signal = new AbortController().signal;

function open(policy: Policy, own: Partial<SourceRelayed> = {}, failing: readonly string[] = []) {
  const relayed: SourceRelayed = {
    tools: async () => [
      { name: "look", inputSchema: {}, annotations: { readOnlyHint: true } },
      { name: "write", inputSchema: {} },
    ],
    callTool: async () => ({ content: [{ type: "text", text: "done" }] }),
    prompts: async () => [{ name: "hello" }],
    getPrompt: async () => ({ messages: [] }),
    completePrompt: async () => ({ values: ["x"] }),
    watch: async () => (async function* () {})(),
    ...own,
  };
  const source: Source = {
    list: async () => ({ items: paths.map((path) => ({ path })) }),
    read: async () => [{ body: { text: "" } }],
    stat: async ({ path }) => ({ path }),
    relayed,
  };
  const log: string[] = [];
  const runtime = createRuntime({ write: (line: string) => Boolean(log.push(line)) });
  const down = { ...source, relayed: { ...relayed, prompts: () => Promise.reject(new Error("down")) } };
  const mounts = [
    { name: "up", base: "mcp://up/", source },
    ...failing.map((name) => ({ name, base: `mcp://${name}/`, source: down })),
  ];
  return { log, ...createResources({ mounts, policy, runtime, cursorKey: new Uint8Array(32) }) };
}

const callOf = (id: string): Call => ({ caller: { id }, signal });
const up = (name: string) => ({ mount: "up", name });

describe("tools and prompts of another server", () => {
  it("are for nobody who may not see one of its paths, whatever the rules", async () => {
    const random = seeded(20_26);
    let hidden = 0;
    for (let round = 0; round < 500; round += 1) {
      const rules = Array.from({ length: 1 + Math.floor(random() * 4) }, () => randomRule(random));
      const policy = createRulesPolicy(rules);
      const { list, relayed } = open(policy);
      const call = callOf("ann");
      const { items } = await list({}, call);
      const tools = await relayed!.tools(call);
      const prompts = await relayed!.prompts(call);
      if (items.length === paths.length) continue;
      hidden += 1;
      expect({ rules, tools, prompts }).toEqual({ rules, tools: [], prompts: [] });
      await expect(relayed!.callTool(up("look"), {}, input, call)).rejects.toMatchObject({ kind: "not-found" });
      await expect(relayed!.getPrompt(up("hello"), {}, input, call)).rejects.toMatchObject({ kind: "not-found" });
      const typed = { variable: "v", value: "", given: {} };
      await expect(relayed!.completePrompt(up("hello"), typed, call)).rejects.toMatchObject({ kind: "not-found" });
    }
    expect(hidden).toBeGreaterThan(100);
  });

  it("need the permission to write unless a tool only reads", async () => {
    const rules: AccessRule[] = [{ allow: ["anyone"] }, { allow: ["caller:ben"], write: true }];
    const { relayed } = open(createRulesPolicy(rules));
    const names = async (id: string) => (await relayed!.tools(callOf(id))).map(({ name }) => name);
    expect(await names("ann")).toEqual(["look"]);
    expect(await names("ben")).toEqual(["look", "write"]);
    const missing = await refusal(relayed!.callTool(up("none"), {}, input, callOf("ann")));
    const denied = await refusal(relayed!.callTool(up("write"), {}, input, callOf("ann")));
    expect(denied).toBe(missing.replace("none", "write"));
  });

  it("name resources by URIs that are served, and nothing else", async () => {
    const content: SourceBlock[] = [
      { type: "link", entry: { path: "a/b", name: "b" } },
      { type: "link", entry: { path: "a/..", name: "outside" } },
      { type: "embedded", part: { at: { path: "d" }, body: { text: "d" } } },
      { type: "embedded", part: { at: { path: ".." }, body: { text: "outside" } } },
    ];
    const { relayed } = open(openPolicy, { callTool: async () => ({ content }) });
    expect(await relayed!.callTool(up("look"), {}, input, callOf("ann"))).toEqual({
      content: [
        { type: "link", resource: { uri: "mcp://up/a/b", name: "b", title: "a/b" } },
        { type: "text", text: "[a resource that cannot be shown]" },
        { type: "embedded", content: { uri: "mcp://up/d", body: { text: "d" } } },
        { type: "text", text: "[a resource that cannot be shown]" },
      ],
    });
  });

  it("say which mounts the caller has, also those that fail", async () => {
    const { relayed } = open(openPolicy, {}, ["up_2"]);
    expect(await relayed!.prompts(callOf("ann"))).toEqual([{ name: "hello", mount: "up", mounts: ["up", "up_2"] }]);
    const { relayed: ofOne } = open(createRulesPolicy([{ allow: ["anyone"], mounts: ["up"] }]), {}, ["up_2"]);
    expect(await ofOne!.prompts(callOf("ann"))).toEqual([{ name: "hello", mount: "up", mounts: ["up"] }]);
  });

  it("of a mount that fails are missing, which is logged once", async () => {
    const { relayed, log } = open(openPolicy, { tools: () => Promise.reject(new Error("down")) });
    expect(await relayed!.tools(callOf("ann"))).toEqual([]);
    expect(await relayed!.tools(callOf("ann"))).toEqual([]);
    expect(log.filter((line) => line.includes("cannot be listed"))).toHaveLength(1);
  });
});

async function refusal(called: Promise<unknown>): Promise<string> {
  return called.then(
    () => "allowed",
    (cause: Error) => cause.message,
  );
}

function randomRule(random: () => number): AccessRule {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
  const who = [pick(["anyone", "caller:ann", "caller:ben"])];
  const globs = [undefined, ["a"], ["a/**"], ["**/c"], ["d/e"], ["*"], ["**"], ["d", "a/b"], ["z"]];
  const pattern = pick(globs);
  return {
    ...(random() < 0.6 ? { allow: who, ...(random() < 0.3 && { write: true }) } : { deny: who }),
    ...(random() < 0.5 && { mounts: [pick(["up", "other"])] }),
    ...(pattern && { paths: pattern }),
  };
}

/** The same numbers in every run. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
