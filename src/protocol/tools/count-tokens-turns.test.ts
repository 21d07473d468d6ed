import { expect, it } from "vitest";
import { openPolicy } from "../../access/policy.ts";
import { useWorkbench } from "../../context/use-workbench.ts";
import { runCharged } from "../../lib/cost-account.ts";
import { createResources } from "../../router/create-resources.ts";
import { createMemory } from "../../sources/memory.ts";
import { createClock } from "../../testing/clock.ts";
import type { Tool, ToolCall, ToolResult } from "../tools.ts";
import { createCountTokens } from "./count-tokens.ts";

/** Long enough to be estimated: loading the tokenizer takes seconds. */
const text = "One line of ink.\n".repeat(62_000);
const names = Array.from({ length: 8 }, (_, at) => `${at}.txt`);
const { source } = createMemory(Object.fromEntries(names.map((name) => [name, text])));
const resources = createResources({
  mounts: [{ name: "m", base: "memory://m/", source }],
  policy: openPolicy,
  runtime: createClock().runtime,
  cursorKey: new Uint8Array(32),
});
const uris = names.map((name) => `memory://m/${name}`);
const { signal } = new AbortController();

async function count(tool: Tool, wanted: readonly string[], id: string): Promise<unknown> {
  const call: ToolCall = {
    caller: { id },
    signal,
    inputResponses: undefined,
    requestState: undefined,
    clientCapabilities: {},
  };
  return ((await tool.call({ uris: wanted }, call)) as ToolResult).structuredContent;
}

it("lets a gathering have its turn while several callers count", async () => {
  const tool = createCountTokens(resources);
  const ended: string[] = [];
  const counting = ["one", "other"].map((id) => count(tool, uris, id).then(() => ended.push("count")));
  // After the first text was counted.
  await count(tool, uris.slice(0, 1), "third");
  await useWorkbench("ink", "estimate", signal, async () => ended.push("gather"));
  await Promise.all(counting);
  expect(ended[0]).toBe("gather");
});

it("runs one call of each caller at a time", async () => {
  const gate = Promise.withResolvers<void>();
  const begun: string[] = [];
  const tool = createCountTokens({
    ...resources,
    async stat(uri, call) {
      begun.push(call.caller.id);
      await gate.promise;
      return resources.stat(uri, call);
    },
  });
  const calls = ["one", "one", "other"].map((id) => count(tool, uris.slice(0, 1), id));
  await expect.poll(() => begun).toContain("other");
  expect(begun).toEqual(["one", "other"]);
  gate.resolve();
  await Promise.all(calls);
  expect(begun).toEqual(["one", "other", "one"]);
});

it("answers in time while gatherings use all threads, and while an earlier call runs", async () => {
  const gate = Promise.withResolvers<void>();
  const gatherings = [1, 2].map(() => useWorkbench("ink", "estimate", signal, () => gate.promise));
  const tool = createCountTokens(resources, { timeoutMs: 100 });
  const late = { counts: [{ uri: uris[0], problem: "not counted: the server did not finish within 0.1 seconds" }] };
  expect(await Promise.all([1, 2].map(() => count(tool, uris.slice(0, 1), "one")))).toEqual([late, late]);
  gate.resolve();
  await Promise.all(gatherings);
});

it("charges the caller for the time of the thread", async () => {
  const charged: string[] = [];
  const account = { isOpen: true, charge: (unit: string, ms: number) => void (ms > 0 && charged.push(unit)) };
  await runCharged(account, () => count(createCountTokens(resources), uris.slice(0, 2), "one"));
  expect(charged).toEqual(["processMs", "processMs"]);
});
