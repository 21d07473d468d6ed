/** Queries that every index must answer alike: the embedded one and the shared one. */
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AsyncIndexStore, IndexedDocument, IndexStore, StoreQuery } from "./store.ts";
import { tokenize } from "./tokens.ts";
import { trouble } from "./test-texts.ts";

export interface OpenedIndex {
  readonly store: AsyncIndexStore;
  close(): Promise<void>;
}

/** An embedded index in the form of a shared one. */
export function toAsyncStore(store: IndexStore): AsyncIndexStore {
  return {
    put: async (documents) => store.put(documents),
    remove: async (mount, addresses) => store.remove(mount, addresses),
    removeBelow: async (mount, path) => store.removeBelow(mount, path),
    stored: async (mount, { after, limit }) => store.stored(mount, { limit, ...(after && { after }) }),
    counts: async () => store.counts(),
    search: async (request, count) => store.search(request, count),
    addresses: async (after, limit) => store.addresses(after, limit),
    addressesOf: async (ids) => store.addressesOf(ids),
    note: async (name) => store.note(name),
    setNote: async (name, value) => store.setNote(name, value),
    close: async () => store.close(),
  };
}

const document = (
  path: string,
  text: string,
  more: Partial<IndexedDocument["entry"]> = {},
  mount = "docs",
): IndexedDocument => ({
  mount,
  entry: { path, ...more },
  text,
});
const daysAgo = (days: number) => ({
  annotations: { lastModified: new Date(Date.now() - days * 86_400_000).toISOString() },
});

export function searchContract(openIndex: () => Promise<OpenedIndex>): void {
  let opened: OpenedIndex;
  let store: AsyncIndexStore;
  const open = async (): Promise<void> => {
    opened = await openIndex();
    store = opened.store;
  };
  const close = (): Promise<void> => opened.close();
  const hits = (text: string, more: Partial<StoreQuery> = {}) => store.search({ text, limit: 10, ...more });
  const find = async (text: string, more: Partial<StoreQuery> = {}): Promise<string[]> =>
    (await hits(text, more)).map(({ entry }) => entry.path);

  describe("a corpus of many languages", () => {
    const corpus: readonly IndexedDocument[] = [
      document(
        "ja/password.md",
        "# パスワードの再設定\n\nパスワードを忘れた場合は、ログイン画面から再設定の手続きをしてください。",
        { mimeType: "text/markdown" },
      ),
      document("ja/printer.md", "# プリンターの設定\n\n紙が詰まったときは、右側のカバーを開けてください。㍿テスト", {
        mimeType: "text/markdown",
      }),
      document("ja/budget.txt", "来年度の予算は、部門ごとに十月までに申請する。犬は入れない。"),
      document("zh/settings.txt", "如果忘记密码，请在登录页面重新设置。打印机的设置在另一页。"),
      document(
        "ko/network.txt",
        "네트워크 연결이 끊어지면 공유기를 다시 시작하십시오. 비밀번호는 설정에서 바꿀 수 있습니다.",
      ),
      document(
        "en/vpn.txt",
        "When the VPN reports an expired certificate, connect to the office network once and restart. Naïve users' résumés.",
      ),
      document("en/billing.txt", "Invoices are issued monthly. Refunds are paid within seven days."),
      document(
        "src/user.ts",
        "/** Looks a user up. */\nexport function getUserName(id: number): string {\n  return HTTPServer2.fetch(id).user_name;\n}\n",
      ),
      document(
        "src/cache.py",
        'def evict_oldest(cache):\n    """Throws out what was used least recently."""\n    cache.popitem(last=False)\n',
      ),
    ];
    beforeAll(async () => {
      await open();
      await store.put(corpus);
    });
    afterAll(close);

    it.each([
      ["パスワードを忘れた", "ja/password.md"],
      ["再設定の手順を教えて", "ja/password.md"],
      ["予算", "ja/budget.txt"],
      ["犬", "ja/budget.txt"],
      ["株式会社", "ja/printer.md"],
      ["紙詰まり", "ja/printer.md"],
      ["忘记密码怎么办", "zh/settings.txt"],
      ["打印", "zh/settings.txt"],
      ["공유기 재시작", "ko/network.txt"],
      ["비밀번호", "ko/network.txt"],
      ["expiring certificates", "en/vpn.txt"],
      ["resume naive", "en/vpn.txt"],
      ["refund", "en/billing.txt"],
      ["getUserName", "src/user.ts"],
      ["get_user_name", "src/user.ts"],
      ["user name", "src/user.ts"],
      ["http server", "src/user.ts"],
      ["evict oldest", "src/cache.py"],
      ["least recently used", "src/cache.py"],
      ["billing", "en/billing.txt"],
    ])("%s", async (text, expected) => expect((await find(text))[0]).toBe(expected));

    it.each([
      ["ﾊﾟｽﾜｰﾄﾞ", "パスワード"],
      ["パスワード".normalize("NFD"), "パスワード"],
      ["ＶＰＮ", "vpn"],
      ["ﾌﾟﾘﾝﾀｰの設定", "プリンターの設定"],
    ])("%s finds what %s finds, in the same order", async (variant, plain) => {
      expect(await hits(variant)).toEqual(await hits(plain));
      expect((await hits(plain)).length).toBeGreaterThan(0);
    });

    it.each([
      ["ぱすわーど", "パスワード"],
      ["ぷりんた", "プリンタ"],
      ["ぷりんたーの設定", "プリンターの設定"],
    ])("%s finds the documents that %s finds", async (variant, plain) => {
      expect(await find(variant)).toEqual(await find(plain));
      expect((await find(plain)).length).toBeGreaterThan(0);
    });

    it("finds every word of one and two characters wherever it occurs", async () => {
      const dense = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu;
      const words = new Set(
        corpus
          .flatMap(({ text }) => text.match(dense) ?? [])
          .flatMap((run) => [...run].flatMap((one, at) => [one, run.slice(at, at + 2)])),
      );
      expect(words.size).toBeGreaterThan(150);
      for (const word of words) {
        const holding = corpus.filter(({ text }) => text.includes(word)).map(({ entry }) => entry.path);
        expect(await find(word)).toEqual(expect.arrayContaining(holding));
      }
    });

    it.each([
      ["lang:ja 設定", ["ja/password.md", "ja/printer.md"]],
      ["lang:zh 设置", ["zh/settings.txt"]],
      ["lang:ko 설정", ["ko/network.txt"]],
      ["lang:en network", ["en/vpn.txt"]],
      ["lang:code user", ["src/user.ts"]],
      ["설정 -lang:ko", []],
      ["設定 path:printer", ["ja/printer.md"]],
      ["設定 path:*.md -path:pass", ["ja/printer.md"]],
      ["設定 path:JA/*", ["ja/password.md", "ja/printer.md"]],
      ["設定 mime:text/markdown", ["ja/password.md", "ja/printer.md"]],
      ["設定 mime:markdown", ["ja/password.md", "ja/printer.md"]],
      ["設定 mime:text/*", ["ja/password.md", "ja/printer.md"]],
      ["設定 mime:image/*", []],
      ["設定 source:docs", ["ja/password.md", "ja/printer.md"]],
      ["設定 source:other", []],
      ["path:budget", ["ja/budget.txt"]],
      ["path:ja/ -パスワード", ["ja/budget.txt", "ja/printer.md"]],
    ])("%s", async (text, expected) => expect((await find(text)).sort()).toEqual(expected));

    it("can be searched within a path", async () => {
      expect((await find("設定", { within: "ja" })).sort()).toEqual(["ja/password.md", "ja/printer.md"]);
      expect(await find("設定", { within: "ja/printer.md" })).toEqual(["ja/printer.md"]);
      expect(await find("設定", { within: "j" })).toEqual([]);
      expect(await find("設定", { mounts: [] })).toEqual([]);
    });

    it.each([
      ['"office network"', ["en/vpn.txt"]],
      ['"network office"', []],
      ['"再設定の手続き"', ["ja/password.md"]],
      ['"再設定の手順"', []],
      ['"詰まった" "カバーを開け"', ["ja/printer.md"]],
      ['"犬"', ["ja/budget.txt"]],
      ['"user.ts"', ["src/user.ts"]],
      ['network -"office network"', ["ko/network.txt"]],
      ["network -restart", ["ko/network.txt"]],
      ["days -nothing", ["en/billing.txt"]],
      ["設定 -紙", ["ja/password.md"]],
    ])("%s", async (text, expected) => expect(await find(text)).toEqual(expected));

    it("corrects a typing error in an unknown word, and only there", async () => {
      expect([await find("certifcate"), await find("invioces"), await find("xertificate"), await find("vpm")]).toEqual([
        ["en/vpn.txt"],
        ["en/billing.txt"],
        [],
        [],
      ]);
      expect([await find("refind"), await find("refixd")]).toEqual([["en/billing.txt"], []]);
    });

    it("finds an unfinished word while it is typed", async () => {
      for (const typed of [
        "inv",
        "invoi",
        "invoices",
        "monthl",
        "monthly",
        "certif",
        "certificates",
        "getUs",
        "パスワ",
        "비밀",
      ]) {
        expect((await find(typed, { typing: true })).length, typed).toBeGreaterThan(0);
      }
      expect(await find("inv")).toEqual([]);
      expect(await find("inv ", { typing: true })).toEqual([]);
    });

    it("gives the position of the passage, and marks the matches", async () => {
      const [hit] = await hits("getUserName");
      expect(hit).toMatchObject({ mount: "docs", entry: { path: "src/user.ts" }, lines: [1, 4], offset: 0 });
      expect(hit!.marks.map(([from, to]) => hit!.snippet.slice(from, to))).toContain("getUserName");
      const [dog] = await hits("犬");
      expect(dog!.marks.map(([from, to]) => dog!.snippet.slice(from, to))).toEqual(["犬"]);
      const [company] = await hits("株式会社");
      expect(company!.marks.map(([from, to]) => company!.snippet.slice(from, to))).toEqual(["㍿"]);
    });
  });

  describe("in a separate index", () => {
    beforeEach(open);
    afterEach(close);

    it("a long document is shown at the matching passage", async () => {
      const filler = Array.from(
        { length: 40 },
        (_, at) => `## Section ${at}\n\n${"Something that has nothing to do with it. ".repeat(20)}\n`,
      ).join("\n");
      const text = `# Manual\n\n${filler}\n## Certificates\n\nRenew a certificate before it expires.\n\n${filler}`;
      await store.put([document("manual.md", text), document("other.md", "A word on something else.")]);
      const [hit] = await hits("renew certificate");
      const line = text.split("\n").indexOf("## Certificates") + 1;
      expect(hit!.lines).toEqual([line, line + 2]);
      expect(hit!.snippet).toContain("Renew a certificate");
      expect(text.slice(hit!.offset, hit!.offset + hit!.snippet.length)).toBe(hit!.snippet);
    });

    it("priority and recency decide between equal matches only", async () => {
      const now = new Date().toISOString();
      await store.put([
        document("plain", "how to rotate keys"),
        document("new", "how to rotate keys", { annotations: { lastModified: now } }),
        document("important", "how to rotate keys", { annotations: { priority: 1 } }),
        document("unimportant", "how to rotate keys", { annotations: { priority: 0 } }),
        document("loud", "something about keys, long and wide, with more words than are needed", {
          annotations: { priority: 1, lastModified: now },
        }),
      ]);
      expect(await find("rotate keys")).toEqual(["important", "new", "plain", "unimportant", "loud"]);
      expect(await find("path:n")).toEqual(["important", "unimportant", "new", "plain"]);
    });

    it("after: filters by the time of the last change", async () => {
      await store.put([
        document("old", "report", daysAgo(30)),
        document("new", "report", daysAgo(2)),
        document("unknown", "report"),
      ]);
      expect(await find("report after:7d")).toEqual(["new"]);
      expect((await find("after:60d")).sort()).toEqual(["new", "old"]);
    });

    it("priority: and audience: filter by the annotations of the resource", async () => {
      await store.put([
        document("high", "report", { annotations: { priority: 0.9, audience: ["user"] } }),
        document("low", "report", { annotations: { priority: 0.2, audience: ["assistant"] } }),
        document("unknown", "report"),
      ]);
      expect(await find("report priority:0.8")).toEqual(["high"]);
      expect((await find("priority:0.2")).sort()).toEqual(["high", "low"]);
      expect((await find("report audience:user")).sort()).toEqual(["high", "unknown"]);
      expect((await find("audience:assistant")).sort()).toEqual(["low", "unknown"]);
    });

    it("titles and names are searched, and count", async () => {
      await store.put([
        document("x1", "nothing here", { title: "Quarterly figures" }),
        document(
          "x2",
          "quarterly figures are mentioned in passing in this longer text about something else altogether",
        ),
        document("reports/2026/q3.csv", "x,y"),
      ]);
      expect(await find("quarterly figures")).toEqual(["x1", "x2"]);
      expect(await find("q3.csv")).toEqual(["reports/2026/q3.csv"]);
      expect((await hits("q3.csv"))[0]).toMatchObject({ snippet: "x,y", marks: [], lines: [1, 1] });
    });

    it("mounts are separate", async () => {
      await store.put([document("a", "word", {}, "one"), document("a", "word", {}, "two")]);
      expect((await hits("word")).map(({ mount }) => mount).sort()).toEqual(["one", "two"]);
      expect((await hits("word", { mounts: ["two"] })).map(({ mount }) => mount)).toEqual(["two"]);
      expect((await hits("word source:one")).map(({ mount }) => mount)).toEqual(["one"]);
    });

    it("filtered documents do not displace others", async () => {
      await store.put([
        ...Array.from({ length: 3000 }, (_, at) => document(`many/${at}`, "wanted word ".repeat(5))),
        ...Array.from({ length: 3000 }, (_, at) => document(`more/${at}`, "other")),
        document("few/1", "the wanted word, once, among a good number of others that do not matter"),
      ]);
      expect(await find("wanted word", { within: "few", limit: 1 })).toEqual(["few/1"]);
      expect(await find("wanted word -path:many", { limit: 1 })).toEqual(["few/1"]);
      expect(await find("wanted word -wordless -matter", { limit: 2 })).toHaveLength(2);
      expect(await find('"others that do not"', { limit: 1 })).toEqual(["few/1"]);
    });

    it("a line of ten megabytes is indexed and found", async () => {
      const text = `${"lorem ipsum dolor ".repeat(280_000)}needle ${"sit amet elit ".repeat(360_000)}`;
      await store.put([document("big.txt", text)]);
      const [hit] = await hits("needle");
      expect(hit!.offset).toBeGreaterThan(5_000_000);
      expect(text.slice(hit!.offset, hit!.offset + hit!.snippet.length)).toBe(hit!.snippet);
      expect(hit!.snippet).toContain("needle");
      expect(hit!.lines).toEqual([1, 1]);
    });

    it("binary data labelled as text is indexed by its name only", async () => {
      const bytes = Buffer.from(Array.from({ length: 200_000 }, (_, at) => (at * 7919 + (at >> 8) * 31) % 256));
      await store.put([
        document("image.txt", bytes.toString("latin1"), { mimeType: "text/plain" }),
        document("image2.txt", bytes.toString("utf8")),
      ]);
      expect((await find("image.txt"))[0]).toBe("image.txt");
      expect((await hits("image"))[0]).toMatchObject({ snippet: "", offset: 0, marks: [], lines: [1, 1] });
      expect(await store.counts()).toEqual([{ mount: "docs", documents: 2, passages: 2 }]);
    });

    it("special characters in a query are only words", async () => {
      await store.put([document("a", "word (.*) [a-z] % _ ' \" ; drop table documents")]);
      for (const text of [
        "word*",
        "word^2",
        "NEAR(word a)",
        "{a b}: word",
        "word'); drop table documents; --",
        "a AND word",
        "(.*)+$ word",
        "% _ word",
        "word \0 \ud800",
      ])
        expect(await find(text), text).toEqual(["a"]);
      expect(await find("x' OR 1=1 path:%")).toEqual([]);
      await expect(find(`word path:{${"a,".repeat(1500)}b}`)).rejects.toThrow(
        expect.objectContaining({ kind: "invalid" }),
      );
      expect(await store.counts()).toHaveLength(1);
    });

    it("a long query works", async () => {
      await store.put([document("a", "certificate renewal"), document("b", "something else")]);
      const unknown = Array.from({ length: 700 }, (_, at) => `unknown${at}`)
        .join(" ")
        .slice(0, 9000);
      expect((await find(`certificate ${unknown}`))[0]).toBe("a");
    });

    it("snippets and marks match the original text, whatever the text", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(trouble, { minLength: 1, maxLength: 30 }), fc.nat(), async (pieces, seed) => {
          const text = pieces.join(" ");
          await store.put([document("a", text)]);
          const tokens = tokenize(text);
          const asked = tokens[seed % Math.max(1, tokens.length)];
          if (!asked) return;
          const question = text.slice(asked.from, asked.to).replace(/["“”„＂:-]/gu, " ");
          if (tokenize(question).length === 0) return;
          for (const { snippet, offset, marks, lines } of await hits(question)) {
            expect(text.slice(offset, offset + snippet.length)).toBe(snippet);
            expect(lines[0]).toBeLessThanOrEqual(text.slice(0, offset).split("\n").length);
            expect(lines[1]).toBeGreaterThanOrEqual(
              text
                .slice(0, offset + snippet.length)
                .trimEnd()
                .split("\n").length,
            );
            const terms = new Set(tokenize(question).map(({ term }) => term));
            let before = 0;
            for (const [from, to] of marks) {
              expect(from).toBeGreaterThanOrEqual(before);
              expect(to).toBeGreaterThan(from);
              expect(to).toBeLessThanOrEqual(snippet.length);
              const marked = tokenize(snippet.slice(from, to)).map(({ term }) => term);
              expect(marked.some((term) => terms.has(term) || [...terms].some((one) => term.startsWith(one)))).toBe(
                true,
              );
              before = to;
            }
          }
        }),
        { numRuns: 100 },
      );
    });
  });
}
