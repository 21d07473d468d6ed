/** Detects where a new section begins: a heading of a document, a definition in code. */
import { inAnyScript } from "./any-script.ts";
import { createCodeScanner } from "./code-scanner.ts";
import { definitionIn, type Definition } from "./definitions.ts";
import { isCode, type CodeFormat, type TextFormat } from "./format.ts";

type Began =
  /** The heading with those above it, or the name of the definition and of its containers. */
  | { readonly heading: string; readonly definition?: Definition }
  /** A remark belongs to the definition below it, if there is one. */
  | { readonly isRemark: true };

/** Called line by line, in order; [from, to) is the line without trailing white space, `next` the beginning of the next line. */
type ReadLine = (text: string, from: number, to: number, next: string) => Began | undefined;

/** A definition whose end has not been read yet. */
export interface OpenDefinition extends Definition {
  readonly indent: number;
  /** [from, to) of its first line. */
  readonly from: number;
  readonly to: number;
}

interface HeadingReader {
  readonly read: ReadLine;
  /** Definitions that contain the line that was read last. */
  containers(): readonly OpenDefinition[];
}

/** Longer lines are neither headings nor first lines of definitions. */
const maxLineLength = 300;

export function headingReader(format: TextFormat): HeadingReader {
  if (isCode(format)) return readCode(format);
  return { read: readProse(format), containers: () => [] };
}

function readProse(format: TextFormat): ReadLine {
  switch (format) {
    case "markdown":
      return readMarkdown();
    case "asciidoc":
      return readAsciidoc();
    case "rst":
      return readRst();
    default:
      return () => undefined;
  }
}

/** Tracks the headings above a position, by level. */
function outline(): (level: number, title: string) => { heading: string } {
  const open: { level: number; title: string }[] = [];
  return (level, title) => {
    while (open.length > 0 && open.at(-1)!.level >= level) open.pop();
    open.push({ level, title: title.slice(0, 120) });
    return { heading: open.map((one) => one.title).join(" > ") };
  };
}

function readMarkdown(): ReadLine {
  const under = outline();
  let fence = "";
  let inFrontMatter = false;
  let isFirst = true;
  return (text, from, to, next) => {
    if (to - from > maxLineLength) return undefined;
    const line = text.slice(from, to);
    if (isFirst) {
      isFirst = false;
      if (line === "---") inFrontMatter = true;
      if (inFrontMatter) return undefined;
    }
    if (inFrontMatter) {
      if (line === "---" || line === "...") inFrontMatter = false;
      return undefined;
    }
    const marks = /^ {0,3}(```+|~~~+)/.exec(line)?.[1];
    if (fence !== "") {
      if (marks?.startsWith(fence) && line.trim() === marks) fence = "";
      return undefined;
    }
    if (marks) {
      fence = marks;
      return undefined;
    }
    const [mark, hashes] = /^ {0,3}(#{1,6})[ \t]/.exec(line) ?? [];
    if (mark !== undefined)
      return under(
        hashes!.length,
        line
          .slice(mark.length)
          .trimStart()
          .replace(/(?<![ \t])[ \t]+#+$/, ""),
      );
    const underline = /^ {0,3}(=+|-{2,})[ \t]*\r?$/.exec(next)?.[1];
    if (underline && /^ {0,3}[^\s>|*+#-]/.test(line)) return under(underline.startsWith("=") ? 1 : 2, line.trim());
    return undefined;
  };
}

function readAsciidoc(): ReadLine {
  const under = outline();
  let fence = "";
  return (text, from, to) => {
    if (to - from > maxLineLength) return undefined;
    const line = text.slice(from, to);
    if (fence !== "") {
      if (line === fence) fence = "";
      return undefined;
    }
    if (/^(?:-{4,}|\.{4,}|\+{4,}|\/{4,})$/.test(line)) {
      fence = line;
      return undefined;
    }
    const [, marks] = /^(={1,6}|#{1,6})[ \t]/.exec(line) ?? [];
    const title = marks === undefined ? "" : line.slice(marks.length).trimStart();
    return marks === undefined || title === "" ? undefined : under(marks.length, title);
  };
}

function readRst(): ReadLine {
  const under = outline();
  const levels: string[] = [];
  return (text, from, to, next) => {
    if (to - from > maxLineLength) return undefined;
    const line = text.slice(from, to);
    const sign = /^([=\-`:'"~^_*+#<>.])\1{2,}[ \t]*\r?$/.exec(next)?.[1];
    // A line of punctuation above the title belongs to the underline below it.
    if (!sign || /^([=\-`:'"~^_*+#<>.])\1{2,}$/.test(line) || /^\s/.test(line)) return undefined;
    if (!levels.includes(sign)) levels.push(sign);
    return under(levels.indexOf(sign) + 1, line.trim());
  };
}

/** Comments, which belong to the definition below them. */
const comment = /^(?:\/\*|\*(?:$|[\s/*])|\/\/|--|;;)/;
const hashComment = /^#/;
/** Annotations, attributes and template parameters before a definition, or on lines of their own above it. */
const annotation = inAnyScript(
  /^(?:@(?!interface\b)[\w.]+(?:\([^()]*\))?|\[[\w.:]+(?:\([^()]*\))?\]|#\[[^\]]*\]|template\s*<[^()]*>|\/\*[^*]*\*\/)\s*/,
);
const annotatedType = inAnyScript(/^((?:[a-z]+ )+)@\w+\s+/);
const continued = /^(?:[)\]{]|where\b)/;
/** Labels and preprocessor directives, which stand at the margin within functions and classes. */
const atMargin = inAnyScript(/^(?:#|[\w ]{1,40}:$)/);
/** In C: a return type on a line of its own. */
const typeAlone = inAnyScript(/^[\w*][\w\s*]*$/);
const closed = /^(?:\}|end\b)/i;

/** True if the line is part of a definition that begins with the same indent. */
export function isContinued(code: string, format: TextFormat): boolean {
  return closed.test(code) || continued.test(code) || ((format === "c" || format === "go") && atMargin().test(code));
}

const hasHashComments: ReadonlySet<TextFormat> = new Set(["python", "ruby", "shell", "indents"]);
/** Longer lines are data or minified. */
const maxCodeLength = 3000;

function readCode(format: CodeFormat): HeadingReader {
  const scanner = createCodeScanner(format);
  const open: OpenDefinition[] = [];
  let indent = 0;

  function read(text: string, from: number, to: number): Began | undefined {
    const { at: state } = scanner;
    const line = text.slice(from, to);
    scanner.read(line);
    if (state !== "code") return state === "comment" ? { isRemark: true } : undefined;
    indent = indentOf(line);
    if (line.length > maxCodeLength) return undefined;
    const code = withoutAnnotations(line.trimStart());
    const comments = hasHashComments.has(format) ? hashComment : comment;
    if (code === "" || /^@(?!interface)|^#?\[/.test(code) || comments.test(code)) return { isRemark: true };
    const isClosed = closed.test(code);
    const definition = definitionIn(format, {
      code: code.slice(0, maxLineLength),
      text,
      at: to - code.length,
      indent,
      within: open.findLast((one) => one.indent < indent || (isClosed && one.indent === indent)),
    });
    if (isClosed || !isContinued(code, format)) while (open.length > 0 && open.at(-1)!.indent >= indent) open.pop();
    if (!definition) return format === "c" && typeAlone().test(code) ? { isRemark: true } : undefined;
    const titles = [...open, definition].flatMap(({ title }) => title || []);
    if (definition.kind !== "value") open.push({ ...definition, indent, from, to });
    else if (/[[({]$/.test(code)) open.push({ ...definition, kind: "type", indent, from, to });
    return { heading: titles.join(" > "), definition };
  }

  return { read, containers: () => open.filter((one) => one.indent < indent) };
}

function withoutAnnotations(code: string): string {
  let rest = code;
  for (let found = annotation().exec(rest)?.[0]; found; found = annotation().exec(rest)?.[0])
    rest = rest.slice(found.length);
  // Java writes annotations of a return type after the modifiers.
  return /^[a-z]+ @(?!interface)/.test(rest) ? rest.replace(annotatedType(), "$1") : rest;
}

/** Width of the white space before the text. */
export function indentOf(line: string): number {
  let width = 0;
  for (let at = 0; line[at] === " " || line[at] === "\t"; at += 1) width += line[at] === "\t" ? 4 : 1;
  return width;
}
