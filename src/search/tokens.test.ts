import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fold, foldText, foldedText } from "./fold.ts";
import { tokenize } from "./tokens.ts";
import { trouble } from "./test-texts.ts";

const terms = (text: string): string[] => tokenize(text).map(({ term }) => term);
const cut = (text: string): string[] => tokenize(text).map(({ from, to }) => text.slice(from, to));

describe("different forms of a word give one term", () => {
  it.each([
    ["half-width kana", "ﾊﾟｽﾜｰﾄﾞ", "パスワード"],
    ["half-width kana with a separate sound mark", "ｶ\u3099", "ガ"],
    ["one character for a unit", "㌔", "キロ"],
    ["full-width letters", "ＡＰＩ４２", "API42"],
    ["decomposed kana", "パスワード".normalize("NFD"), "パスワード"],
    ["decomposed accents", "re\u0301sume\u0301", "resume"],
    ["accents", "Ünïcödé", "unicode"],
    ["a ligature", "ﬁle", "file"],
    ["one character for a company", "㍿", "株式会社"],
    ["a radical from a PDF", "売上⾼", "売上高"],
    ["decomposed Hangul", "한국어".normalize("NFD"), "한국어"],
    ["sharp s", "STRASSE", "straße"],
    ["a capital with a dot", "İstanbul", "istanbul"],
    ["sigma at the end", "ΛΌΓΟΣ", "λόγος"],
    ["an ending", "indexes", "index"],
    ["a possessive", "user's", "user"],
  ])("%s", (_, left, right) => {
    expect(terms(left)).toEqual(terms(right));
    expect(terms(left).length).toBeGreaterThan(0);
  });
});

it("katakana and hiragana are different terms", () => expect(terms("マス")).not.toEqual(terms("ます")));

describe("identifiers give the whole and its parts", () => {
  it.each([
    ["getUserName", ["getusernam", "get", "user", "name"]],
    ["get_user_name", ["getusernam", "get", "user", "name"]],
    ["get-user-name", ["getusernam", "get", "user", "name"]],
    ["HTTPServer2", ["httpserver2", "http", "server", "2"]],
    ["MAX_VALUE", ["maxvalu", "max", "valu"]],
    ["utf8", ["utf8", "utf", "8"]],
    ["2026-11-15", ["2026", "11", "15"]],
  ])("%s", (text, expected) => expect(terms(text)).toEqual(expected));

  it("a hash is one term", () => {
    expect(terms("3f9a0c1d2e4b5a6f7c8d9e0f")).toEqual(["3f9a0c1d2e4b5a6f7c8d9e0f"]);
  });
  it("a very long word is cut", () => {
    expect(terms("x".repeat(100_000))).toEqual(["x".repeat(64)]);
  });
});

describe("text without spaces", () => {
  it("gives every two neighbours, and the last character alone", () => {
    expect(terms("再設定を")).toEqual(["再設", "設定", "定を", "を"]);
    expect(terms("犬")).toEqual(["犬"]);
    expect(terms("한국어 검색")).toEqual(["한국", "국어", "어", "검색", "색"]);
  });
  it("continues on the next line", () => {
    expect(terms("再設\r\n  定")).toEqual(["再設", "設定", "定"]);
    expect(terms("再設\n\n定")).toEqual(["再設", "設", "定"]);
    expect(terms("검색\n한국")).toEqual(["검색", "색", "한국", "국"]);
  });
  it("does not cut characters of two code units", () => expect(terms("𠮷野家")).toEqual(["𠮷野", "野家", "家"]));
  it("stands beside words", () => expect(terms("Dockerの設定")).toEqual(["docker", "の設", "設定", "定"]));
});

it("positions count words and characters", () => {
  expect(tokenize("getUserName 設定 画面 x").map(({ term, position }) => [term, position])).toEqual([
    ["getusernam", 0],
    ["get", 0],
    ["user", 1],
    ["name", 2],
    ["設定", 3],
    ["定", 4],
    ["画面", 5],
    ["面", 6],
    ["x", 7],
  ]);
});

it("every token has its position in the text", () => {
  expect(cut("(getUserName) ㍿のｶﾞﾗｽ, e\u0301te\u0301's 𠮷a")).toEqual([
    "getUserName",
    "get",
    "User",
    "Name",
    "㍿",
    "㍿",
    "㍿",
    "㍿の",
    "のｶﾞ",
    "ｶﾞﾗ",
    "ﾗｽ",
    "ｽ",
    "e\u0301te\u0301",
    "𠮷",
    "a",
  ]);
});

it("half a surrogate pair ends a word", () => {
  expect(terms("𝒜\udc00𐊠")).toEqual(["a", "𐊠"]);
});

it("a capital of two code units is not split", () => {
  expect(terms("𖹀𐩠")).toEqual(["𖹠𐩠"]);
});

it("the text of a token gives that token again, whatever the text", () => {
  fc.assert(
    fc.property(trouble, (text) => {
      let before = 0;
      for (const { term, from, to } of tokenize(text)) {
        expect(from).toBeGreaterThanOrEqual(before);
        expect(to).toBeGreaterThan(from);
        expect(to).toBeLessThanOrEqual(text.length);
        const piece = text.slice(from, to);
        // One character that folds to several letters may be cut between them, as ㏋ is in ㏋a.
        if (!foldText(piece).toLowerCase().includes(term)) expect(terms(piece)).toContain(term);
        before = from;
      }
    }),
    { numRuns: 400 },
  );
});

it("folding is idempotent", () => {
  fc.assert(
    fc.property(trouble, (text) => {
      expect(foldText(foldText(text))).toBe(foldText(text));
    }),
    { numRuns: 400 },
  );
});

it("folded text maps positions back to the original", () => {
  fc.assert(
    fc.property(trouble, (text) => {
      const { units, from, to } = fold(text);
      for (let at = 0; at < units.length; at += 1) {
        expect(foldText(text.slice(from(at), to(at)))).toContain(foldedText(units, at, at + 1));
        if (at > 0) expect(from(at)).toBeGreaterThanOrEqual(from(at - 1));
      }
    }),
    { numRuns: 400 },
  );
});
