/** Texts about keys: shown only where there is a keyboard. */
import type { KeyNames } from "./key-names.ts";

export interface HintOptions extends KeyNames {
  readonly mayGather: boolean;
}

export const keysInEnglish = {
  hints: {
    tree: () => "Arrows move · Enter opens · Space chooses · / searches · letters jump",
    templates: () => "Tab moves on · Enter opens or accepts",
    gather: ({ mayGather }: HintOptions): string =>
      mayGather ? "Enter gathers · Shift-Enter begins a new line" : "/ searches",
    search: ({ control, alt, mayGather }: HintOptions) =>
      `Enter opens · ${control}Enter chooses${mayGather ? ` · ${alt}Enter gathers` : ""} · Esc ends`,
    filters: ({ control }: HintOptions) =>
      `Enter opens · ${control}Enter chooses · Backspace removes a filter · Esc clears filters`,
  },
  loadingRows: (count: string) => `Loading… ${count}`,
  loadingStops: "any key stops",
};

export const keysInJapanese: typeof keysInEnglish = {
  hints: {
    tree: () => "矢印 移動 · Enter 開く · スペース 選択 · / 検索 · 文字 名前へ移動",
    templates: () => "Tab 次へ · Enter 開く・確定",
    gather: ({ mayGather }) => (mayGather ? "Enter 収集 · Shift-Enter 改行" : "/ 検索"),
    search: ({ control, alt, mayGather }) =>
      `Enter 開く · ${control}Enter 選択${mayGather ? ` · ${alt}Enter 収集` : ""} · Esc 終了`,
    filters: ({ control }) => `Enter 開く · ${control}Enter 選択 · Backspace 絞り込みを1つ解除 · Esc すべて解除`,
  },
  loadingRows: (count) => `読み込み中… ${count}件`,
  loadingStops: "いずれかのキーで中止",
};
