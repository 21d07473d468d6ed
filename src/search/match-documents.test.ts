import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { contentWordsOf } from "./content-words.ts";
import { createQueryMatcher, matching } from "./query-match.ts";
import { openStore } from "./sqlite-store.ts";
import type { IndexedDocument, IndexStore, StoreQuery } from "./store.ts";
import { createVisibility } from "./visibility.ts";

let folder: string;
let store: IndexStore;
const open = (): void => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-match-"));
  store = openStore(join(folder, "index.db"));
};
const close = (): void => {
  store.close();
  rmSync(folder, { recursive: true });
};
const document = (path: string, text: string, more: Partial<IndexedDocument["entry"]> = {}): IndexedDocument => ({
  mount: "docs",
  entry: { path, ...more },
  text,
});
const search = (text: string, more: Partial<StoreQuery> = {}) => store.search({ text, limit: 100, ...more });
const paths = (text: string, more: Partial<StoreQuery> = {}): string[] =>
  search(text, more).map(({ entry }) => entry.path);
const matches = (text: string, more: Partial<StoreQuery> = {}): string[] =>
  search(text, more)
    .filter(({ isMatch }) => isMatch)
    .map(({ entry }) => entry.path)
    .sort();

describe("a hit", () => {
  beforeAll(() => {
    open();
    store.put([
      document(
        "en/keys.md",
        "# Rotating keys\n\nHow keys are rotated, and a user name. Connection refused, they said.",
      ),
      document("en/users.md", "# Users\n\nGet the name of a user, and rotate nothing. The connection was refused."),
      document("src/user.ts", "export function get_user_name(id: number) {\n  return id;\n}\n"),
      document("docs/auth.md", "# Sign-in\n\nNothing else.", { title: "Sign-in", description: "Widget 4999" }),
      document("docs/other.md", "auth and md, docs of widgets, 49 99"),
      document("ja/reset.md", "# パスワードの再設定\n\nパスワードを忘れた場合は、再設定の手続きをする。サクラ"),
      document("ja/parts.md", "設再と定設。パスタとワード。さくらの木を見る。再び設定する。"),
    ]);
  });
  afterAll(close);

  it.each<[text: string, expected: readonly string[], more?: Partial<StoreQuery>]>([
    ["rotated keys", ["en/keys.md"]],
    ["how do I rotate the keys?", ["en/keys.md"]],
    ["ＲＯＴＡＴＥ ｋｅｙｓ", ["en/keys.md"]],
    ["keys users", ["en/keys.md"]],
    ["getUserName", ["src/user.ts"]],
    ["get-user-name", ["src/user.ts"]],
    ["user name", ["en/keys.md", "en/users.md", "src/user.ts"]],
    ["setUserName", []],
    ["docs/auth.md", ["docs/auth.md"]],
    ["auth.md", ["docs/auth.md"]],
    ["widget 4999", ["docs/auth.md"]],
    ['"connection refused"', ["en/keys.md"]],
    ["connection refused", ["en/keys.md", "en/users.md"]],
    ["conection refused", []],
    ["rotat", ["en/keys.md", "en/users.md"], { typing: true }],
    ["rota", []],
    ["getUserNa", ["src/user.ts"], { typing: true }],
    ["再設定", ["ja/reset.md"]],
    ["パスワードを忘れたときはどうすればよいですか", ["ja/reset.md"]],
    ["ﾊﾟｽﾜｰﾄﾞ", ["ja/reset.md"]],
    ["ぱすわーど", ["ja/reset.md"]],
    ["さくら", ["ja/parts.md", "ja/reset.md"]],
    ["サクラ", ["ja/parts.md", "ja/reset.md"]],
    ["設定", ["ja/parts.md", "ja/reset.md"]],
    ["木", ["ja/parts.md"]],
    ["再設定 印刷", []],
    ["path:ja", ["ja/parts.md", "ja/reset.md"]],
    ["the", ["en/users.md"]],
  ])("of %s", (text, expected, more) => expect(matches(text, more)).toEqual(expected));

  it("that is only similar is still found", () => {
    expect(paths("setUserName").length).toBeGreaterThan(0);
    expect(paths("conection refused").length).toBeGreaterThan(0);
    expect(paths("再設定 印刷")).toContain("ja/parts.md");
  });
});

describe("the content words of a query", () => {
  it.each([
    ["how do I rotate the keys", ["rotat", "key"]],
    ["don't what's it", []],
    ["std::vector v1.2 2026-01-31", ["std vector", "v 1 2", "2026 01 31"]],
    ["西暦何年に誰が東京タワーを建てたか", ["西暦", "東京", "タワ ワー", "建"]],
    ["Node.js入門", ["node js", "入門"]],
  ])("%s", (text, expected) => {
    expect(contentWordsOf(text, false).map(({ phrase }) => phrase.map(({ term }) => term).join(" "))).toEqual(expected);
  });
});

describe("the order", () => {
  beforeEach(open);
  afterEach(close);

  it.each([
    ["config.yaml", "port: 1\n\ntimeoutSeconds: 3\n", "timeoutSeconds"],
    ["config.json", '{\n  "port": 1,\n  "timeoutSeconds": { "a": 3 }\n}\n', "timeoutSeconds"],
    ["config.toml", "[待ち時間]\nport = 1\n", "待ち時間"],
  ])("puts a key of %s before many texts that mention it", (path, text, key) => {
    const filler = "other: values of no interest\n".repeat(20);
    store.put([
      ...Array.from({ length: 150 }, (_, at) => document(`notes/${at}.md`, `${key} ${key} ${key}`)),
      document(path, path.endsWith("yaml") ? text + filler : text),
    ]);
    expect(search(key, { limit: 30 })[0]!.entry.path).toBe(path);
  });

  it("puts matches first, also those that the score alone would not put among the best", () => {
    const many = Array.from({ length: 60 }, (_, at) => document(`many/${at}`, "rotate rotate rotate"));
    const filler = "nothing of interest here ".repeat(200);
    store.put([...many, document("match", `${filler} rotate ${filler} keys`)]);
    expect(paths("rotate keys", { limit: 3 })[0]).toBe("match");
    expect(search("rotate keys", { limit: 3 }).map(({ isMatch }) => isMatch)).toEqual([true, false, false]);
  });

  it("keeps a match in the result, however many similar documents score higher", () => {
    const words = ["invoice", "refund", "deadline"];
    const notes = Array.from({ length: 120 }, (_, at) =>
      document(`notes/${at}`, words.filter((_word, index) => index !== at % 3).join(" ")),
    );
    const filler = "nothing of interest here ".repeat(80);
    store.put([...notes, document("guide.md", words.map((word) => `# About\n\n${filler} ${word}`).join("\n\n"))]);
    for (const limit of [1, 5, 30, 110]) {
      expect(matches(words.join(" "), { limit })).toEqual(["guide.md"]);
      expect(paths(words.join(" "), { limit })).toHaveLength(limit);
    }
  });

  it("keeps a match in the result if many documents have its characters in another order", () => {
    const others = Array.from({ length: 60 }, (_, at) => document(`others/${at}`, "設定、再設"));
    store.put([...others, document("match", `${"何もない話。".repeat(100)}再設定${"何もない話。".repeat(100)}`)]);
    expect(matches("再設定", { limit: 5 })).toEqual(["match"]);
  });

  it.each([
    ["createSearcher", "lib/a.ts", "export function createSearcher() {\n  return 1;\n}\n"],
    ["create_searcher", "lib/a.py", "def create_searcher():\n    return 1\n"],
    ["CreateSearcher", "lib/a.go", "package a\n\nfunc CreateSearcher() int {\n\treturn 1\n}\n"],
    ["再設定の手順", "lib/a.md", "# 案内\n\n## 再設定の手順\n\n電源を切る。\n"],
  ])("puts the definition of %s before its uses", (name, path, text) => {
    const use = `${name} ${name}\n`.repeat(3);
    store.put([
      ...Array.from({ length: 40 }, (_, at) => document(`uses/${at}.txt`, use)),
      document(
        path,
        `${"A long preface of other things. ".repeat(20)}\n\n${text}\n${"More of other things. ".repeat(20)}`,
      ),
    ]);
    const [first, second] = search(name, { limit: 5 });
    expect(first!.entry.path).toBe(path);
    expect(first!.snippet).toContain(name);
    expect(second!.isMatch).toBe(true);
  });

  it("finds the definition although other files have many passages with the name", () => {
    const test = `it("works", () => {\n${"  frobnicate(1);\n".repeat(50)}});\n\n`;
    const filler = "// Nothing of interest here.\n".repeat(50);
    store.put([
      document("test/frobnicate.test.ts", test.repeat(140)),
      document("lib/impl.ts", `${filler}\nexport function frobnicate() {\n  return 1;\n}\n\n${filler}`),
    ]);
    const [first] = search("frobnicate", { limit: 5 });
    expect(first!.entry.path).toBe("lib/impl.ts");
    expect(first!.snippet).toContain("export function");
  });

  it("puts what has the query as its name, title or path first", () => {
    const said = "docs/auth.md and README, quarterly report; ".repeat(10);
    store.put([
      ...Array.from({ length: 40 }, (_, at) => document(`said/${at}`, said)),
      document("docs/auth.md", "x"),
      document("README.md", "x"),
      document("q3.csv", "x", { title: "Quarterly report" }),
    ]);
    expect(paths("docs/auth.md")[0]).toBe("docs/auth.md");
    expect(paths("readme")[0]).toBe("README.md");
    expect(paths("quarterly report")[0]).toBe("q3.csv");
    expect(paths('"quarterly report"')[0]).toBe("q3.csv");
  });

  it("finds the document with the name among others with the word in their paths", () => {
    store.put([
      ...Array.from({ length: 20 }, (_, at) => document(`auth/${at}.txt`, "nothing of interest, auth")),
      document("x/auth.md", "nothing of interest ".repeat(20)),
    ]);
    expect(paths("auth", { limit: 3 })[0]).toBe("x/auth.md");
  });

  it("finds the document with the name among many with higher scores", () => {
    store.put([
      ...Array.from({ length: 100 }, (_, at) => document(`config/config-${at}.md`, "config config")),
      ...Array.from({ length: 100 }, (_, at) => document(`設定/設定-${at}.md`, "設定と設定")),
      document("lib/config.ts", "nothing of interest ".repeat(50)),
      document("lib/設定.ts", "nothing of interest ".repeat(50)),
    ]);
    expect(paths("config", { limit: 3 })[0]).toBe("lib/config.ts");
    expect(paths("設定", { limit: 3 })[0]).toBe("lib/設定.ts");
  });

  it("reads a long phrase of repeated characters", () => {
    store.put([document("a", "あ".repeat(400)), document("b", "ああ")]);
    expect(matches(`"${"あ".repeat(300)}"`)).toEqual(["a"]);
    expect(matches("ククク")).toEqual([]);
  });

  it("and the matches do not depend on hidden documents", () => {
    const seen = [document("a", "rotate keys often"), document("b", "rotate"), document("c", "keys")];
    store.put(seen);
    const expected = search("rotate keys");
    store.put([document("hidden", "# rotate keys\n\nrotate keys", { title: "rotate keys" })]);
    const addresses = store.addresses(0, 100);
    const visibility = createVisibility();
    const visible = addresses.flatMap(({ id, path }) => (path === "hidden" ? [] : [id]));
    visibility.decide(addresses.at(-1)!.id, visible, [], false);
    expect(search("rotate keys", { visibility })).toEqual(expected);
  });
});

describe("for any texts and queries", () => {
  const words = fc.constantFrom(
    ..."jwt verify verifies token user name getUserName get_user_name docs/auth.md the how 4999".split(" "),
    ..."設定 再設定 定再設 パスワード ぱすわーど さくら サクラ 忘れた手順 東京タワー".split(" "),
  );
  const texts = fc.array(fc.array(words, { maxLength: 6 }), { minLength: 1, maxLength: 8 });
  beforeEach(open);
  afterEach(close);

  it("another word never adds a match, and the index decides as the text does", () => {
    fc.assert(
      fc.property(texts, fc.array(words, { minLength: 1, maxLength: 3 }), words, (all, asked, another) => {
        const documents = all.map((each, at) => document(String(at), each.join(at % 2 === 0 ? " " : "、")));
        store.removeBelow("docs", "");
        store.put(documents);
        const content = asked.filter((word) => word !== "the" && word !== "how");
        fc.pre(content.length > 0);
        const before = matches(asked.join(" "));
        const isMatch = createQueryMatcher(asked.join(" "));
        expect(before).toEqual(
          documents
            .filter(({ entry, text }) => isMatch({ path: entry.path, snippet: text }) >= matching)
            .map(({ entry }) => entry.path),
        );
        expect(before).toEqual(expect.arrayContaining(matches([...asked, another].join(" "))));
        expect(before).toEqual(expect.arrayContaining(matches([another, ...asked].join(" "))));
        for (const limit of [1, 2, 3]) expect(matches(asked.join(" "), { limit }).length > 0).toBe(before.length > 0);
        const tiers = search(asked.join(" ")).map(({ tier }) => tier);
        expect(tiers).toEqual(tiers.toSorted((left, right) => right - left));
      }),
      { numRuns: 60 },
    );
  });
});
