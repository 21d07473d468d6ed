/** Parses Markdown into plain values. Never produces HTML: tags stay text. Takes time in proportion to the text. */
import { inlinesOf, type Inline } from "./markdown-inline.ts";

export type MarkdownBlock =
  | { readonly kind: "heading"; readonly level: number; readonly inlines: readonly Inline[] }
  | { readonly kind: "paragraph"; readonly inlines: readonly Inline[] }
  | { readonly kind: "code"; readonly text: string; readonly language?: string }
  | { readonly kind: "quote"; readonly blocks: readonly MarkdownBlock[] }
  | { readonly kind: "list"; readonly start?: number; readonly items: readonly (readonly MarkdownBlock[])[] }
  | {
      readonly kind: "table";
      readonly head: readonly (readonly Inline[])[];
      readonly rows: readonly (readonly (readonly Inline[])[])[];
    }
  | { readonly kind: "rule" };

/** Maximum nesting of quotes and lists; deeper ones are shown as text. */
const maxDepth = 12;

// None of these expressions backtracks much on a long line.
const fence = /^ {0,3}(`{3,}|~{3,})(?!~)([^`]*)$/;
const heading = /^ {0,3}(#{1,6})(?=[ \t]|$)/;
const rule = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const marker = /^( {0,3})([-*+]|\d{1,9}[.)])(?:[ \t]+|$)/;
const quoted = /^ {0,3}> ?/;

export function blocksOf(text: string): readonly MarkdownBlock[] {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const end = lines[0] === "---" ? lines.indexOf("---", 1) : -1;
  if (end < 1) return parse(lines, 0);
  return [{ kind: "code", text: lines.slice(1, end).join("\n"), language: "yaml" }, ...parse(lines.slice(end + 1), 0)];
}

function parse(lines: readonly string[], depth: number): readonly MarkdownBlock[] {
  const blocks: MarkdownBlock[] = [];
  let paragraph: string[] = [];
  let at = 0;

  const flush = (): void => {
    if (paragraph.length > 0) blocks.push({ kind: "paragraph", inlines: inlinesOf(paragraph.join("\n")) });
    paragraph = [];
  };

  while (at < lines.length) {
    const line = lines[at] ?? "";
    const found =
      takeFence() ?? takeHeading(line) ?? takeQuote(line) ?? takeRule(line) ?? takeList(line) ?? takeTable();
    if (found) {
      flush();
      blocks.push(found);
      continue;
    }
    at += 1;
    if (line.trim() === "") flush();
    else if (paragraph.length === 0 && /^(?: {4}|\t)/.test(line)) blocks.push(takeIndented(line));
    else if (paragraph.length > 0 && /^ {0,3}(?:=+|-+)[ \t]*$/.test(line)) {
      const inlines = inlinesOf(paragraph.join("\n"));
      paragraph = [];
      blocks.push({ kind: "heading", level: line.trim().startsWith("=") ? 1 : 2, inlines });
    } else paragraph.push(line.trimStart());
  }
  flush();
  return blocks;

  function takeFence(): MarkdownBlock | undefined {
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

  function takeIndented(first: string): MarkdownBlock {
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

  function takeHeading(line: string): MarkdownBlock | undefined {
    const [all, marks = ""] = heading.exec(line) ?? [];
    if (all === undefined) return undefined;
    at += 1;
    return { kind: "heading", level: marks.length, inlines: inlinesOf(withoutClosing(line.slice(all.length).trim())) };
  }

  function takeRule(line: string): MarkdownBlock | undefined {
    if (!rule.test(line) || (paragraph.length > 0 && /^ {0,3}-+[ \t]*$/.test(line))) return undefined;
    at += 1;
    return { kind: "rule" };
  }

  function takeQuote(line: string): MarkdownBlock | undefined {
    if (depth >= maxDepth || !quoted.test(line)) return undefined;
    const inside: string[] = [];
    for (; at < lines.length && (lines[at] ?? "").trim() !== ""; at += 1)
      inside.push((lines[at] ?? "").replace(quoted, ""));
    return { kind: "quote", blocks: parse(inside, depth + 1) };
  }

  function takeList(line: string): MarkdownBlock | undefined {
    const first = marker.exec(line);
    // A number in the middle of a paragraph begins no list.
    if (depth >= maxDepth || !first || (paragraph.length > 0 && !/[-*+]|^1[.)]/.test(first[2] ?? ""))) return undefined;
    const kind = kindOf(first[2]);
    const items: MarkdownBlock[][] = [];
    while (at < lines.length) {
      const found = marker.exec(lines[at] ?? "");
      if (!found || kindOf(found[2]) !== kind || rule.test(lines[at] ?? "")) break;
      items.push([...parse(takeItem(found[0].length), depth + 1)]);
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

  function takeTable(): MarkdownBlock | undefined {
    const [top = "", under = ""] = [lines[at], lines[at + 1]];
    if (!top.includes("|") || !under.includes("-")) return undefined;
    const [head, dividers] = [cellsOf(top), cellsOf(under)];
    if (head.length !== dividers.length || !dividers.every((cell) => /^:?-+:?$/.test(cell))) return undefined;
    const rows: (readonly Inline[])[][] = [];
    for (at += 2; at < lines.length && (lines[at] ?? "").includes("|"); at += 1) {
      const cells = cellsOf(lines[at] ?? "");
      rows.push(cells.slice(0, head.length).map((cell) => inlinesOf(cell)));
    }
    return { kind: "table", head: head.map((cell) => inlinesOf(cell)), rows };
  }
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
