/** The ways in which the same Japanese is typed. */

const halfWidth = new Map<string, string>();
for (let code = 0xff66; code <= 0xff9d; code += 1)
  for (const mark of ["", "ﾞ", "ﾟ"]) {
    const half = String.fromCharCode(code) + mark;
    const full = half.normalize("NFKC");
    if (full.length === 1) halfWidth.set(full, half);
  }

const move = (text: string, what: RegExp, by: number): string =>
  text.replace(what, (one) => String.fromCharCode(one.charCodeAt(0) + by));

export const variants: Readonly<Record<string, (text: string) => string>> = {
  katakana: (text) => move(text, /[ぁ-ゖ]/gu, 0x60),
  hiragana: (text) => move(text, /[ァ-ヶ]/gu, -0x60),
  "half-width": (text) => text.replace(/[ァ-ヶー]/gu, (kana) => halfWidth.get(kana) ?? kana),
  "full-width": (text) => move(text, /[!-~]/g, 0xfee0),
  decomposed: (text) => text.normalize("NFD"),
};
