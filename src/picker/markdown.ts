/** Parses Markdown, and the HTML within, into plain values. Takes time in proportion to the text. */
import { type HtmlAttributes, type HtmlPiece, isBlockName, isHtmlName, nest, tagAt } from "./markdown-html.ts";
import { htmlPiecesOf, inlinesOf, type Inline } from "./markdown-inline.ts";

type BlockContent =
  | { readonly kind: "heading"; readonly level: number; readonly inlines: readonly Inline[] }
  | { readonly kind: "paragraph"; readonly inlines: readonly Inline[] }
  | { readonly kind: "code"; readonly text: string; readonly language?: string }
  | { readonly kind: "quote"; readonly blocks: readonly MarkdownBlock[] }
  | { readonly kind: "list"; readonly start?: number; readonly items: readonly MarkdownItem[] }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
      /** Of each column; undefined if the text does not say it. */
      readonly aligns: readonly HtmlAttributes["align"][];
    }
  | { readonly kind: "rule" }
  | {
      readonly kind: "element";
      readonly tag: string;
      readonly attributes: HtmlAttributes;
      readonly blocks: readonly MarkdownBlock[];
    }
  /** Text of an HTML element. */
  | { readonly kind: "inlines"; readonly inlines: readonly Inline[] };

/** The first line of the text is 1. */
interface InSource {
  readonly line: number;
}

export type MarkdownBlock = BlockContent & InSource;

export interface MarkdownItem extends InSource {
  /** For an item of a task list. */
  readonly isDone?: boolean;
  readonly blocks: readonly MarkdownBlock[];
}

/** Maximum nesting of quotes and lists; deeper ones are shown as text. */
const maxDepth = 12;

// None of these expressions backtracks much on a long line.
const fence = /^ {0,3}(`{3,}|~{3,})(?!~)([^`]*)$/;
const heading = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const rule = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const marker = /^( {0,3})([-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;
const quoted = /^ {0,3}> ?/;
const task = /^\[([ xX])\][ \t]+(?=\S)/;
const html = /^ {0,3}<(?:!--|\/?([a-z][a-z0-9]{0,20})(?=[\s/>]|$))/i;
/** Their content may have empty lines. */
const longTags = /^<(pre|script|style|textarea)(?=[\s>])/i;

export function blocksOf(text: string): readonly MarkdownBlock[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const end = lines[0] === "---" ? lines.indexOf("---", 1) : -1;
  if (end < 1) return parse(lines, 1, 0);
  const settings = lines.slice(1, end).join("\n");
  return [{ kind: "code", text: settings, language: "yaml", line: 1 }, ...parse(lines.slice(end + 1), end + 2, 0)];
}

/** `firstLine` is where the lines begin in the whole text. */
function parse(lines: readonly string[], firstLine: number, depth: number): readonly MarkdownBlock[] {
  const blocks: (MarkdownBlock | HtmlPiece)[] = [];
  let paragraph: string[] = [];
  let at = 0;
  let commentEnd: number | undefined;

  /** Ends the paragraph before line `end`. */
  const flush = (end: number): void => {
    if (paragraph.length > 0)
      blocks.push({
        kind: "paragraph",
        inlines: inlinesOf(paragraph.join("\n")),
        line: firstLine + end - paragraph.length,
      });
    paragraph = [];
  };

  while (at < lines.length) {
    const line = lines[at] ?? "";
    const start = at;
    const taken = takeHtml(line);
    if (taken) {
      flush(start);
      for (const piece of taken) blocks.push(piece);
      continue;
    }
    const found =
      takeFence() ?? takeHeading(line) ?? takeQuote(line) ?? takeRule(line) ?? takeList(line) ?? takeTable();
    if (found) {
      flush(start);
      blocks.push({ ...found, line: firstLine + start });
      continue;
    }
    at += 1;
    if (line.trim() === "") flush(start);
    else if (paragraph.length === 0 && /^(?: {4}|\t)/.test(line))
      blocks.push({ ...takeIndented(line), line: firstLine + start });
    else if (paragraph.length > 0 && /^ {0,3}(?:=+|-+)[ \t]*$/.test(line)) {
      const inlines = inlinesOf(paragraph.join("\n"));
      const level = line.trim().startsWith("=") ? 1 : 2;
      blocks.push({ kind: "heading", level, inlines, line: firstLine + start - paragraph.length });
      paragraph = [];
    } else paragraph.push(line.trimStart());
  }
  flush(at);
  return nestBlocks(blocks);

  function takeFence(): BlockContent | undefined {
    const [, mark = "", language = ""] = fence.exec(lines[at] ?? "") ?? [];
    if (mark === "") return undefined;
    const inside: string[] = [];
    for (at += 1; at < lines.length; at += 1) {
      const line = (lines[at] ?? "").trim();
      if (line.startsWith(mark) && line === mark[0]?.repeat(line.length)) break;
      inside.push(lines[at] ?? "");
    }
    at += 1;
    const word = language.trim().split(/\s/)[0];
    return { kind: "code", text: inside.join("\n"), ...(word && { language: word }) };
  }

  function takeIndented(first: string): BlockContent {
    const inside = [first];
    while (at < lines.length && /^(?: {4}|\t|\s*$)/.test(lines[at] ?? "")) inside.push(lines[at++] ?? "");
    return {
      kind: "code",
      text: inside
        .map((line) => line.replace(/^(?: {4}|\t)/, ""))
        .join("\n")
        .trimEnd(),
    };
  }

  function takeHeading(line: string): BlockContent | undefined {
    const [all, marks = ""] = heading.exec(line) ?? [];
    if (all === undefined) return undefined;
    at += 1;
    return { kind: "heading", level: marks.length, inlines: inlinesOf(withoutClosing(line.slice(all.length).trim())) };
  }

  function takeRule(line: string): BlockContent | undefined {
    if (!rule.test(line) || (paragraph.length > 0 && /^ {0,3}-+[ \t]*$/.test(line))) return undefined;
    at += 1;
    return { kind: "rule" };
  }

  function takeQuote(line: string): BlockContent | undefined {
    if (depth >= maxDepth || !quoted.test(line)) return undefined;
    const inside: string[] = [];
    const start = at;
    for (; at < lines.length && (lines[at] ?? "").trim() !== ""; at += 1)
      inside.push((lines[at] ?? "").replace(quoted, ""));
    return { kind: "quote", blocks: parse(inside, firstLine + start, depth + 1) };
  }

  function takeList(line: string): BlockContent | undefined {
    const first = marker.exec(line);
    // A number in the middle of a paragraph begins no list.
    if (depth >= maxDepth || !first || (paragraph.length > 0 && !/[-*+]|^1[.)]/.test(first[2] ?? ""))) return undefined;
    const kind = kindOf(first[2]);
    const items: MarkdownItem[] = [];
    while (at < lines.length) {
      const found = marker.exec(lines[at] ?? "");
      if (!found || kindOf(found[2]) !== kind || rule.test(lines[at] ?? "")) break;
      const itemLine = firstLine + at;
      const [top = "", ...others] = takeItem(found[0].length);
      const [check, mark] = task.exec(top) ?? [];
      const inside = [top.slice(check?.length ?? 0), ...others];
      items.push({
        line: itemLine,
        blocks: parse(inside, itemLine, depth + 1),
        ...(mark !== undefined && { isDone: mark !== " " }),
      });
    }
    const start = Number.parseInt(first[2] ?? "", 10);
    return { kind: "list", items, ...(!Number.isNaN(start) && { start }) };
  }

  /** The lines of an item without their indentation. */
  function takeItem(width: number): string[] {
    const inside = [(lines[at] ?? "").slice(width)];
    let isAfterGap = false;
    for (at += 1; at < lines.length; at += 1) {
      const line = lines[at] ?? "";
      const indent = line.length - line.trimStart().length;
      if (line.trim() === "") isAfterGap = true;
      else if (indent >= Math.min(width, 2)) isAfterGap = false;
      else if (isAfterGap || marker.test(line) || heading.test(line) || fence.test(line) || quoted.test(line)) break;
      inside.push(line.slice(Math.min(indent, width)));
    }
    return inside;
  }

  function takeHtml(line: string): readonly (MarkdownBlock | HtmlPiece)[] | undefined {
    const [all, given] = html.exec(line) ?? [];
    if (all === undefined) return undefined;
    const start = at;
    const name = given?.toLowerCase();
    const long = longTags.exec(line.trimStart())?.[1];
    if (name === undefined) {
      if (lastCommentEnd() < at) return undefined;
      while (!(lines[at] ?? "").includes("-->")) at += 1;
      at += 1;
    } else if (long !== undefined) {
      while (at < lines.length && !(lines[at] ?? "").toLowerCase().includes(`</${name}`)) at += 1;
      at += 1;
    } else {
      if (!isBlockName(name) && (paragraph.length > 0 || !isLoneTag(line, name))) return undefined;
      while (at < lines.length && (lines[at] ?? "").trim() !== "") at += 1;
    }
    return htmlBlocks(lines.slice(start, at).join("\n"), firstLine + start);
  }

  /** Index of the last line that ends a comment; looked for once. */
  function lastCommentEnd(): number {
    commentEnd ??= lines.findLastIndex((line) => line.includes("-->"));
    return commentEnd;
  }

  function takeTable(): BlockContent | undefined {
    const [top = "", under = ""] = [lines[at], lines[at + 1]];
    if (!top.includes("|") || !under.includes("-")) return undefined;
    const [head, dividers] = [cellsOf(top), cellsOf(under)];
    if (head.length !== dividers.length || !dividers.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
    const rows: (readonly Inline[])[][] = [];
    for (at += 2; at < lines.length && (lines[at] ?? "").includes("|"); at += 1) {
      const cells = cellsOf(lines[at] ?? "");
      rows.push(cells.slice(0, head.length).map((cell) => inlinesOf(cell)));
    }
    return { kind: "table", head: head.map((cell) => inlinesOf(cell)), rows, aligns: dividers.map(alignOf) };
  }
}

/** By the colons of a divider, as in `|:--|:-:|--:|`. */
function alignOf(divider: string): HtmlAttributes["align"] {
  const [isLeft, isRight] = [divider.startsWith(":"), divider.endsWith(":")];
  if (isRight) return isLeft ? "center" : "right";
  return isLeft ? "left" : undefined;
}

/** Blocks of a text that is HTML throughout. */
export function blocksOfHtml(text: string): readonly MarkdownBlock[] {
  return nestBlocks(htmlBlocks(text, 1));
}

function nestBlocks(blocks: readonly (MarkdownBlock | HtmlPiece)[]): readonly MarkdownBlock[] {
  return nest(blocks, ({ tag, attributes, at, children }) => ({
    kind: "element",
    tag,
    attributes,
    blocks: children,
    line: at,
  }));
}

/** Tags with the number of their line, and the text between them. */
function htmlBlocks(text: string, firstLine: number): readonly (MarkdownBlock | HtmlPiece)[] {
  const found: (MarkdownBlock | HtmlPiece)[] = [];
  let inlines: Inline[] = [];
  let [line, counted] = [firstLine, 0];
  for (const piece of htmlPiecesOf(text)) {
    if (piece.kind !== "open" && piece.kind !== "close") {
      if (inlines.length === 0) found.push({ kind: "inlines", inlines, line });
      inlines.push(piece);
      continue;
    }
    inlines = [];
    if (piece.kind === "close") found.push(piece);
    else {
      for (; counted < piece.at; counted += 1) if (text[counted] === "\n") line += 1;
      found.push({ ...piece, at: line });
    }
  }
  return found;
}

function isLoneTag(line: string, name: string): boolean {
  const tag = isHtmlName(name) ? tagAt(line, line.indexOf("<")) : undefined;
  return tag !== undefined && line.slice(tag.end).trim() === "";
}

/** Removes the closing marks of `# Title ##`. */
function withoutClosing(text: string): string {
  let end = text.length;
  while (text[end - 1] === "#") end -= 1;
  return end === 0 || /\s/.test(text[end - 1] ?? "") ? text.slice(0, end).trimEnd() : text;
}

function kindOf(mark = ""): string {
  return mark.at(-1) ?? "";
}

function cellsOf(line: string): readonly string[] {
  const cells = [""];
  for (const piece of line
    .trim()
    .replace(/^\|/, "")
    .split(/(\\\||\|)/)) {
    if (piece === "|") cells.push("");
    else cells.push((cells.pop() ?? "") + (piece === "\\|" ? "|" : piece));
  }
  if (cells.length > 1 && cells.at(-1)?.trim() === "") cells.pop();
  return cells.map((cell) => cell.trim());
}
