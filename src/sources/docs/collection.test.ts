import * as fs from "node:fs";
import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { useFolder } from "../file/test-folder.ts";
import { type DocumentCollection, createCollection, type DocumentFiles } from "./collection.ts";
import { createLanguageMarks } from "./language.ts";
import { createRules } from "./rules.ts";

const folder = useFolder();
const { at, call, open, write } = folder;

/** A collection, and which files of it were opened and how often it was listed. */
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
  it("opens each file once for as long as it is the same", async () => {
    for (let index = 0; index < 300; index += 1) write(`d${index % 7}/${index}.md`, `# ${index}\n`);
    write("code.ts", "");
    const { collection, reads } = await watched();
    await settle(collection);
    expect(reads).not.toContain("code.ts");
    reads.length = 0;
    const before = await collection.look(call());
    expect(reads).toEqual([]);
    expect(await collection.look(call()), "the very same, where nothing changed").toBe(before);
    write("d0/0.md", "# Another\n");
    const after = await collection.look(call());
    expect(reads).toEqual(["d0/0.md"]);
    expect(after.byFile.get("d0/0.md")?.document.title).toBe("Another");
  });

  it("looks once for all who ask at the same time, and again for those who ask later", async () => {
    write("a.md", "# A\n");
    const { collection, lists } = await watched();
    await Promise.all(Array.from({ length: 20 }, () => collection.look(call())));
    // The first began at once; the others asked when it had begun already.
    expect(lists()).toBe(2);
    write("b.md", "# B\n");
    expect((await collection.look(call())).placed).toHaveLength(2);
    await collection.look(call(), 60_000);
    expect(lists()).toBe(3);
  });

  it("lets one who leaves go, and goes on for the others", async () => {
    write("a.md", "# A\n");
    const { collection } = await watched();
    const leaving = new AbortController();
    const left = collection.look({ signal: leaving.signal });
    const stayed = collection.look(call());
    leaving.abort();
    await expect(left).rejects.toMatchObject({ kind: "cancelled" });
    expect((await stayed).placed).toHaveLength(1);
  });

  it("is not found empty when the folder is gone", async () => {
    write("a.md", "# A\n");
    const { collection } = await watched();
    await collection.look(call());
    fs.rmSync(folder.root, { recursive: true });
    await expect(collection.look(call())).rejects.toMatchObject({ kind: "unavailable" });
    fs.mkdirSync(folder.root);
    fs.writeFileSync(at("b.md"), "# B\n");
    expect((await collection.look(call())).placed).toHaveLength(1);
  });

  it("stops looking when it is closed", async () => {
    for (let index = 0; index < 50; index += 1) write(`${index}.md`, "x");
    const { collection } = await watched();
    const looking = collection.look(call());
    collection.close();
    await expect(looking).rejects.toMatchObject({ kind: "cancelled" });
  });
});
