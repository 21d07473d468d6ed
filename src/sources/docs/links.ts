/** The links of a text, and its language bar: early links to the same text in other languages. */
import { cutAt } from "../../lib/cut-at.ts";
import { callInThread, ThreadOverrun } from "../../lib/threads.ts";
import { replaceCodeSpans } from "./code-spans.ts";
import { type DocumentFormat, resolveFrom } from "./formats.ts";
import { frontMatterOf, proseLines } from "./prose.ts";

interface DocumentLink {
  /** As written. */
  readonly target: string;
  /** The visible text; "" if it is defined elsewhere. */
  readonly text: string;
  /** Counted from 1. */
  readonly line: number;
}

const target = String.raw`(<[^<>]{0,1000}>|[^\s()<>]{0,1000}(?:\([^\s()]{0,200}\)[^\s()]{0,200}){0,3})`;
const href =
  /(?:href|src)\s{0,4}=\s{0,4}(?:"([^"<>]{0,1000})"|'([^'<>]{0,1000})')(?:[^<>]{0,500}>([^<]{0,200})<\/a)?/gi;
const html = { pattern: href, target: [1, 2], text: 3 };

interface Form {
  readonly pattern: RegExp;
  /** The groups that may contain the target. */
  readonly target: readonly number[];
  readonly text?: number;
}

const forms: Readonly<Record<DocumentFormat, readonly Form[]>> = {
  markdown: [
    { pattern: new RegExp(String.raw`(?:\[([^[\]]{0,500}))?\]\(\s{0,8}${target}`, "g"), target: [2], text: 1 },
    { pattern: /^ {0,3}\[[^\]]{1,500}\]:\s{0,8}(<[^<>]{0,1000}>|\S{1,1000})/g, target: [1] },
    html,
  ],
  asciidoc: [
    { pattern: /(?:link|xref|image|include):{1,2}([^\s[\]:]{1,1000})\[([^[\]]{0,500})\]/g, target: [1], text: 2 },
  ],
  rst: [
    { pattern: /`([^`<>]{0,500})<([^`<>]{1,1000})>`__?/g, target: [2], text: 1 },
    { pattern: /^\s{0,40}\.\. (?:image|figure|include):: {1,8}(\S{1,1000})/g, target: [1] },
  ],
  html: [html],
  text: [],
  document: [],
};

/** Further links are ignored. */
const maxLinks = 5000;

export function* linksOf(text: string, format: DocumentFormat): Generator<DocumentLink> {
  let count = 0;
  for (const { number, text: line } of proseLines(text, format)) {
    const bare = format === "markdown" ? replaceCodeSpans(line, () => " ") : line;
    for (const form of forms[format])
      for (const found of bare.matchAll(form.pattern)) {
        const written = form.target.map((group) => found[group]).find((each) => each !== undefined);
        if (written === undefined || written === "") continue;
        const label = form.text === undefined ? "" : (found[form.text] ?? "");
        yield { target: written.replace(/^<|>$/g, ""), text: label.trim(), line: number };
        if ((count += 1) === maxLinks) return;
      }
  }
}

/** Scanning this much takes tens of milliseconds at most. */
const maxHere = 64 * 1024;

/** All links; those of a long text are found in a thread. Empty if that takes too long. */
export async function findLinks(text: string, format: DocumentFormat): Promise<readonly DocumentLink[]> {
  if (text.length <= maxHere) return listLinks(text, format);
  try {
    return await callInThread(new URL("./links.ts", import.meta.url), "listLinks", text, format);
  } catch (cause) {
    if (cause instanceof ThreadOverrun) return [];
    throw cause;
  }
}

/** Also called in the thread. */
export function listLinks(text: string, format: DocumentFormat): readonly DocumentLink[] {
  return [...linksOf(text, format)];
}

/** The target of a link below the root: the file's path and the fragment. Undefined for other targets. */
export function followLink(
  file: string,
  written: string,
): { readonly path: string; readonly fragment: string } | undefined {
  if (/^(?:[a-z][a-z0-9+.-]*:|\/|\\)/i.test(written) || /[{}$*\0]/.test(written)) return undefined;
  const hash = written.indexOf("#");
  const bare = cutAt(hash < 0 ? written : written.slice(0, hash), /\?/);
  const fragment = hash < 0 ? "" : decode(written.slice(hash + 1));
  if (bare === "") return { path: file, fragment };
  const path = resolveFrom(file, decode(bare));
  return path === undefined ? undefined : { path, fragment };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A language by one of its names, alone or in a short phrase (`日本語版はこちら`, `Read this in English`). */
const languageName = new RegExp(
  [
    String.raw`日本語|英語|中国語|韓国語|中文|汉语|漢語|한국어|영어|日文|英文|русский|українська|ไทย|हिन्दी|العربية|עברית|فارسی`,
    String.raw`\b(?:english|japanese|chinese|korean|german|french|spanish|portuguese|italian|russian|deutsch|español|italiano)\b`,
    String.raw`français|português|tiếng việt|türkçe|polski|nederlands|čeština|svenska`,
    String.raw`^(?:en|ja|jp|zh|ko|kr|de|fr|es|pt|it|ru)(?:[-_][a-z]{2,4})?$`,
  ].join("|"),
  "i",
);

/** The bar may be within this many lines. */
const barLines = 15;
const maxBarText = 4096;
const maxBar = 16;

/** The files that a language bar in the first lines links to. */
export function languageBar(file: string, head: string, format: DocumentFormat): readonly string[] {
  const found = new Set<string>();
  const top = head.slice(format === "html" ? 0 : (frontMatterOf(head)?.end ?? 0)).trimStart();
  const lines = top.slice(0, maxBarText).split("\n", barLines).join("\n");
  for (const { target: written, text } of linksOf(lines, format)) {
    if (text.length > 60 || !languageName.test(text.replaceAll(/[*_`]/g, "").trim())) continue;
    const led = followLink(file, written);
    if (led && led.path !== file) found.add(led.path);
    if (found.size === maxBar) break;
  }
  return [...found];
}
