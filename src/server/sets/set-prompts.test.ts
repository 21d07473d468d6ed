import { describe, expect, it } from "vitest";
import type { Prompt, PromptResult } from "../../protocol/prompts.ts";
import type { ToolCall } from "../../protocol/tools.ts";
import { collectChanges } from "../../testing/listen.ts";
import { createSetPrompts } from "./set-prompts.ts";
import { base, callOf, createSetServer, discreet, type SetServer } from "./test-sets.ts";

const at = (...paths: readonly string[]) => paths.map((path) => base + path);
const sampleContents = {
  "readme.md": { text: "# Read me\n", mimeType: "text/markdown", annotations: { priority: 0.8 } },
  "logo.png": { bytes: Uint8Array.of(1, 2, 3), mimeType: "image/png" },
  "big.txt": "x".repeat(300_000),
  "docs/a.txt": "a",
  "secrets/key.txt": "hidden",
};
const sets = [
  {
    name: "onboarding",
    title: "On boarding",
    description: "read these first",
    resources: at("readme.md", "logo.png", "big.txt", "docs", "secrets/key.txt", "gone.txt"),
  },
  { name: "secret", resources: at("secrets/key.txt") },
];
const call = callOf("reader");
const asked: ToolCall = { ...call, inputResponses: undefined, requestState: undefined, clientCapabilities: {} };
const fixed: Prompt = { name: "gather", get: async () => ({ messages: [] }) };

function open(more: Partial<Parameters<typeof createSetServer>[0]> = {}) {
  return createSetServer({ sampleContents, sets, policy: discreet, ...more });
}

function shelf(pressmark: SetServer) {
  return createSetPrompts({ ...pressmark, others: [fixed] });
}

describe("the prompt of a set", () => {
  it("embeds what is in it, links to what is large or a directory, and leaves out what may not be seen", async () => {
    await using pressmark = open();
    const prompt = await shelf(pressmark).find("onboarding", call);
    const { messages } = (await prompt!.get({}, asked)) as PromptResult;
    expect(messages.map(({ content }) => content)).toMatchObject([
      { type: "text", text: 'The resources of the set "On boarding" follow: read these first' },
      {
        type: "embedded",
        content: { uri: `${base}readme.md`, mimeType: "text/markdown", body: { text: "# Read me\n" } },
        annotations: { priority: 0.8 },
      },
      { type: "embedded", content: { uri: `${base}logo.png`, body: { bytes: Uint8Array.of(1, 2, 3) } } },
      { type: "link", resource: { uri: `${base}big.txt`, name: "big.txt" } },
      { type: "link", resource: { uri: `${base}docs` } },
    ]);
    expect(messages).toHaveLength(5);
  });

  it("holds so much in all, and links to the rest", async () => {
    const many = Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`${index}.txt`, "y".repeat(200_000)]));
    await using pressmark = open({
      sampleContents: many,
      sets: [{ name: "many", resources: at(...Object.keys(many)) }],
    });
    const { messages } = (await (await shelf(pressmark).find("many", call))!.get({}, asked)) as PromptResult;
    expect(messages.slice(1).map(({ content }) => content.type)).toEqual([
      ...Array.from({ length: 5 }, () => "embedded"),
      ...Array.from({ length: 3 }, () => "link"),
    ]);
  });

  it("is listed to those who may see something of the set", async () => {
    await using pressmark = open();
    const names = async (id: string) => (await shelf(pressmark).list(callOf(id))).map(({ name }) => name);
    expect(await names("reader")).toEqual(["gather", "onboarding"]);
    expect(await names("owner")).toEqual(["gather", "onboarding", "secret"]);
    expect(await shelf(pressmark).find("secret", call)).toBeUndefined();
    expect(await shelf(pressmark).find("__proto__", call)).toBeUndefined();
  });

  it("stands behind another prompt of its name", async () => {
    await using pressmark = open({ sets: [{ name: "gather", resources: at("readme.md") }] });
    const prompts = shelf(pressmark);
    expect((await prompts.list(call)).map(({ name }) => name)).toEqual(["gather", "set-gather"]);
    expect(await prompts.find("gather", call)).toBe(fixed);
    expect(((await (await prompts.find("set-gather", call))!.get({}, asked)) as PromptResult).messages).toHaveLength(2);
  });

  it("is announced when it comes", async () => {
    await using pressmark = open();
    const stop = new AbortController();
    const heard = collectChanges(await shelf(pressmark).watch!(callOf("reader", stop.signal)));
    pressmark.configure([...sets, { name: "new", resources: at("readme.md") }]);
    await heard.until(() => true, "a new prompt");
    stop.abort();
    await heard.ended;
  });
});
