import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { createGatherPrompt } from "../protocol/gather-prompt.ts";
import type { PromptResult } from "../protocol/prompts.ts";
import { sayReceipt } from "../protocol/tools/gather-context.ts";
import { createRulesPolicy } from "../access/rules.ts";
import type { Call } from "../resources.ts";
import { createResources } from "../router/create-resources.ts";
import { createRuntime } from "../server/runtime.ts";
import { clear, type TestRepository, testRepository } from "../sources/git/test-repository.ts";
import { createMemory } from "../sources/memory.ts";
import { findChanges } from "./changed.ts";
import { gather } from "./gather.ts";

afterAll(clear);

const roots = ["memory://files/"];

/** The histories, and files as they are in the checkout. */
async function resourcesOf(repositories: readonly TestRepository[], files: Readonly<Record<string, string>> = {}) {
  const histories = await Promise.all(repositories.map((repository) => repository.open()));
  return createResources({
    mounts: [
      ...histories.map((source, at) => ({ name: `history${at}`, base: `git://project${at}/`, source })),
      { name: "files", base: "memory://files/", source: createMemory(files).source },
    ],
    policy: { maySee: () => true },
    runtime: createRuntime({ write: () => true }),
    cursorKey: new Uint8Array(32),
  });
}

const callOf = (id: string): Call => ({ caller: { id }, signal: new AbortController().signal });

it("changes of hidden files show neither content, name nor count", async () => {
  const repository = testRepository();
  repository.commit("begin", {
    "open.md": "# Open\n\nkettle\n",
    "wombat.md": "# Wombat\n",
    "private/burrow.md": "wombat\n",
  });
  repository.git("checkout", "--quiet", "-b", "feature");
  repository.commit("work", { "open.md": "# Open\n\nthe kettle boils\n", "wombat.md": "# Wombat\n\nburrow\n" });
  repository.write("private/burrow.md", "wombat again\n");
  repository.write("private/burrow-new.md", "wombat\n");
  const root = repository.folder;
  const resources = createResources({
    mounts: [{ name: "history", base: "git://project/", source: await repository.open() }],
    policy: createRulesPolicy([
      { allow: ["anyone"] },
      { deny: ["caller:aki"], files: [`${root}/wombat.md`, `${root}/private`] },
    ]),
    runtime: createRuntime({ write: () => true }),
    cursorKey: new Uint8Array(32),
  });
  const hidden = await gather(resources, { changed: "main" }, callOf("aki"));
  expect(JSON.stringify(hidden)).not.toMatch(/wombat|burrow|not shown/i);
  expect(hidden.text).toContain("+the kettle boils");
  expect(hidden.receipt.changed).toEqual({ base: "main", files: 1 });
  const all = await gather(resources, { changed: true }, callOf("ben"));
  expect(all.text).toContain("+wombat again");
  expect(all.receipt).toMatchObject({
    changed: { base: "main", files: 4 },
    leftOut: expect.arrayContaining([
      { uri: "git://project/changes?base=main&path=private/burrow-new.md", why: "is new, and its file is not served" },
    ]) as unknown,
  });
});

const list = (changed: string) =>
  Array.from({ length: 1500 }, (_, at) => (at === 1000 ? changed : `Entry ${at} of a long list.\n`)).join("\n");
const pump = (litres: number) => `export function fillTank(): number {\n  return ${litres};\n}\n`;
const json = (version: number) => `{\n  "dependencies": {\n    "left": "${version}"\n  }\n}\n`;
const after = {
  "stock.txt": list("The cupboard is empty."),
  "pump.ts": pump(2),
  "settings.json": json(2),
  "shop/tests.py": "def checks_the_shop():\n    pass\n",
  "PumpTest.java": "class PumpTest {\n  void runs() {\n  }\n}\n",
  "valve.ts": "export function closeValve(): void {}\n",
};

async function changedResources() {
  const repository = testRepository();
  repository.commit("begin", {
    "stock.txt": list("The cupboard is full."),
    "pump.ts": pump(1),
    "settings.json": json(1),
  });
  for (const [path, text] of Object.entries(after)) repository.write(path, text);
  return resourcesOf([repository], after);
}

it("changes of one history are gathered while another fails, which the receipt says", async () => {
  const [good, bad] = [testRepository(), testRepository()];
  for (const repository of [good, bad]) repository.commit("begin", { "a.txt": "one\n" });
  good.write("a.txt", "two\n");
  const resources = await resourcesOf([bad, good]);
  rmSync(join(bad.folder, ".git"), { recursive: true });
  const { text, receipt } = await gather(resources, { changed: true }, callOf("aki"));
  expect(text).toContain("-one\n+two\n");
  expect(receipt.leftOut).toContainEqual({ uri: "git://project0/changes", why: "could not be read" });
  rmSync(join(good.folder, ".git"), { recursive: true });
  await expect(gather(resources, { changed: true }, callOf("aki"))).rejects.toMatchObject({ kind: "unavailable" });
});

it("changes of very many files leave room for their content, and are not said to be fewer, or all", async () => {
  const repository = testRepository();
  repository.commit("begin", { "a.txt": "one\n" });
  repository.write("a.txt", "two\n");
  for (let at = 0; at < 1010; at++) repository.write(`generated/group-${at % 60}/entry-${at}.txt`, "x\n");
  const resources = await resourcesOf([repository]);
  const pack = await gather(resources, { changed: true, budget: 100_000 }, callOf("aki"));
  expect(pack.receipt).toMatchObject({ changed: { base: "main", files: 1000, isMore: true }, hasAllRelevant: false });
  expect(sayReceipt(pack)).toMatch(/^More than 1000 files changed since main\./);
  expect(pack.text).toMatch(/\| other folders +\| \d+/);
  expect(pack.tokens).toBeLessThan(6000);
});

describe("changes without a task", () => {
  it("include the changed passage of each file, also if nothing else speaks for it, behind the summary", async () => {
    const { items } = await gather(await changedResources(), { changed: true, roots }, callOf("aki"));
    expect(items[0]!.uri).toBe("git://project0/changes?base=main&as=text");
    const stock = items.filter(({ uri }) => uri === "memory://files/stock.txt").map(({ text }) => text);
    expect(stock.join("\n")).toContain("The cupboard is empty.");
  });

  it("are given by the prompt, relative to the mounts of the caller", async () => {
    const prompt = createGatherPrompt(await changedResources(), () => roots.map((base) => ({ base })));
    expect(prompt.arguments!.filter(({ required }) => required)).toEqual([]);
    const call = { ...callOf("aki"), inputResponses: undefined, requestState: undefined, clientCapabilities: {} };
    const { messages } = (await prompt.get({ changed: "default" }, call)) as PromptResult;
    expect(messages[0]!.content).toMatchObject({
      text: expect.stringMatching(/^What follows was gathered to review what changed since main\./) as string,
    });
    expect(messages.every(({ content }, at) => at === 0 || content.type === "embedded")).toBe(true);
    expect(JSON.stringify(messages)).toContain("memory://files/valve.ts");
    await expect(prompt.get({}, call)).rejects.toThrow("the task is empty");
  });

  it("are searched for by what code defines, also in untracked files, not by tests or keys of data", async () => {
    const { names } = await findChanges(await changedResources(), undefined, roots, callOf("aki"));
    expect(names.toSorted()).toEqual(["closeValve", "fillTank", "pump", "settings", "stock", "valve"]);
  });
});
