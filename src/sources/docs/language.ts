/** Detects the language of a document: by its metadata, by marks in its path, by its letters. */
import { type DocumentFormat, stemOf } from "./formats.ts";
import { proseLines } from "./prose.ts";

/** Languages whose marks are recognized by default. */
const knownLanguages: readonly string[] =
  "ar cs da de el en es fa fi fr he hi hu id it ja ko nb nl pl pt ro ru sv th tr uk vi zh".split(" ");

const aliases: Readonly<Record<string, string>> = { jp: "ja", cn: "zh-CN", tw: "zh-TW", kr: "ko", br: "pt-BR" };

/** English words that end names (`what-is-it.md`): after a hyphen they are not language marks. */
const words = new Set(["br", "da", "de", "el", "es", "fa", "he", "hi", "id", "it", "nb", "no", "th", "tr"]);

const scripts = new Set(["ja", "zh", "ko"]);

export function baseLanguageOf(tag: string): string {
  const hyphen = tag.indexOf("-");
  return hyphen < 0 ? tag : tag.slice(0, hyphen);
}

/** The tag in canonical form; undefined if it is invalid. */
export function canonicalTag(text: string): string | undefined {
  const tag = aliases[text.toLowerCase()] ?? text.replaceAll("_", "-");
  if (!/^[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,3}$/i.test(tag)) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

export interface LanguageMarks {
  /** The language that the path names; the last mark wins. */
  read(path: string): string | undefined;
  /** The path without the marks of this language. */
  strip(path: string, lang: string): string;
}

/** Folders that hold only folders of languages (`translations/ja/guide.md`): they belong to the mark. */
const holders = new Set(["i18n", "translations"]);

/**
 * Marks are folders (`ja/guide.md`, `docs/zh-CN/guide.md`), ends of folder names (`docs-ja/guide.md`), ends of names (`guide.ja.md`,
 * `guide_ja.md`, `guide-ja.md`, `README.ja`), and the folders of Docusaurus (`i18n/ja/docusaurus-plugin-content-docs/current/guide.md`).
 */
export function createLanguageMarks(languages: readonly string[] = knownLanguages): LanguageMarks {
  const counted = new Set(languages.flatMap((each) => canonicalTag(each) ?? []));
  const bases = new Set([...counted].map(baseLanguageOf));

  function tagOf(text: string): string | undefined {
    if (!/^[a-z]{2}(?:[-_](?:[a-z]{2}|hans|hant|latn|cyrl))?$/i.test(text)) return undefined;
    const named = text.toLowerCase();
    // An old language code ("in", "iw") is usually a word.
    if (!bases.has(baseLanguageOf(aliases[named] ?? named.slice(0, 2)))) return undefined;
    return canonicalTag(text);
  }

  /** The name without its mark, and the mark. */
  function splitName(name: string): { readonly bare: string; readonly tag: string } | undefined {
    const dot = name.lastIndexOf(".");
    const stem = dot > 0 ? name.slice(0, dot) : name;
    const ending = dot > 0 ? name.slice(dot) : "";
    const last = tagOf(ending.slice(1));
    if (last !== undefined) return { bare: stem, tag: last };
    for (const pattern of [
      /^(.+?)(\.)([a-z]{2}(?:[-_][a-z]{2,4})?)$/i,
      /^(.+?)([-_])([a-z]{2}(?:[-_][a-z]{2,4})?)$/i,
    ]) {
      const [, bare = "", sign, mark = ""] = pattern.exec(stem) ?? [];
      const tag = tagOf(mark);
      if (tag !== undefined && (sign === "." || !words.has(mark.toLowerCase()))) return { bare: bare + ending, tag };
    }
    return undefined;
  }

  /** The name of a folder without its mark: "" for `ja`, `docs` for `docs-ja`. Only where letters show whether the mark is right. */
  function splitFolder(folder: string): { readonly bare: string; readonly tag: string } | undefined {
    const whole = tagOf(folder);
    if (whole !== undefined) return { bare: "", tag: whole };
    const [, bare = "", mark = ""] = /^(.+?)[-_.]((?:en|ja|ko|zh)(?:[-_][a-z]{2,4})?)$/i.exec(folder) ?? [];
    const tag = tagOf(mark);
    return tag === undefined ? undefined : { bare, tag };
  }

  function stripFolders(folders: readonly string[], lang: string): string[] {
    const left: string[] = [];
    for (let at = 0; at < folders.length; at += 1) {
      let bare = folders[at] as string;
      for (let split = splitFolder(bare); split?.tag === lang; split = splitFolder(bare)) ({ bare } = split);
      if (bare !== "") {
        left.push(bare);
        continue;
      }
      if (!holders.has(left.at(-1) ?? "")) continue;
      left.pop();
      const original = originalOf(folders[at + 1], folders[at + 2]);
      if (original?.some((folder) => splitFolder(folder)?.tag === lang) === false) {
        left.push(...original);
        at += folders[at + 1]?.startsWith(`${docusaurus}docs`) ? 2 : 1;
      }
    }
    return left;
  }

  return {
    read(path) {
      const segments = path.split("/");
      const name = splitName(segments.pop() ?? "");
      if (name) return name.tag;
      return segments
        .toReversed()
        .map((segment) => splitFolder(segment)?.tag)
        .find((tag) => tag !== undefined);
    },

    strip(path, lang) {
      const segments = path.split("/");
      const name = segments.pop() ?? "";
      const folders = stripFolders(segments, lang);
      let bare = name;
      for (let split = splitName(bare); split?.tag === lang; split = splitName(bare)) ({ bare } = split);
      return [...folders, bare].join("/");
    },
  };
}

const docusaurus = "docusaurus-plugin-content-";

/** The folders of the original, for the folders of a translation: https://docusaurus.io/docs/i18n/introduction#translation-files-location */
function originalOf(plugin = "", version = ""): readonly string[] | undefined {
  const [, kind, id] = /^docusaurus-plugin-content-(docs|blog|pages)(?:-(.+))?$/.exec(plugin) ?? [];
  if (kind === "blog") return [id ?? "blog"];
  if (kind === "pages") return id === undefined ? ["src", "pages"] : [id];
  if (kind !== "docs") return undefined;
  if (version === "current") return [id ?? "docs"];
  return version.startsWith("version-")
    ? [id === undefined ? "versioned_docs" : `${id}_versioned_docs`, version]
    : undefined;
}

/** The number of letters by script. */
interface Letters {
  kana: number;
  han: number;
  hangul: number;
  other: number;
}

interface Detected {
  /** "other": none of the three. */
  readonly lang: "ja" | "zh" | "ko" | "other";
  /** Whether there was enough text. */
  readonly isSure: boolean;
}

/** From this share of all letters on, a text that mixes scripts counts as this language. */
const leastShare = 0.1;
/** Fewer Han characters may also be a short Japanese text. */
const fewHan = 60;
const fewLetters = 12;
/** Japanese has a higher share of kana; Chinese text with Japanese names has a lower one. */
const leastKana = 0.05;
/** Number of letters that is enough. */
const maxCounted = 8000;

export function detectLanguage(text: string, format: DocumentFormat): Detected {
  const letters: Letters = { kana: 0, han: 0, hangul: 0, other: 0 };
  let left = maxCounted;
  for (const { text: line } of proseLines(format === "html" ? withoutTags(text) : text, format)) {
    if (line === "") continue;
    const said = withoutCode(line);
    count(said.length > left ? said.slice(0, left) : said, letters);
    if ((left -= said.length) <= 0) break;
  }
  return judge(letters);
}

function judge({ kana, han, hangul, other }: Letters): Detected {
  const asian = kana + han + hangul;
  if (asian === 0 || asian / (asian + other) < leastShare) return { lang: "other", isSure: other >= fewLetters };
  if (hangul > kana + han) return { lang: "ko", isSure: true };
  if (kana / (kana + han) >= leastKana) return { lang: "ja", isSure: true };
  return { lang: "zh", isSure: han >= fewHan };
}

/** Removes code: it is English in any language. */
function withoutCode(line: string): string {
  if (!/[`<(/]/.test(line)) return line;
  return line
    .replaceAll(/`[^`]{0,1000}`/g, " ")
    .replaceAll(/\]\([^)\]]{0,2000}\)/g, "] ")
    .replaceAll(/<[^<>]{0,2000}>/g, " ")
    .replaceAll(/\b[a-z]{2,10}:\/\/[^\s)\]>]{0,2000}/gi, " ");
}

function withoutTags(html: string): string {
  const lower = html.toLowerCase();
  let text = "";
  let end = 0;
  for (const { 0: tag, 1: name, index } of lower.matchAll(/<(script|style|pre|code)\b[^<>]*>/g)) {
    if (index < end) continue;
    text += `${html.slice(end, index)} `;
    const close = lower.indexOf(`</${name}`, index + tag.length);
    end = close < 0 ? html.length : close;
  }
  return (text + html.slice(end)).replaceAll(/<[^<>]{0,2000}>/g, " ");
}

function count(text: string, letters: Letters): void {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code < 0x80) {
      if ((code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a) letters.other += 1;
    } else if (code < 0x1100) {
      if (code >= 0xc0 && code !== 0xd7 && code !== 0xf7) letters.other += 1;
    } else if ((code >= 0x3041 && code <= 0x30ff && code !== 0x30fb) || (code >= 0xff66 && code <= 0xff9d))
      letters.kana += 1;
    else if ((code >= 0x3400 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff) || code === 0x3005)
      letters.han += 1;
    // Rare characters: the first half of a surrogate pair.
    else if (code >= 0xd840 && code <= 0xd88f) letters.han += 1;
    else if ((code >= 0xac00 && code <= 0xd7af) || code <= 0x11ff || (code >= 0x3131 && code <= 0x318e))
      letters.hangul += 1;
  }
}

interface LanguageEvidence {
  readonly path: string;
  /** The language in its metadata. */
  readonly said?: string;
  readonly mark: string | undefined;
  /** Absent if the text is not available. */
  readonly detected?: Detected;
  /** The language of documents without any indication. */
  readonly fallback: string;
}

/** The document's metadata counts first, then its letters; a mark decides what letters cannot. */
export function decideLanguage({ path, said, mark, detected, fallback }: LanguageEvidence): string {
  if (said !== undefined) return said;
  const letters = detected ?? detectLanguage(stemOf(path), "text");
  const markBase = mark === undefined ? undefined : baseLanguageOf(mark);
  if (letters.lang === "other") {
    if (mark !== undefined && !(letters.isSure && detected && scripts.has(markBase ?? ""))) return mark;
    return letters.isSure && detected && scripts.has(baseLanguageOf(fallback)) ? "en" : fallback;
  }
  for (const claimed of mark === undefined ? [fallback] : [mark, fallback]) {
    if (baseLanguageOf(claimed) === letters.lang) return claimed;
    if (letters.lang === "zh" && !letters.isSure && baseLanguageOf(claimed) === "ja") return claimed;
  }
  return letters.lang;
}
