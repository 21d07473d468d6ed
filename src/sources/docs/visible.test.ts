/** A caller who may see some of the documents gets what a folder without the others would give. */
import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createRulesPolicy } from "../../access/rules.ts";
import { outcome } from "../../access/test-entry-points.ts";
import { stack } from "../../layer.ts";
import { cache } from "../../layers/cache.ts";
import type { Call, Caller } from "../../resources.ts";
import type { Source } from "../../source.ts";
import { collectChanges } from "../../testing/listen.ts";
import { asking, collect } from "../../testing/pages.ts";
import { useCollection } from "./test-collection.ts";

const collection = useCollection();
const { at, link, open, write } = collection;

const aki: Caller = { id: "aki" };
const me: Caller = { id: "me", owner: true };
const callOf = (caller: Caller): Call => ({ caller, signal: new AbortController().signal });

/** Only for aki: the given files do not exist. */
function hide(source: Source, ...files: string[]): void {
  const policy = createRulesPolicy([
    { allow: ["anyone"] },
    { deny: ["caller:aki"], files: files.map((file) => `${collection.root}/${file}`) },
  ]);
  source.filterFiles!((caller, address) => policy.filesFor(caller, "docs", address));
}

const addresses = [
  "",
  "en",
  "ja",
  "en/guide.md",
  "ja/guide.md",
  "en/内部/plan.md",
  "en/内部",
  "ja/only.md",
  "en/link.md",
];

async function everything(source: Source, caller: Caller): Promise<unknown> {
  const call = callOf(caller);
  const answers: unknown[] = [];
  for (const limit of [1, 100]) answers.push(await collect((cursor) => source.list(asking(limit, cursor), call)));
  for (const path of addresses) {
    answers.push(path, await outcome(source.read({ path }, call)), await outcome(source.stat!({ path }, call)));
    answers.push(await outcome(collect((cursor) => source.children!({ path }, asking(1, cursor), call))));
  }
  for (const template of source.templates!)
    for (const [variable, given] of [
      ["lang", {}],
      ["lang", { path: "guide.md" }],
      ["path", {}],
      ["path", { lang: "en" }],
      ["heading", { lang: "en", path: "内部/plan.md" }],
    ] as const)
      answers.push(await outcome(source.complete!({ template, variable, value: "", given }, call)));
  return answers;
}

describe("documents that a caller may not see", () => {
  it.each([
    ["one of two languages", ["guide.ja.md"]],
    ["a folder", ["内部"]],
    ["all of a language", ["guide.ja.md", "ja"]],
    ["the target of a link", ["guide.md"]],
  ])("do not exist for them: %s", async (_, hidden) => {
    write("guide.md", "# Guide\n\nText.\n");
    write("guide.ja.md", "# 手引き\n\nこれは日本語の文書です。\n");
    write("ja/only.md", "# これだけ\n\nこれは日本語の文書です。\n");
    write("内部/plan.md", "# Plan\n\n## Secret plan\n\nText.\n");
    link("guide.md", "link.md");
    const source = await open({ prefer: "ja", git: false });
    // With versions, reads are cached.
    const isYoung = async () => (await source.list(asking(100), callOf(me))).items.some(({ version }) => !version);
    await expect.poll(isYoung).toBe(false);
    const before = await everything(source, me);
    hide(source, ...hidden);
    const cached = stack(source, { name: "docs" }, [cache()]);
    expect(await everything(cached, me), "the owner sees what everyone saw before").toEqual(before);
    const seen = await everything(cached, aki);
    expect(await everything(cached, me)).toEqual(before);
    for (const file of hidden) rmSync(at(file), { recursive: true });
    if (hidden.includes("guide.md")) rmSync(at("link.md"));
    const without = await open({ prefer: "ja", git: false });
    expect(withoutVersions(seen)).toEqual(withoutVersions(await everything(without, aki)));
    expect(seen).not.toEqual(before);
  });

  it("are in no change that they are told of", async () => {
    write("a.md", "# A\n");
    write("secret/s.md", "# S\n");
    const source = await open({ git: false });
    hide(source, "secret");
    const changes = collectChanges(await source.watch!({ ...collection.call(), caller: aki }));
    write("secret/s.md", "# S again\n");
    write("secret/new/t.md", "# T\n");
    write("b.md", "# B\n");
    await changes.until((change) => "path" in change && change.path === "en/b.md", "b.md");
    rmSync(at("secret/s.md"));
    write("c.md", "# C\n");
    await changes.until((change) => "path" in change && change.path === "en/c.md", "c.md");
    // A new file may be reported again as changed.
    const paths = changes.heard.map((change) => ("path" in change ? change.path : change.kind));
    expect([...new Set(paths)]).toEqual(["en/b.md", "en/c.md"]);
  });
});

/** A version is only for caches: it is absent where content depends on the caller. */
function withoutVersions(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, each: unknown) => (key === "version" ? undefined : each)));
}
