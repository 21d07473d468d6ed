import { expect, it } from "vitest";
import type { Policy } from "../../access/policy.ts";
import { createResources } from "../../router/create-resources.ts";
import { createMemory } from "../../sources/memory.ts";
import { createClock } from "../../testing/clock.ts";
import { bestCounter } from "../../context/count-tokens.ts";
import type { ToolCall, ToolResult } from "../tools.ts";
import { createCountTokens } from "./count-tokens.ts";

const policy: Policy = { maySee: ({ id }, _mount, { path }) => id === "owner" || !path.startsWith("secret") };
const text = "One line of ink.\n印刷の一行。\n";
const { source } = createMemory({
  "a.txt": text,
  "empty.txt": "",
  "pixel.png": { bytes: Uint8Array.of(0x89, 0x50), mimeType: "image/png" },
  "secret.txt": "hidden\n",
  "large.txt": "word ".repeat(2_000_000),
  "larger.txt": "word ".repeat(2_000_000),
});
const mount = { name: "m", base: "memory://m/", source };
const resources = createResources({
  mounts: [mount],
  policy,
  runtime: createClock().runtime,
  cursorKey: new Uint8Array(32),
});
const tool = createCountTokens(resources);

async function count(uris: unknown, id = "reader", signal = new AbortController().signal): Promise<ToolResult> {
  const call: ToolCall = {
    caller: { id },
    signal,
    inputResponses: undefined,
    requestState: undefined,
    clientCapabilities: {},
  };
  return (await tool.call({ uris }, call)) as ToolResult;
}

it("counts each URI in order with the best counter, and says why there is no count", async () => {
  const counter = await bestCounter();
  const isExact = counter.name !== "estimate";
  const names = ["a.txt", "nowhere.txt", "empty.txt", "pixel.png", "a.txt"];
  const { structuredContent, content } = await count(names.map((name) => `memory://m/${name}`));
  const counted = { uri: "memory://m/a.txt", tokens: counter.count(text), isExact };
  expect(structuredContent).toEqual({
    counts: [
      counted,
      { uri: "memory://m/nowhere.txt", problem: expect.stringContaining("no resource") as string },
      { uri: "memory://m/empty.txt", tokens: 0, isExact },
      { uri: "memory://m/pixel.png", problem: "not text (image/png)" },
      counted,
    ],
  });
  expect(content[0]).toMatchObject({
    text: expect.stringContaining(`a.txt": ${isExact ? "" : "about "}${counted.tokens} tokens`) as string,
  });
});

it("counts as the caller: a hidden resource gives the same as a missing one", async () => {
  const problemOf = async (uri: string) =>
    JSON.stringify((await count([uri])).structuredContent).replaceAll(uri, "URI");
  expect(await problemOf("memory://m/secret.txt")).toBe(await problemOf("memory://m/secreu.txt"));
  expect((await count(["memory://m/secret.txt"], "owner")).structuredContent).toMatchObject({
    counts: [{ tokens: expect.any(Number) as number }],
  });
});

it("counts at most 16 MiB in one call", async () => {
  const { structuredContent } = await count(["memory://m/large.txt", "memory://m/larger.txt"]);
  expect(structuredContent).toMatchObject({
    counts: [{ tokens: expect.any(Number) as number }, { problem: expect.stringContaining("16 MiB") as string }],
  });
});

it("refuses other arguments", async () => {
  for (const uris of [undefined, [], "memory://m/a.txt", [1], Array.from({ length: 101 }, () => "memory://m/a.txt")])
    await expect(count(uris)).rejects.toThrow('"uris" must be a list of 1 to 100 URIs');
  await expect(count(["memory://m/a.txt"], "reader", AbortSignal.abort())).rejects.toThrow();
});
