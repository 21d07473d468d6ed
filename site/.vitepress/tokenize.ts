/**
 * The words of a text, for the search: those between spaces and punctuation; Japanese, which has no spaces, as pairs of characters.
 * VitePress sends the source of this function to the browser, so it uses nothing from outside of it.
 */
export function tokenize(text: string): string[] {
  const isJapanese = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]/u;
  const words = text.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  const runs = words.flatMap((word) =>
    word.split(/((?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々])+)/u),
  );
  return runs.flatMap((run) => {
    if (run === "") return [];
    if (!isJapanese.test(run) || run.length === 1) return [run];
    return Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2));
  });
}
