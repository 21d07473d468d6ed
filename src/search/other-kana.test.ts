import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { occurrencesOf, kanaWordsOf } from "./kana-words.ts";
import { openStore } from "./sqlite-store.ts";
import type { IndexStore } from "./store.ts";

const texts = {
  "master.md": "商品マスタを登録する。",
  "politely.md":
    "毎朝、開店の前に棚を確かめます。終わりましたら、責任者に伝えます。迷ったときは相談しますと答えてください。",
  "sakura-hiragana.md": "公園のさくらがきれいだ。",
  "sakura-katakana.md": "サクラの木は川沿いに並ぶ。",
  "site.md": "サイトの更新は月曜に行う。",
  "small.md": "文字が小さいと読めない。返してくださいと頼んだ。行かないと困る。",
  "gomi.md": "ごみ箱は裏口にある。",
  "screw.md": "ねじを締める。",
  "password.md": "パスワードを忘れたとき",
  "dolphin.md": "水族館ではイルカが泳ぐ。",
  "asking.md": "開いているかどうかを聞く。",
};

let folder: string;
let store: IndexStore;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-kana-"));
  store = openStore(join(folder, "index.db"));
  store.put(Object.entries(texts).map(([path, text]) => ({ mount: "docs", entry: { path }, text })));
});
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});
const hits = (text: string) => store.search({ text, limit: 20, mounts: ["docs"] });
const find = (text: string): string[] => hits(text).map(({ entry }) => entry.path);
const marked = (text: string): string[][] =>
  hits(text).map(({ snippet, marks }) => marks.map(([from, to]) => snippet.slice(from, to)));

describe("the kana as typed ranks first", () => {
  it.each([
    ["さくら", ["sakura-hiragana.md", "sakura-katakana.md"]],
    ["サクラ", ["sakura-katakana.md", "sakura-hiragana.md"]],
    ["ｻｸﾗ", ["sakura-katakana.md", "sakura-hiragana.md"]],
  ])("%s", (text, expected) => {
    expect(find(text)).toEqual(expected);
    expect(marked(text)).toEqual(text === "さくら" ? [["さくら"], ["サクラ"]] : [["サクラ"], ["さくら"]]);
  });

  it.each([
    ["さくら", "サクラ"],
    ["サクラ", "さくら"],
  ])("%s, wherever each occurs", (typed, other) => {
    const filler = "天気予報によれば明日は晴れ、気温は平年並みで風は弱い。".repeat(12);
    const entry = { path: `${other}/${other}.md`, title: other };
    store.put([
      { mount: "few", entry, text: `# ${other}\n\n${other} `.repeat(9) },
      { mount: "few", entry: { path: "long.md" }, text: `${filler}${typed}が咲く。${filler}` },
      ...["部分.md", "断片.md"].map((path) => ({ mount: "few", entry: { path }, text: `${typed.slice(1)}い` })),
    ]);
    const search = (text: string) => store.search({ text, limit: 2, mounts: ["few"] }).map((hit) => hit.entry.path);
    expect(search(typed)).toEqual(["long.md", entry.path]);
    // A removed document leaves its terms in the index for a while.
    store.remove("few", [entry]);
    expect(search(typed)).not.toContain(entry.path);
  });
});

it("as typed is first also inside another word", () => {
  store.put([
    { mount: "raw", entry: { path: "raw.md" }, text: "台所の生ごみは毎朝出す。" },
    { mount: "raw", entry: { path: "ゴミ.md", title: "ゴミ" }, text: "ゴミの日" },
  ]);
  const found = store.search({ text: "ごみ", limit: 9, mounts: ["raw"] }).map(({ entry }) => entry.path);
  expect(found).toEqual(["raw.md", "ゴミ.md"]);
});

describe("the other kana is found as a word", () => {
  it.each([
    ["ゴミ箱", "gomi.md", ["ごみ"]],
    ["ネジ", "screw.md", ["ねじ"]],
    ["ぱすわーど", "password.md", ["パスワード"]],
    ["ぱすわーどを忘れた", "password.md", ["パスワードを忘れた"]],
    ["いるか", "dolphin.md", ["イルカ"]],
  ])("%s", (text, expected, marks) => {
    expect(find(text)).toContain(expected);
    expect(hits(text).map(({ entry }, at) => [entry.path, marked(text)[at]!.join("|")])).toContainEqual([
      expected,
      marks.join("|"),
    ]);
  });
});

describe("grammar is not a word in the other kana", () => {
  it.each([
    ["マスタ", ["master.md"]],
    ["サイト", ["site.md"]],
    ["ナイト", ["site.md"]],
    ["スル", []],
    ["ナイ", []],
    ["カラ", []],
    ["マス", ["master.md"]],
    ["イルカ", ["dolphin.md"]],
    ["ノ", []],
    ["ハ", []],
    ['"サクラ"', ["sakura-katakana.md"]],
    ["サクラ -さくら", ["sakura-katakana.md"]],
  ])("%s", (text, expected) => expect(find(text)).toEqual(expected));

  it("nor in the query", () => {
    expect(find("確かめます")).not.toContain("master.md");
    expect(find("ます")).not.toContain("master.md");
  });
});

const words = (text: string): string[] => kanaWordsOf(text).map(({ other }) => other);

it("words of a query are those with meaning", () => {
  expect(words("さくらを見ました")).toEqual(["サクラ"]);
  expect(words("設定しています。データの")).toEqual(["でーた"]);
  expect(words("Webサーバーが落ちた")).toEqual(["さーばー"]);
});

it.each([
  ["さいと", "小さいと思う", []],
  ["さいと", "くださいと言う", []],
  ["いか", "ないかと思う", []],
  ["いか", "新鮮ないかの料理", []],
  ["いか", "いかの料理", [0]],
  ["めも", "ためもある", []],
  ["めも", "会議のめもを取る", [3]],
  ["ばす", "すればすぐ着く", []],
  ["えら", "名が与えられた", []],
  ["とら", "措置がとられた", []],
  ["とら", "檻のとらを見る", [2]],
  ["ごみ", "燃えるごみ、ごみ箱", [3, 6]],
  ["サク", "サクサク", [0, 2]],
])("%s in %s", (word, text, expected) => expect(occurrencesOf(word, text)).toEqual(expected));

it("a text of one syllable takes no longer than a sentence", () => {
  expect(occurrencesOf("いか", "いか".repeat(100_000)).length).toBeLessThanOrEqual(16);
});
