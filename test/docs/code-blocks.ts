/** The blocks of code in the pages that people read. */
import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";

export const root = join(import.meta.dirname, "../..");

/** Neither read nor entered: what is not ours, what tells of the past, and what tests are made of. */
const leftOut = new Set(["node_modules", "dist", ".git", "api", "docs/decisions", "test", "CHANGELOG.md"]);

/** All Markdown files, relative to the root. */
export const pages: readonly string[] = pagesBelow(root).sort();

function pagesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (leftOut.has(entry.name) || leftOut.has(relative(root, path))) return [];
    if (entry.isDirectory()) return pagesBelow(path);
    return entry.name.endsWith(".md") ? [relative(root, path)] : [];
  });
}

export function textOf(page: string): string {
  return readFileSync(join(root, page), "utf8");
}

export interface CodeBlock {
  readonly page: string;
  /** Of the opening fence, counted from 1. */
  readonly line: number;
  /** The first word after the fence; "" if there is none. */
  readonly language: string;
  readonly text: string;
  /** What a comment before the block says, by its first words: `<!-- not run: … -->`, `<!-- part of: … -->`. */
  readonly notRun?: string;
  readonly partOf?: string;
}

export function blocksOf(page: string, text = textOf(page)): readonly CodeBlock[] {
  const blocks: CodeBlock[] = [];
  let open: { readonly fence: string; readonly indent: number; readonly lines: string[] } & Omit<CodeBlock, "text">;
  let isOpen = false;
  let above = "";
  for (const [index, line] of text.split("\n").entries()) {
    const [, indent = "", fence, language = ""] = /^([ \t]*)(`{3,}|~{3,})([^\s`]*)/.exec(line) ?? [];
    if (isOpen && fence?.startsWith(open!.fence) && line.trim() === fence) {
      const { fence: _fence, indent: _indent, lines, ...rest } = open!;
      blocks.push({ ...rest, text: lines.map((each) => `${each}\n`).join("") });
      isOpen = false;
    } else if (isOpen) open!.lines.push(line.slice(open!.indent));
    else if (fence !== undefined) {
      const notRun = /^<!-- not run: (.+) -->$/.exec(above)?.[1];
      const partOf = /^<!-- part of: (.+) -->$/.exec(above)?.[1];
      open = { page, line: index + 1, language, notRun, partOf, fence, indent: indent.length, lines: [] };
      isOpen = true;
    }
    if (line.trim() !== "") above = line.trim();
  }
  if (isOpen) throw new Error(`${page}:${open!.line}: the block of code is not closed`);
  return blocks;
}

export const blocks: readonly CodeBlock[] = pages.flatMap((page) => blocksOf(page));

/** The text with spaces instead of its blocks of code; lines stay where they are. */
export function proseOf(text: string): string {
  return text.replaceAll(/^([ \t]*)(`{3,}|~{3,})[^]*?^\1\2[ \t]*$/gm, (code) => code.replaceAll(/[^\n]/g, " "));
}

/** Commands within sentences: code spans that begin with the word. */
export function spansOf(page: string, word: string): readonly string[] {
  return Array.from(proseOf(textOf(page)).matchAll(/(?<!`)`([^`\n]+)`(?!`)/g), ([, code]) => code!).filter(
    (code) => code === word || code.startsWith(`${word} `),
  );
}

/** Where it is and what it is, for the title of a test. */
export function titleOf({ page, line, language, notRun }: CodeBlock): string {
  return `${page}:${line} ${language}${notRun === undefined ? "" : ` (not run: ${notRun})`}`;
}

export function blocksIn(...languages: readonly string[]): readonly CodeBlock[] {
  return blocks.filter(({ language }) => languages.includes(language));
}
