import { describe, expect, it } from "vitest";
import { ResourceError } from "../../errors.ts";
import type { ToolResult } from "../../protocol/tools.ts";
import { openPolicy } from "../../access/policy.ts";
import { createSaveSet } from "./save-set.ts";
import { base, callOf, createSetServer, discreet, type SetServer } from "./test-sets.ts";

const sampleContents = { "readme.md": "# Read me\n", "guide.md": "# Guide\n", "secrets/key.txt": "hidden" };
const sets = [
  { name: "onboarding", resources: [`${base}readme.md`] },
  { name: "secret", resources: [`${base}secrets/key.txt`] },
];
const readme = `${base}readme.md`;

async function save(pressmark: SetServer, args: Readonly<Record<string, unknown>>, id = "reader"): Promise<ToolResult> {
  const asked = { ...callOf(id), inputResponses: undefined, requestState: undefined, clientCapabilities: {} };
  return (await createSaveSet({ ...pressmark, policy: openPolicy, promptName: (name) => name }).call(
    args,
    asked,
  )) as ToolResult;
}

async function refused(pressmark: SetServer, args: Readonly<Record<string, unknown>>): Promise<string> {
  const error: unknown = await save(pressmark, args).catch((cause: unknown) => cause);
  expect(error, JSON.stringify(args)).toBeInstanceOf(ResourceError);
  return (error as ResourceError).message;
}

/** 500 URIs of more than this length. */
function passages(length: number): string[] {
  return Array.from({ length: 500 }, (_, at) => `${readme}?lines=${at + 1}-${"9".repeat(length)}`);
}

describe("save_set", () => {
  it("saves a set for the caller", async () => {
    await using pressmark = createSetServer({ sampleContents, sets, policy: discreet });
    const { content } = await save(pressmark, { name: "mine", uris: [readme, `${base}guide.md`], title: "Mine" });
    expect(content[0]).toEqual({ type: "text", text: 'Saved 2 resources as the set "mine": set://mine' });
    expect(await pressmark.sets.resolveSet("mine", callOf("reader"))).toEqual([readme, `${base}guide.md`]);
    await save(pressmark, { name: "mine", uris: [readme] });
    expect(await pressmark.sets.resolveSet("mine", callOf("reader"))).toEqual([readme]);
    expect(await pressmark.sets.find("mine", callOf("other"))).toBeUndefined();
    await save(pressmark, { name: "mine", uris: [`${base}guide.md`] }, "other");
    expect(await pressmark.sets.resolveSet("mine", callOf("reader"))).toEqual([readme]);
  });

  it("does not replace a set of the config", async () => {
    await using pressmark = createSetServer({ sampleContents, sets, policy: discreet });
    expect(await refused(pressmark, { name: "onboarding", uris: [`${base}guide.md`] })).toMatch(/choose another name/);
    expect(await pressmark.sets.resolveSet("onboarding", callOf("reader"))).toEqual([readme]);
  });

  it("does not reveal a hidden set, and does not replace it", async () => {
    await using pressmark = createSetServer({ sampleContents, sets, policy: discreet });
    await save(pressmark, { name: "secret", uris: [readme] });
    expect(await pressmark.sets.resolveSet("secret", callOf("reader"))).toEqual([readme]);
    expect(await pressmark.sets.resolveSet("secret", callOf("owner"))).toEqual([`${base}secrets/key.txt`]);
  });

  it("refuses what the caller may not see in the words for what is not there", async () => {
    await using pressmark = createSetServer({ sampleContents, sets, policy: discreet });
    const hidden = await refused(pressmark, { name: "x", uris: [readme, `${base}secrets/key.txt`] });
    const missing = await refused(pressmark, { name: "x", uris: [readme, `${base}secrets/nay.txt`] });
    expect(hidden.replace("key.txt", "nay.txt")).toBe(missing);
    expect(pressmark.sets.savedBy(callOf("reader"))).toEqual([]);
  });

  it("refuses hostile names and URIs", async () => {
    await using pressmark = createSetServer({ sampleContents, sets, policy: discreet });
    const names = [
      "",
      " ",
      "../x",
      "a/b",
      "a\0b",
      "__proto__",
      ".hidden",
      "-x",
      "a".repeat(65),
      "a\nb",
      "a\u202eb",
      7,
      null,
      {},
    ];
    for (const name of names) await refused(pressmark, { name, uris: [readme] });
    const uris = [
      undefined,
      [],
      "x",
      [7],
      [""],
      ["set://onboarding"],
      ["SET://x"],
      ["../../etc/passwd"],
      [`${base}%2e%2e`],
    ];
    const tooMany = Array.from({ length: 501 }, () => readme);
    for (const each of [...uris, [`${base}${"x".repeat(9000)}`], tooMany])
      await refused(pressmark, { name: "fine", uris: each });
    await refused(pressmark, { name: "fine", uris: [readme], title: "a\u001b[2Jb" });
    await refused(pressmark, { name: "fine", uris: [readme], owner: "someone" });
    expect(pressmark.sets.savedBy(callOf("reader"))).toEqual([]);
  });

  it("saves 500 resources, if the file of the set can be read again", async () => {
    await using pressmark = createSetServer({ sampleContents, sets, policy: discreet });
    expect(await refused(pressmark, { name: "long", uris: passages(2000) })).toBe(
      '"uris" may be at most 512 KiB together',
    );
    await save(pressmark, { name: "pack", uris: passages(4) });
  });

  it("keeps so many for one caller and no more", async () => {
    await using pressmark = createSetServer({ sampleContents, sets, policy: discreet });
    for (let count = 0; count < 100; count += 1) await save(pressmark, { name: `n${count}`, uris: [readme] });
    expect(await refused(pressmark, { name: "one-more", uris: [readme] })).toMatch(/at most 100/);
    await save(pressmark, { name: "n7", uris: [`${base}guide.md`] });
  });
});
