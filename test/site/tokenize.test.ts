import { expect, it } from "vitest";
import { tokenize } from "../../site/.vitepress/tokenize.ts";

it("splits words at spaces and punctuation, and Japanese into pairs", () => {
  expect(tokenize("pressmark.config.yaml: 設定の例, search_resources")).toEqual(
    "pressmark config yaml 設定 定の の例 search_resources".split(" "),
  );
  expect(tokenize("木 サーバー2台")).toEqual(["木", "サー", "ーバ", "バー", "2", "台"]);
});

it("runs from its source alone, as VitePress runs it in the browser", () => {
  const sent = new Function(`return ${tokenize.toString()}`)() as typeof tokenize;
  expect(sent("検索 index")).toEqual(["検索", "index"]);
});
