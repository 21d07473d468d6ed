/** How plausible a decoded text is: bytes can be decoded in several encodings, and few results are a text. */
import { jisRow } from "./double-byte.ts";

export interface Plausibility {
  /** From -1 to 1, over everything that is not ASCII. */
  readonly mean: number;
  /** Whether it is plausible enough. */
  readonly isPlausible: boolean;
}

/** The most frequent kanji in newspapers: about four of five kanji in any text. */
const commonKanji = new Set(
  "日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選立開手米力学問" +
    "高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法不来作性的要用制治度務強気小七成期公持野協取都和統以機平" +
    "総加山思家話世受区領多県続進正安設保改数記院女初北午指権心界支第産結百派点教報済書府活原先共得解名交資予川向際査勝面委告軍文反" +
    "元重近千考判認画海参売利組知案道信策集在件団別物側任引使求所次水半品昨論計死官増係感特情投示変打男基私各始島直両朝革価式確村提" +
    "運終挙果西勢減台広容必応演電歳住争談能無再位置企真流格有疑口過局少放税検藤町常校料沢裁状工建語球営空職証土与急止送援供可役構木" +
    "割聞身費付施切由説転食比難防補車優夫研収断井何南石足違消境神番規術護展態導鮮備宅害配副算視条幹独警宮究育席輸訪楽起万着乗店述残" +
    "想線率病農州武声質念待試族象銀域助労例衛然早張映限親額監環験追審商葉義伝働形景落欧担好退準賀訴辺造英被株頭技低毛医復仕去姿味負" +
    "閣韓渡失移差衆個門写評課末守若脳極種美岡影命含福蔵量望松非撃佐核観察整段横融型白深字答夜製票況音申様財港識注呼渉達版列項覧欄" +
    "削除存更読込照登録仮値返処図章節略号頁絡漢登森林橋崎斎髙﨑",
);

const isKana = (code: number): boolean => code >= 0x3041 && code <= 0x30ff;
const isHalfKana = (code: number): boolean => code >= 0xff61 && code <= 0xff9f;
const isKanji = (code: number): boolean => code >= 0x4e00 && code <= 0x9fff;

/** A text decoded from Shift_JIS or EUC-JP. */
function japanese(text: string, encoding: "shift_jis" | "euc-jp"): Plausibility {
  let count = 0;
  let sum = 0;
  let kana = 0;
  let kanji = 0;
  let halfKana = 0;
  let earlyHalfKana = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) continue;
    count += 1;
    if (isKana(code)) kana += 1;
    else if (isKanji(code)) kanji += 1;
    else if (isHalfKana(code)) {
      halfKana += 1;
      if (code < 0xff80) earlyHalfKana += 1;
    }
    sum += isHalfKana(code) ? worthOfHalfKana(text, at, code) : worthOfJapanese(code);
  }
  const mean = count === 0 ? 0 : sum / count;
  // Half-width kana without the first half of the syllabary are Cyrillic letters in KOI8-R.
  if (halfKana >= 8 && earlyHalfKana * 10 < halfKana) return { mean, isPlausible: false };
  // Only names and headings have no kana. Chinese and Korean text, decoded as EUC-JP, has only kanji, and rare ones.
  const isBare = (kana + halfKana) * 20 < kanji;
  const needed = !isBare ? 0.3 : encoding === "euc-jp" ? 0.7 : kanji > 40 ? 0.5 : 0.4;
  return { mean, isPlausible: mean >= needed };
}

function worthOfJapanese(code: number): number {
  if (isKana(code)) return 1;
  if (commonKanji.has(String.fromCharCode(code))) return 1;
  // Punctuation, full-width letters and digits, arrows, box drawing, circled digits.
  if (code >= 0x3000 && code <= 0x303f) return 0.9;
  if (code >= 0xff01 && code <= 0xff5e) return 0.8;
  if (code >= 0x2000 && code <= 0x33ff) return 0.4;
  if (code >= 0xe000 && code <= 0xf8ff) return -1;
  const row = jisRow(code);
  if (row === undefined) return -0.5;
  if (row < 16) return 0.1;
  return row <= 47 ? 0.3 : -0.5;
}

/** Half-width kana come in runs, and their sound marks follow the few kana that can have them. */
function worthOfHalfKana(text: string, at: number, code: number): number {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at + 1);
  if (code === 0xff9e)
    return bears(before, 0xff76, 0xff84) || bears(before, 0xff8a, 0xff8e) || before === 0xff73 ? 0.8 : -1;
  if (code === 0xff9f) return bears(before, 0xff8a, 0xff8e) ? 0.8 : -1;
  if (code <= 0xff64) return -0.3;
  return isHalfKana(before) || isHalfKana(after) ? 0.6 : -0.5;
}

function bears(code: number, first: number, last: number): boolean {
  return code >= first && code <= last;
}

/** Bytes as Western European text in windows-1252, which includes Latin-1. */
function western(bytes: Uint8Array): Plausibility {
  let count = 0;
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] as number;
    if (byte < 0x80) continue;
    const worth = worthOfWestern(bytes, at, byte);
    if (worth === undefined) return { mean: -1, isPlausible: false };
    count += 1;
    sum += worth;
  }
  const mean = count === 0 ? 0 : sum / count;
  const isDense = count > 1 && count * 5 > bytes.length * 2;
  return { mean, isPlausible: mean >= (isDense ? 0.7 : 0.45) };
}

const isLower = (byte: number): boolean => (byte >= 0x61 && byte <= 0x7a) || (byte >= 0xdf && byte !== 0xf7);
const isUpper = (byte: number): boolean =>
  (byte >= 0x41 && byte <= 0x5a) || (byte >= 0xc0 && byte <= 0xde && byte !== 0xd7);
const isLetter = (byte: number): boolean => isLower(byte) || isUpper(byte) || lettersBelow.has(byte);
/** Š Œ Ž š œ ž Ÿ */
const lettersBelow = new Set([0x8a, 0x8c, 0x8e, 0x9a, 0x9c, 0x9e, 0x9f]);
const unused = new Set([0x81, 0x8d, 0x8f, 0x90, 0x9d]);
/** ’ · ª º ´ `°: may follow a letter, or stand between two. */
const besideLetters = new Set([0x92, 0xb7, 0xaa, 0xba, 0xb4, 0xb0, 0x96, 0x97, 0xa0, 0x99, 0xae, 0xb2, 0xb3]);
/** Frequent signs: quotation marks, dashes, bullet, ellipsis, euro, guillemets, §, ©, «, °, ·, », ¿, ¡. */
const usualSigns = new Set([
  0x80, 0x82, 0x84, 0x85, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97, 0x99, 0xa0, 0xa1, 0xa3, 0xa7, 0xa9, 0xab, 0xae,
  0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb7, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf, 0xd7, 0xf7,
]);

function worthOfWestern(bytes: Uint8Array, at: number, byte: number): number | undefined {
  if (unused.has(byte)) return undefined;
  const before = bytes[at - 1] ?? 0x20;
  const after = bytes[at + 1] ?? 0x20;
  if (isLetter(byte)) return worthOfLetter(bytes, at, byte, before, after);
  if (isLetter(before) && isLetter(after)) return byte === 0x92 || byte === 0xb7 ? 0.8 : -0.8;
  if (before >= 0x80 && after >= 0x80) return -0.3;
  if (isLetter(before) && !besideLetters.has(byte) && !closing.has(byte)) return -0.2;
  return usualSigns.has(byte) ? 0.6 : 0;
}

/** ” » … ™ */
const closing = new Set([0x94, 0xbb, 0x85, 0x93, 0x91, 0xa9]);

function worthOfLetter(bytes: Uint8Array, at: number, byte: number, before: number, after: number): number {
  // ÿ is in a few French names, and in every binary file.
  if (byte === 0xff) return -0.5;
  // Three accented letters in a row are a word of another alphabet.
  const isRun =
    (isHighLetter(before) && isHighLetter(bytes[at - 2])) ||
    (isHighLetter(before) && isHighLetter(after)) ||
    (isHighLetter(after) && isHighLetter(bytes[at + 2]));
  if (isRun) return -0.8;
  if (isHighLetter(before) || isHighLetter(after)) return 0.6;
  if (isUpper(byte) && isLower(before)) return -0.8;
  if (isLower(byte) && isUpper(before) && isUpper(after)) return -0.5;
  if (isLetter(before) || isLetter(after)) return 0.9;
  return before < 0x80 && after < 0x80 ? 0.5 : 0;
}

function isHighLetter(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && isLetter(byte);
}

/** A text decoded from UTF-16 without a byte order mark. */
function wide(text: string | undefined): Plausibility {
  if (text === undefined || text.length < 4) return { mean: -1, isPlausible: false };
  let sum = 0;
  let plain = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const worth = worthOfWide(code);
    if (worth === undefined) return { mean: -1, isPlausible: false };
    sum += worth;
    if (code < 0x80 || isKana(code) || isHalfKana(code)) plain += 1;
  }
  const mean = sum / text.length;
  return { mean, isPlausible: mean >= 0.7 && plain * 10 >= text.length };
}

/** Undefined for a character that no text contains. */
function worthOfWide(code: number): number | undefined {
  if (code < 0x20) return code === 0x09 || code === 0x0a || code === 0x0d || code === 0x0c ? 1 : undefined;
  if (code < 0x7f) return 1;
  if (code < 0xa0 || code >= 0xfffe) return undefined;
  if (code < 0x250) return 0.7;
  if (isKana(code) || (code >= 0x3000 && code <= 0x303f) || (code >= 0xff01 && code <= 0xff9f)) return 1;
  if (isKanji(code)) return commonKanji.has(String.fromCharCode(code)) ? 1 : 0.3;
  if ((code >= 0x2010 && code <= 0x27ff) || (code >= 0x3200 && code <= 0x33ff)) return 0.5;
  if (code >= 0xf900 && code <= 0xfaff) return 0.3;
  if (code >= 0x370 && code < 0x530) return 0.6;
  // Surrogates: the decoder has checked the pairs.
  if (code >= 0xd800 && code <= 0xdfff) return 0.2;
  return code >= 0xac00 && code <= 0xd7a3 ? 0.5 : -1;
}

export const plausibility = { japanese, western, wide };
