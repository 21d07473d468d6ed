/** Sets in `gather`: through the function, the tool, the prompt and the command. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createStand, type Stand } from "../../cli/test-command.ts";
import { gather } from "../../context/gather.ts";
import { createGatherPrompt } from "../../protocol/gather-prompt.ts";
import { createReadingTools } from "../../protocol/tools/reading-tools.ts";
import type { PromptResult } from "../../protocol/prompts.ts";
import type { ToolCall, ToolResult } from "../../protocol/tools.ts";
import { examineSets } from "../examine-sets.ts";
import { base, callOf, createSetServer, discreet, type SetServer } from "./test-sets.ts";

const sampleContents = {
  "docs/house.md": "# House\n\nWhat stands where.\n",
  "docs/style.md": "# Style\n\nHow it is written.\n",
  "docs/kettle.md": "# Kettle\n\nIt boils.\n",
  "secrets/key.txt": "the hidden key\n",
};
const onboarding = {
  name: "onboarding",
  resources: ["docs/style.md", "docs/missing.md", "secrets/key.txt", "docs/house.md"].map((path) => base + path),
};
const uri = "set://onboarding";
const asked: ToolCall = {
  ...callOf("reader"),
  inputResponses: undefined,
  requestState: undefined,
  clientCapabilities: {},
};

let pressmark: SetServer;
beforeEach(() => {
  pressmark = createSetServer({ sampleContents, policy: discreet, sets: [onboarding] });
});
afterEach(() => pressmark[Symbol.asyncDispose]());

describe("a set that is included", () => {
  it("stands for what is in it and may be seen, before what the task finds", async () => {
    const { items, receipt } = await gather(
      pressmark.resources,
      { task: "the kettle boils", budget: 2000, include: [uri] },
      callOf("reader"),
    );
    expect(items.map((item) => item.uri.slice(base.length)).sort()).toEqual([
      "docs/house.md",
      "docs/kettle.md",
      "docs/style.md",
    ]);
    expect(items.at(-1)!.uri).toBe(`${base}docs/kettle.md`);
    expect(receipt.included[0]!.why).toContain(`is in ${uri}, which was requested`);
    expect(JSON.stringify(receipt)).not.toMatch(/secrets|missing/);
  });

  it("is packed in its own order where there is no task", async () => {
    const { items } = await gather(pressmark.resources, { budget: 2000, include: [uri] }, callOf("owner"));
    expect(items.map((item) => item.uri.slice(base.length))).toEqual([
      "docs/style.md",
      "secrets/key.txt",
      "docs/house.md",
    ]);
  });

  it("that is not there, or has nothing in it for the caller, is left out as such", async () => {
    pressmark.configure([{ name: "closed", resources: [`${base}secrets/key.txt`] }]);
    for (const missing of ["set://closed", "set://nowhere"]) {
      const ask = { task: "the kettle boils", budget: 2000, include: [missing] };
      const { receipt } = await gather(pressmark.resources, ask, callOf("reader"));
      expect(receipt.leftOut).toEqual([{ uri: missing, why: "was not found" }]);
    }
  });

  it("works in the tool and in the prompt", async () => {
    const [tool] = createReadingTools({
      resources: pressmark.resources,
      server: "pressmark",
      mounts: () => [{ name: "m", base }],
      only: ["gather_context"],
    });
    const { content } = (await tool!.call({ task: "boil", include: [uri] }, asked)) as ToolResult;
    const prompt = createGatherPrompt(pressmark.resources);
    const { messages } = (await prompt.get({ task: "boil", include: ` ${uri} ` }, asked)) as PromptResult;
    for (const said of [content, messages].map((each) => JSON.stringify(each))) {
      expect(said).toContain("How it is written.");
      expect(said).toContain("What stands where.");
      expect(said).not.toContain("hidden");
    }
  });
});

it("a set that the task names stands for what is in it, too", async () => {
  const ask = { task: `follow ${uri} when you boil water`, budget: 2000 };
  const { items, receipt } = await gather(pressmark.resources, ask, callOf("reader"));
  expect(items.map((item) => item.uri.slice(base.length))).toContain("docs/house.md");
  expect(JSON.stringify(receipt)).toContain(`is in ${uri}, which was requested`);
  expect(items.some((item) => item.uri === uri)).toBe(false);
});

it("missing members of a set are reported with advice", async () => {
  pressmark.configure([onboarding, { name: "whole", resources: [`${base}docs/house.md`] }]);
  expect(await examineSets(pressmark.sets, pressmark.resources, callOf("owner"))).toEqual([
    {
      about: "set onboarding",
      state: "hint",
      says: `${base}docs/missing.md does not exist, and is left out`,
      advice: `correct it, or remove it: pressmark set remove onboarding ${base}docs/missing.md`,
    },
    { about: "set whole", state: "ok", says: "no resource is missing (1)" },
  ]);
});

describe("on the command line", () => {
  let stand: Stand;
  beforeEach(() => {
    stand = createStand();
    for (const [path, text] of Object.entries(sampleContents)) stand.write(path, text);
    stand.write(
      "pressmark.config.yaml",
      "mounts:\n  all: { source: file, root: . }\nsets:\n  onboarding:\n    resources: [docs/style.md, docs/missing.md, docs/house.md]\n",
    );
  });
  afterEach(() => stand.remove());

  it("a set is included by its URI", async () => {
    const { code, out, err } = await stand.run(["gather", "the kettle boils", "--include", uri]);
    expect(code).toBe(0);
    for (const text of ["How it is written.", "What stands where.", "It boils."]) expect(out).toContain(text);
    expect(out.indexOf("It boils.")).toBeGreaterThan(out.indexOf("What stands where."));
    expect(err).toContain(`is in ${uri}, which was requested`);
    const { err: said } = await stand.run(["gather", "boil", "--include", "set://nowhere"]);
    expect(said).toContain("left out: set://nowhere was not found");
  });

  it("the doctor names what is missing of a set", async () => {
    const { out } = await stand.run(["doctor"]);
    expect(out).toContain(`hint    set onboarding: ${stand.base}docs/missing.md does not exist`);
  });
});
