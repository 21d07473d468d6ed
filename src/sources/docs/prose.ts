/** The lines of a text that are prose: without front matter, code and comments. */
import type { DocumentFormat } from "./formats.ts";

interface ProseLine {
  /** Counted from 1. */
  readonly number: number;
  /** Without the line end. */
  readonly text: string;
}

interface FrontMatterBlock {
  readonly text: string;
  readonly language: "yaml" | "toml";
  /** The offset after its last line. */
  readonly end: number;
}

/** Undefined if there is none. */
export function frontMatterOf(text: string): FrontMatterBlock | undefined {
  const open = /^(---|\+\+\+)[ \t]*\r?\n/.exec(text);
  if (!open) return undefined;
  const language = open[1] === "---" ? "yaml" : "toml";
  const close = language === "yaml" ? /^(?:---|\.\.\.)[ \t]*$/ : /^\+\+\+[ \t]*$/;
  for (let at = open[0].length; at < text.length;) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed;
    if (close.test(text.slice(at, end).replace(/\r$/, "")))
      return { text: text.slice(open[0].length, at), language, end: Math.min(end + 1, text.length) };
    at = end + 1;
  }
  return undefined;
}

/** An open code block of Markdown or AsciiDoc, and what closes it. */
interface Fence {
  readonly mark: string;
  readonly least: number;
}

/** Longer lines are cut: they are not prose. */
const maxLine = 20_000;

export function* proseLines(text: string, format: DocumentFormat): Generator<ProseLine> {
  const matter = format === "html" ? undefined : frontMatterOf(text);
  let number = 1;
  let at = 0;
  let fence: Fence | undefined;
  let isComment = false;
  /** The indentation of the paragraph before a literal block of reStructuredText; -1 outside of one. */
  let literal = -1;
  while (at < text.length) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed;
    const isMatter = matter !== undefined && at < matter.end;
    const line = text.slice(at, Math.min(end, at + maxLine)).replace(/\r$/, "");
    const here = number;
    at = end + 1;
    number += 1;
    if (isMatter) continue;
    if (format === "markdown" || format === "asciidoc") {
      if (fence) {
        if (closes(line, fence)) fence = undefined;
        continue;
      }
      fence = format === "markdown" ? markdownFence(line) : asciidocFence(line);
      if (fence) continue;
    }
    if (format === "rst") {
      const indent = line.length - line.trimStart().length;
      if (literal >= 0 && (line.trim() === "" || indent > literal)) continue;
      literal =
        /(?:^|[^:])::$/.test(line.trimEnd()) || /^\s*\.\. (?:code|sourcecode|literalinclude)/.test(line) ? indent : -1;
    }
    if (format === "asciidoc" && line.startsWith("//")) continue;
    if (format !== "markdown" && format !== "html") {
      yield { number: here, text: line };
      continue;
    }
    const prose = withoutComments(line, isComment);
    isComment = prose.isOpen;
    yield { number: here, text: prose.text };
  }
}

function markdownFence(line: string): Fence | undefined {
  const [before, marks = ""] = /^ {0,3}(?:>[ \t]?)*[ \t]{0,8}(?:[-*+][ \t]+)?(`{3,}|~{3,})/.exec(line) ?? [];
  const mark = marks.charAt(0);
  if (before === undefined || (mark === "`" && line.includes("`", before.length))) return undefined;
  return { mark, least: marks.length };
}

function asciidocFence(line: string): Fence | undefined {
  const [marks] = /^(?:-{4,}|\.{4,}|\+{4,}|\/{4,}|```)/.exec(line) ?? [];
  // At most one word may follow.
  if (marks === undefined || /\s/.test(line.slice(marks.length).trimStart())) return undefined;
  const mark = marks.charAt(0);
  return { mark, least: mark === "`" ? 3 : 4 };
}

function closes(line: string, { mark, least }: Fence): boolean {
  const bare = line.replace(/^[ \t>]+/, "").trimEnd();
  return bare.length >= least && bare === mark.repeat(bare.length);
}

function withoutComments(line: string, wasOpen: boolean): { readonly text: string; readonly isOpen: boolean } {
  if (!wasOpen && !line.includes("<!--")) return { text: line, isOpen: false };
  let text = "";
  let isOpen = wasOpen;
  for (let at = 0; at < line.length;) {
    const next = line.indexOf(isOpen ? "-->" : "<!--", at);
    if (!isOpen) text += line.slice(at, next < 0 ? line.length : next);
    if (next < 0) break;
    at = next + (isOpen ? 3 : 4);
    isOpen = !isOpen;
  }
  return { text, isOpen };
}
