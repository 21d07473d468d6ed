import { describe, expect, it } from "vitest";
import { openPolicy, type Policy } from "../../access/policy.ts";
import type { Tool, ToolCall, ToolResult } from "../../protocol/tools.ts";
import { createDeleteSet, createSaveSet } from "./save-set.ts";
import { createPromptNames, createSetPrompts } from "./set-prompts.ts";
import { base, callOf, createSetServer, discreet, type SetServer } from "./test-sets.ts";

const sampleContents = { "readme.md": "# Read me\n", "guide.md": "# Guide\n", "secrets/key.txt": "hidden" };
const sets = [{ name: "onboarding", resources: [`${base}readme.md`] }];
const [readme, guide, secret] = [`${base}readme.md`, `${base}guide.md`, `${base}secrets/key.txt`];
const promptName = createPromptNames([{ name: "gather" }]);

function ownerCall(id = "owner", owner = true): ToolCall {
  const { signal } = new AbortController();
  return {
    caller: { id, ...(owner && { owner }) },
    signal,
    inputResponses: undefined,
    requestState: undefined,
    clientCapabilities: {},
  };
}

function toolsOf(pressmark: SetServer, policy: Policy = openPolicy) {
  return {
    save: toFunction(createSaveSet({ ...pressmark, policy, promptName })),
    remove: toFunction(createDeleteSet({ ...pressmark, policy })),
  };
}

function toFunction(tool: Tool) {
  return async (args: Readonly<Record<string, unknown>>, call = ownerCall()) =>
    (await tool.call(args, call)) as ToolResult;
}

describe("a set that the owner saves", () => {
  it("is for everyone, as far as they may see its members, and a prompt at once", async () => {
    await using pressmark = createSetServer({ sampleContents, sets, policy: discreet });
    const { save } = toolsOf(pressmark);
    expect((await save({ name: "mine", uris: [secret, readme] })).structuredContent).toEqual({
      uri: "set://mine",
      prompt: "mine",
    });
    await save({ name: "hidden", uris: [secret] });
    expect(await pressmark.sets.resolveSet("mine", callOf("reader"))).toEqual([readme]);
    expect(await pressmark.sets.find("hidden", callOf("reader"))).toBeUndefined();
    const prompts = createSetPrompts({ ...pressmark, others: [] });
    expect((await prompts.list(callOf("reader"))).map(({ name }) => name)).toEqual(["mine", "onboarding"]);
    expect(pressmark.sets.store.all().map(({ owner }) => owner)).toEqual([undefined, undefined]);
  });

  it("says under which name the prompt is, if another prompt has its name", async () => {
    await using pressmark = createSetServer({ sampleContents, sets });
    const { structuredContent } = await toolsOf(pressmark).save({ name: "gather", uris: [readme] });
    expect(structuredContent).toMatchObject({ prompt: "set-gather" });
    const { items } = await pressmark.resources.children("set://", {}, callOf("reader"));
    expect(items.map(({ name, meta }) => [name, meta?.["pressmark/prompt"]])).toEqual([
      ["gather", "set-gather"],
      ["onboarding", "onboarding"],
    ]);
    await expect(toolsOf(pressmark).save({ name: "set-gather", uris: [guide] })).rejects.toThrow(
      'the prompt "set-gather" belongs to the set "gather"; choose another name',
    );
    await toolsOf(pressmark).save({ name: "set-other", uris: [guide] });
  });

  it("is replaced only on request, and by nobody else", async () => {
    await using pressmark = createSetServer({ sampleContents, sets });
    const { save } = toolsOf(pressmark);
    await save({ name: "mine", uris: [readme] });
    await expect(save({ name: "mine", uris: [guide] })).rejects.toThrow("exists already; choose another name");
    for (const replace of [true, false])
      await expect(save({ name: "mine", uris: [guide], replace }, ownerCall("reader", false))).rejects.toThrow(
        "not yours to replace",
      );
    await expect(save({ name: "onboarding", uris: [guide], replace: true })).rejects.toThrow("not yours to replace");
    expect(await pressmark.sets.resolveSet("mine", callOf("reader"))).toEqual([readme]);
    await save({ name: "mine", uris: [guide], replace: true });
    expect(await pressmark.sets.resolveSet("mine", callOf("reader"))).toEqual([guide]);
  });

  it("does not replace one that another process or a concurrent call saves", async () => {
    await using one = createSetServer({ sampleContents, sets });
    await using other = createSetServer({ sampleContents, sets, stateFolder: one.stateFolder });
    expect(await other.sets.find("mine", callOf("reader"))).toBeUndefined();
    await toolsOf(one).save({ name: "mine", uris: [readme] });
    await expect(toolsOf(other).save({ name: "mine", uris: [guide] })).rejects.toThrow("exists already; choose");
    expect(await other.sets.resolveSet("mine", callOf("reader"))).toEqual([readme]);
    const { save } = toolsOf(one);
    const both = [readme, guide].map((uri) => save({ name: "both", uris: [uri] }));
    expect((await Promise.allSettled(both)).map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  });

  it("does not replace one whose members are absent", async () => {
    await using pressmark = createSetServer({ sampleContents, sets });
    const { save } = toolsOf(pressmark);
    await save({ name: "mine", uris: [readme] });
    pressmark.memory.delete("readme.md");
    await expect(save({ name: "mine", uris: [guide] })).rejects.toThrow("exists already; choose another name");
    await expect(save({ name: "onboarding", uris: [guide] })).rejects.toThrow("not yours to replace");
    expect(pressmark.sets.store.all()).toEqual([{ name: "mine", resources: [readme] }]);
    await save({ name: "mine", uris: [guide], replace: true });
  });

  it("is deleted by the owner alone; sets of the config are not", async () => {
    await using pressmark = createSetServer({ sampleContents, sets });
    const { save, remove } = toolsOf(pressmark);
    await save({ name: "mine", uris: [readme] });
    await expect(remove({ name: "mine" }, ownerCall("reader", false))).rejects.toThrow("no saved set");
    await expect(remove({ name: "onboarding" })).rejects.toThrow("editing the config");
    await expect(remove({ name: "../mine" })).rejects.toThrow();
    await remove({ name: "mine" });
    expect(await pressmark.sets.find("mine", callOf("reader"))).toBeUndefined();
    await expect(remove({ name: "mine" })).rejects.toThrow("no saved set");
  });

  it("takes the place of a private one that the same caller saved before", async () => {
    await using pressmark = createSetServer({ sampleContents, sets });
    const { save, remove } = toolsOf(pressmark);
    await save({ name: "mine", uris: [guide] }, ownerCall("me", false));
    await save({ name: "mine", uris: [readme] }, ownerCall("me"));
    expect(pressmark.sets.store.all()).toEqual([{ name: "mine", resources: [readme] }]);
    await remove({ name: "mine" }, ownerCall("me"));
    expect(pressmark.sets.store.all()).toEqual([]);
  });

  it("is refused where a policy forbids writing", async () => {
    await using pressmark = createSetServer({ sampleContents, sets });
    const { save, remove } = toolsOf(pressmark, { ...openPolicy, mayWrite: () => false });
    await expect(save({ name: "mine", uris: [readme] })).rejects.toThrow("not permitted");
    await expect(remove({ name: "mine" })).rejects.toThrow("not permitted");
  });
});
