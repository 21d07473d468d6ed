import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { useFolder } from "../../backends/disk/test-folder.ts";
import { type DocumentCollection, createCollection, type DocumentFiles } from "./collection.ts";
import { createLanguageMarks } from "./language.ts";
import { createRules } from "./rules.ts";

const folder = useFolder();
const { at, call, open, write } = folder;

/** A collection, with the files it opened and the number of times it listed the folder. */
async function watched(): Promise<{ collection: DocumentCollection; reads: string[]; lists: () => number }> {
  const source = await open();
  const reads: string[] = [];
  let lists = 0;
  const files: DocumentFiles = {
    ...source,
    list(ask, asked) {
      lists += 1;
      return source.list(ask, asked);
    },
    read(where, asked) {
      reads.push(where.path);
      return source.read(where, asked);
    },
  };
  const collection = createCollection({
    files,
    runtime: { wait: (ms, signal) => setTimeout(ms, undefined, { signal }), log: () => undefined },
    visible: { of: async (all) => all },
    marks: createLanguageMarks(),
    rules: createRules([]),
    fallback: "en",
    looked: () => undefined,
  });
  return { collection, reads, lists: () => lists };
}

async function settle(collection: DocumentCollection): Promise<void> {
  const isYoung = async () =>
    (await collection.look(call())).placed.some(({ document }) => document.entry.version === undefined);
  while (await isYoung()) await new Promise<void>((resolve) => setImmediate(resolve));
}

describe("a collection", () => {
  it("opens each file once until it changes", async () => {
    for (let index = 0; index < 300; index += 1) write(`d${index % 7}/${index}.md`, `# ${index}\n`);
    write("code.ts", "");
    const { collection, reads } = await watched();
    await settle(collection);
    expect(reads).not.toContain("code.ts");
    reads.length = 0;
    const before = await collection.look(call());
    expect(reads).toEqual([]);
    expect(await collection.look(call()), "the same object, if nothing changed").toBe(before);
    write("d0/0.md", "# Another\n");
    const after = await collection.look(call());
    expect(reads).toEqual(["d0/0.md"]);
    expect(after.byFile.get("d0/0.md")?.document.title).toBe("Another");
  });

  it("checks once for concurrent callers, and again for later ones", async () => {
    write("a.md", "# A\n");
    const { collection, lists } = await watched();
    await Promise.all(Array.from({ length: 20 }, () => collection.look(call())));
    // The first check began immediately; the other calls came after its start.
    expect(lists()).toBe(2);
    write("b.md", "# B\n");
    expect((await collection.look(call())).placed).toHaveLength(2);
    await collection.look(call(), 60_000);
    expect(lists()).toBe(3);
  });

  it("takes a few Han characters for Japanese where other documents are Japanese and none is surely Chinese", async () => {
    write("復旧手順.md", "# 復旧\n");
    write("plan.md", "# Plan of the year\n");
    const { collection, lists } = await watched();
    const addresses = async () => (await collection.look(call())).placed.map(({ address }) => address);
    expect(await addresses()).toEqual(["en/plan.md", "zh/復旧手順.md"]);
    write("設定.md", "# 設定する\n");
    expect(await addresses()).toEqual(["en/plan.md", "ja/復旧手順.md", "ja/設定.md"]);
    const before = lists();
    write("復旧手順.md", "# 復旧計画\n");
    expect(await collection.find("ja/復旧手順.md", call())).toMatchObject({ placed: { document: { lang: "ja" } } });
    expect(lists(), "a change is no reason to list again").toBe(before);
    write("配置.md", "---\nlang: zh-CN\n---\n# 配置\n");
    expect(await addresses()).toEqual(["en/plan.md", "ja/設定.md", "zh/復旧手順.md", "zh-CN/配置.md"]);
  });

  it("rejects for a caller that leaves, and continues for the others", async () => {
    write("a.md", "# A\n");
    const { collection } = await watched();
    const leaving = new AbortController();
    const left = collection.look({ ...call(), signal: leaving.signal });
    const stayed = collection.look(call());
    leaving.abort();
    await expect(left).rejects.toMatchObject({ kind: "cancelled" });
    expect((await stayed).placed).toHaveLength(1);
  });

  it("fails instead of being empty when the folder is gone", async () => {
    write("a.md", "# A\n");
    const { collection } = await watched();
    await collection.look(call());
    fs.rmSync(folder.root, { recursive: true });
    await expect(collection.look(call())).rejects.toMatchObject({ kind: "unavailable" });
    fs.mkdirSync(folder.root);
    fs.writeFileSync(at("b.md"), "# B\n");
    expect((await collection.look(call())).placed).toHaveLength(1);
  });

  it("stops a check when it is closed", async () => {
    for (let index = 0; index < 50; index += 1) write(`${index}.md`, "x");
    const { collection } = await watched();
    const looking = collection.look(call());
    collection.close();
    await expect(looking).rejects.toMatchObject({ kind: "cancelled" });
  });
});
