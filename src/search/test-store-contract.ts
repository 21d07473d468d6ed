/** What every index store promises of its documents: the embedded one and the shared one. */
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compareAddresses } from "../lib/address-order.ts";
import type { AsyncIndexStore, IndexedDocument } from "./store.ts";
import type { OpenedIndex } from "./test-search-contract.ts";

const document = (path: string, text: string, more: Partial<IndexedDocument["entry"]> = {}): IndexedDocument => ({
  mount: "docs",
  entry: { path, version: "1", ...more },
  text,
});
/** A word of letters alone. */
const name = (at: number): string => `n${String(at).replace(/\d/g, (figure) => "abcdefghij"[Number(figure)]!)}`;

export function storeContract(openIndex: () => Promise<OpenedIndex>): void {
  let opened: OpenedIndex;
  let store: AsyncIndexStore;
  beforeEach(async () => {
    opened = await openIndex();
    store = opened.store;
  });
  afterEach(() => opened.close());
  const put = (...documents: readonly IndexedDocument[]): Promise<void> => store.put(documents);
  const find = async (text: string, more: object = {}): Promise<string[]> =>
    (await store.search({ text, limit: 10, ...more })).map(({ entry }) => entry.path);
  const paths = async (mount = "docs"): Promise<string[]> =>
    (await store.stored(mount, { limit: 1000 })).map(({ path }) => path);

  describe("put", () => {
    it("replaces the documents at these addresses", async () => {
      await put(document("a", "the old words"), document("b", "other words"));
      await put(document("a", "the new text", { version: "2" }));
      expect([await find("old"), await find("new"), await find("words")]).toEqual([[], ["a"], ["b"]]);
      expect(await store.stored("docs", { limit: 10 })).toEqual([
        { path: "a", version: "2" },
        { path: "b", version: "1" },
      ]);
    });
    it("takes the last of two documents for one address", async () => {
      await put(document("a", "first"), document("a", "second"));
      expect([await find("first"), await find("second"), await paths()]).toEqual([[], ["a"], ["a"]]);
    });
    it("is atomic", async () => {
      await put(document("a", "before"));
      const broken = {
        ...document("b", "after"),
        get text(): string {
          throw new Error("gone");
        },
      };
      await expect((async () => put(document("a", "after"), broken))()).rejects.toThrow("gone");
      expect([await find("before"), await find("after"), await paths()]).toEqual([["a"], [], ["a"]]);
      await put(document("c", "after all"));
      expect([await find("before"), await find("after")]).toEqual([["a"], ["c"]]);
    });
    it("distinguishes addresses by their queries", async () => {
      await put(document("a", "plain"), document("a", "with a query", { query: { lines: "1", as: "text" } }));
      expect(await store.stored("docs", { limit: 10 })).toEqual([
        { path: "a", version: "1" },
        { path: "a", query: { as: "text", lines: "1" }, version: "1" },
      ]);
      await store.remove("docs", [{ path: "a", query: { as: "text", lines: "1" } }]);
      expect([await find("plain"), await find("query")]).toEqual([["a"], []]);
    });
    it("finds every document after hundreds of small puts and removals", async () => {
      const alive = new Map<string, string>();
      for (let at = 0; at < 300; at += 1) {
        const path = `${at % 70}`;
        if (at % 7 === 3) {
          await store.remove("docs", [{ path }]);
          alive.delete(path);
        } else {
          await put(document(path, `common word ${name(at)}`));
          alive.set(path, name(at));
        }
      }
      expect((await store.search({ text: "common", limit: 1000 })).map(({ entry }) => entry.path).sort()).toEqual(
        [...alive.keys()].sort(),
      );
      for (const [path, word] of alive) expect(await find(word)).toEqual([path]);
      expect(await store.counts()).toEqual([{ mount: "docs", documents: alive.size, passages: alive.size }]);
    });
  });

  describe("remove", () => {
    it("ignores missing addresses", async () => {
      await put(document("a", "word"));
      await store.remove("docs", [{ path: "x" }, { path: "a" }]);
      await store.remove("other", [{ path: "a" }]);
      expect([await paths(), await store.counts()]).toEqual([[], []]);
    });
    it("removes a path and all below it, and nothing beside it", async () => {
      const all = ["a", "a/b", "a/b/c", "a-b", "a.txt", "ab", "b"];
      await put(...all.map((path) => document(path, "word")));
      await store.removeBelow("docs", "a");
      expect(await paths()).toEqual(["a-b", "a.txt", "ab", "b"]);
      expect((await find("word")).sort()).toEqual(["a-b", "a.txt", "ab", "b"]);
      await store.removeBelow("docs", "");
      expect(await paths()).toEqual([]);
    });
  });

  describe("stored", () => {
    it("lists a mount in the order of addresses, page by page", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.uniqueArray(fc.string({ unit: fc.constantFrom(..."/ab-.\0日", "😀", "\uffee"), maxLength: 5 }), {
            maxLength: 12,
          }),
          async (all) => {
            await store.removeBelow("docs", "");
            await put(...all.map((path) => document(path, "")));
            const seen: string[] = [];
            for (let after: string | undefined; ; after = seen.at(-1)) {
              const page = await store.stored("docs", {
                limit: 3,
                ...(after !== undefined && { after: { path: after } }),
              });
              if (page.length === 0) break;
              seen.push(...page.map(({ path }) => path));
            }
            expect(seen).toEqual([...all].sort(compareAddresses));
          },
        ),
        { numRuns: 25 },
      );
    });
  });

  it("counts documents and passages by mount", async () => {
    await put(
      document("a", "# One\n\n" + "word ".repeat(200) + "\n\n# Two\n\n" + "word ".repeat(200), {
        mimeType: "text/markdown",
      }),
    );
    await store.put([{ ...document("b", "word"), mount: "another" }]);
    expect(await store.counts()).toEqual([
      { mount: "another", documents: 1, passages: 1 },
      { mount: "docs", documents: 1, passages: 2 },
    ]);
  });

  it("keeps notes", async () => {
    expect(await store.note("a")).toBeUndefined();
    await store.setNote("a", "1");
    await store.setNote("a", "2");
    expect(await store.note("a")).toBe("2");
  });

  async function rowsOf(text: string, more: object = {}): Promise<number> {
    let rows = 0;
    await store.search({ text, limit: 10, ...more }, (count) => (rows = count));
    return rows;
  }

  it("counts rows by the words of the query and the magnitude of the index, not by what matches", async () => {
    await put(...Array.from({ length: 5 }, (_, at) => document(`a${at}`, "tea kettle")));
    const [one, two] = [await rowsOf("tea"), await rowsOf("tea kettle")];
    expect(one).toBeGreaterThan(0);
    expect(two).toBeGreaterThan(one);
    // Also looked up in the other kana: サク, クラ.
    expect(await rowsOf("さくら")).toBeGreaterThan(await rowsOf("東京都"));
    expect([await rowsOf("qwzxy"), await rowsOf("tae"), await rowsOf("tea", { limit: 1 })]).toEqual([one, one, one]);
    await put(document("hidden", "merger"));
    expect([await rowsOf("merger"), await rowsOf("tea")]).toEqual([one, one]);
    await put(...Array.from({ length: 90 }, (_, at) => document(`b${at}`, "coffee")));
    expect(await rowsOf("tea")).toBeGreaterThan(one);
  });
}
