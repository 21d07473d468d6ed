/** The headings of a text, their slugs, and the section of each. */
import { decodeHtmlEntities } from "../../lib/html-entities.ts";
import { callInThread, ThreadOverrun } from "../../lib/threads.ts";
import { replaceCodeSpans } from "./code-spans.ts";
import type { DocumentFormat } from "./formats.ts";
import { toTitle } from "./front-matter.ts";
import { proseLines } from "./prose.ts";

export interface Heading {
  /** 1 is the highest. */
  readonly level: number;
  readonly title: string;
  /** As GitHub generates them: unique in the document. */
  readonly slug: string;
  /** Counted from 1. */
  readonly line: number;
}

/** A heading without its slug. */
interface Found {
  readonly level: number;
  readonly raw: string;
  readonly line: number;
  /** The id that the author gave it. */
  readonly id?: string;
}

/** Further headings are ignored. */
const maxHeadings = 10_000;
/** Further characters of a title are ignored. */
const maxTitle = 400;

/** Scanning this much takes tens of milliseconds at most. */
const maxHere = 64 * 1024;

/** Same as `listHeadings`, but scans a long text in a thread, which does not block the server. Empty if that takes too long. */
export async function findHeadings(text: string, format: DocumentFormat): Promise<readonly Heading[]> {
  if (text.length <= maxHere) return headingsOf(text, format);
  try {
    return await callInThread(new URL("./headings.ts", import.meta.url), "headingsOf", text, format);
  } catch (cause) {
    if (cause instanceof ThreadOverrun) return [];
    throw cause;
  }
}

export function headingsOf(text: string, format: DocumentFormat): readonly Heading[] {
  const headings: Heading[] = [];
  const slugs = createSlugs();
  for (const { level, raw, line, id } of rawHeadings(text, format)) {
    const seen = plainTitle(raw);
    headings.push({ level, title: toTitle(seen) ?? "", slug: slugs(id ?? slugOf(seen)), line });
    if (headings.length === maxHeadings) break;
  }
  return headings;
}

/** The title of the first heading. */
export function firstTitle(text: string, format: DocumentFormat): string | undefined {
  for (const { raw } of rawHeadings(text, format)) return toTitle(plainTitle(raw));
  return undefined;
}

export interface DocumentSection {
  readonly heading: Heading;
  readonly text: string;
  readonly lines: readonly [first: number, last: number];
}

/** From the heading to the next one of the same or a higher level. */
export function sectionOf(text: string, headings: readonly Heading[], slug: string): DocumentSection | undefined {
  const index = headings.findIndex((each) => each.slug === slug);
  const heading = headings[index];
  if (!heading) return undefined;
  const next = headings.slice(index + 1).find(({ level }) => level <= heading.level);
  const from = offsetOf(text, heading.line);
  const section = text.slice(from, next ? offsetOf(text, next.line) : text.length);
  const feeds = section.split("\n").length - (section.endsWith("\n") ? 2 : 1);
  return { heading, text: section, lines: [heading.line, heading.line + feeds] };
}

function offsetOf(text: string, line: number): number {
  let at = 0;
  for (let passed = 1; passed < line; passed += 1) at = text.indexOf("\n", at) + 1;
  return at;
}

/** Keeps letters, digits, marks and connectors in lower case; spaces become hyphens. */
export function slugOf(title: string): string {
  return title
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\- ]/gu, "")
    .replaceAll(" ", "-");
}

/** A repeated slug gets -1, then -2. */
function createSlugs(): (slug: string) => string {
  const times = new Map<string, number>();
  return (slug) => {
    let free = slug;
    let count = times.get(slug) ?? 0;
    while (times.has(free)) free = `${slug}-${(count += 1)}`;
    times.set(slug, count);
    if (free !== slug) times.set(free, 0);
    return free;
  };
}

/** The text without markup. */
function plainTitle(raw: string): string {
  return decodeHtmlEntities(
    replaceCodeSpans(raw.slice(0, maxTitle), (code) => code)
      .replaceAll(/!\[[^[\]]*\]\((?:[^()[\]]|\([^()[\]]*\))*\)/g, "")
      .replaceAll(/\[([^[\]]*)\](?:\((?:[^()[\]]|\([^()[\]]*\))*\)|\[[^[\]]*\])/g, "$1")
      .replaceAll(/<\/?[a-z][^<>]*>/gi, "")
      .replaceAll(/(\*{1,3}|~~)(?=\S)(.{0,400}?\S)\1/g, "$2")
      .replaceAll(/(?<![\p{L}\p{N}_])(_{1,2})(?=\S)([^_]*\S)\1(?![\p{L}\p{N}_])/gu, "$2")
      .replaceAll(/\\([!-/:-@[-`{-~])/g, "$1"),
  );
}

function rawHeadings(text: string, format: DocumentFormat): Iterable<Found> {
  switch (format) {
    case "markdown":
      return markdownHeadings(text);
    case "asciidoc":
      return asciidocHeadings(text);
    case "rst":
      return rstHeadings(text);
    default:
      return [];
  }
}

/** `## Title {#id}` */
function splitId(raw: string): { readonly raw: string; readonly id?: string } {
  const at = raw.lastIndexOf("{#");
  const [, id] = (at >= 0 && /^\{#([^\s{}]{1,200})\}$/.exec(raw.slice(at))) || [];
  return id === undefined ? { raw } : { raw: raw.slice(0, at).trimEnd(), id };
}

function* markdownHeadings(text: string): Generator<Found> {
  /** The lines of the preceding paragraph, which an underline would turn into a heading. */
  let above: { readonly line: number; raw: string } | undefined;
  let last = 0;
  for (const { number, text: line } of proseLines(text, "markdown")) {
    if (number !== last + 1) above = undefined;
    last = number;
    const hashes = /^ {0,3}(#{1,6})(?:[ \t]|$)/.exec(line);
    if (hashes) {
      above = undefined;
      const raw = line.slice(hashes[0].length).trim();
      yield { level: (hashes[1] as string).length, line: number, ...splitId(withoutClosing(raw)) };
      continue;
    }
    const rule = /^ {0,3}(=+|-+)[ \t]*$/.exec(line)?.[1];
    if (rule !== undefined && above) {
      yield { level: rule.startsWith("=") ? 1 : 2, line: above.line, ...splitId(above.raw) };
      above = undefined;
    } else if (line.trim() === "" || rule !== undefined) above = undefined;
    else if (above) above.raw = `${above.raw} ${line.trim()}`.slice(0, 2000);
    else if (/^ {0,3}(?![>|]|[-*+][ \t]|\d{1,9}[.)][ \t])\S/.test(line)) above = { line: number, raw: line.trim() };
  }
}

/** Without the closing hashes of a title. */
function withoutClosing(raw: string): string {
  let end = raw.length;
  while (end > 0 && raw[end - 1] === "#") end -= 1;
  if (end === raw.length) return raw;
  return end === 0 || /[ \t]/.test(raw[end - 1] as string) ? raw.slice(0, end).trimEnd() : raw;
}

function* asciidocHeadings(text: string): Generator<Found> {
  let id: string | undefined;
  for (const { number, text: line } of proseLines(text, "asciidoc")) {
    const [, mark, raw] = /^(={1,6}|#{1,6})[ \t]+(\S.{0,2000})$/.exec(line) ?? [];
    if (mark !== undefined && raw !== undefined) yield { level: mark.length, raw: raw.trim(), line: number, id };
    id = /^\[(?:\[([^\],]{1,200})(?:,[^\]]{0,200})?\]|#([^\],.%]{1,200})(?:[,.%][^\]]{0,200})?)\]$/
      .exec(line.trim())
      ?.slice(1)
      .find(Boolean);
  }
}

/** A line of one repeated character. */
function adornmentOf(line: string): string | undefined {
  const bare = line.trimEnd();
  const sign = bare.charAt(0);
  if (bare.length < 2 || !/^[!-/:-@[-`{-~]$/.test(sign)) return undefined;
  return bare === sign.repeat(bare.length) ? sign : undefined;
}

function* rstHeadings(text: string): Generator<Found> {
  /** A character, and whether it is also above the title: each pair is a level, in order of appearance. */
  const styles: string[] = [];
  let [before, title]: [string, string] = ["", ""];
  let last = 0;
  for (const { number, text: line } of proseLines(text, "rst")) {
    if (number !== last + 1) [before, title] = ["", ""];
    last = number;
    const sign = adornmentOf(line);
    const isTitle = title.trim() !== "" && adornmentOf(title) === undefined;
    if (sign !== undefined && isTitle && line.trimEnd().length >= Math.min(title.trim().length, 4)) {
      const isOver = adornmentOf(before) === sign;
      // A paragraph that ends in such a line is a title only if it has one line.
      if (isOver || before.trim() === "") {
        const style = `${sign}${isOver ? sign : ""}`;
        if (!styles.includes(style)) styles.push(style);
        yield { level: styles.indexOf(style) + 1, raw: title.trim(), line: number - 1 };
        [before, title] = ["", ""];
        continue;
      }
    }
    [before, title] = [title, line];
  }
}
