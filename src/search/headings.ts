/** Detects where a new section begins: a heading of a document, a definition in code. */
import type { TextFormat } from "./format.ts";

type Began =
  /** The heading with those above it, or the name of the definition and of its container. */
  | { readonly heading: string }
  /** A remark belongs to the definition below it, if there is one. */
  | { readonly isRemark: true };

/** Called line by line, in order; [from, to) is the line without trailing white space, `next` the beginning of the next line. */
type HeadingReader = (text: string, from: number, to: number, next: string) => Began | undefined;

/** Longer lines are neither headings nor first lines of definitions. */
const maxLineLength = 300;

export function headingReader(format: TextFormat): HeadingReader {
  switch (format) {
    case "markdown":
      return readMarkdown();
    case "asciidoc":
      return readAsciidoc();
    case "rst":
      return readRst();
    case "braces":
    case "indents":
    case "statements":
      return readCode(format);
    case "plain":
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

function readMarkdown(): HeadingReader {
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

function readAsciidoc(): HeadingReader {
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

function readRst(): HeadingReader {
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

/** Only near the margin: deeper definitions belong to an outer one. */
function readCode(format: "braces" | "indents" | "statements"): HeadingReader {
  const under = outline();
  return (text, from, to) => {
    if (to - from > maxLineLength) return undefined;
    const line = text.slice(from, to);
    const indent = /^[ \t]*/.exec(line)![0].replaceAll("\t", "    ").length;
    if (indent > 4) return undefined;
    const code = line.trimStart();
    if (remark.test(code)) return { isRemark: true };
    const names = definitions[format].exec(code);
    const name = names?.slice(1).find(Boolean) ?? (format === "braces" ? methodIn(code) : undefined);
    if (name === undefined || (indent > 0 && variable.test(code))) return undefined;
    return under(indent, name);
  };
}

/** Comments, decorators and attributes, which stand above their definition. */
const remark = /^(?:\/\*|\*|\/\/|#(?!include|define|if|endif)|@|--|;;|\[\w)/;
const variable = /^(?:const|let|var)\b/;

/** Matches `name(…) {`, with any types and modifiers before the name. */
function methodIn(code: string): string | undefined {
  const last = code.at(-1);
  if (last !== "{" && last !== ")" && last !== ",") return undefined;
  const before = /^[\w$~<>[\],*&:? ]{1,120}\(/.exec(code)?.[0];
  const name = before && /([\w$~]{1,80})\s?\($/.exec(before)?.[1];
  return !name || statements.has(/^\w+/.exec(code)?.[0] ?? "") || last !== "{" ? undefined : name;
}

const statements = new Set(
  "if else for foreach while switch catch return throw new await with using do match when".split(" "),
);

const modifiers =
  "(?:(?:export|default|public|private|protected|internal|static|abstract|final|async|override|virtual|inline|extern|unsafe|" +
  "pub(?:\\([a-z]+\\))?|sealed|partial|open|data|suspend|const|declare|readonly)\\s+)*";

const definitions = {
  braces: new RegExp(
    `^${modifiers}(?:(?:function\\*?|class|interface|type|enum|struct|trait|impl|fn|func|fun|def|namespace|module|object|record|` +
      `protocol|extension|union|message|service|contract|let|var)\\s+([\\w$]+)|(?<=const\\s)([\\w$]+)|func\\s*\\([^)]*\\)\\s*(\\w+))`,
  ),
  indents:
    /^(?:async\s+|local\s+)?(?:def|class|module|function|sub|defmodule|defp|proc|func|macro)\s+(\w[\w.:?!]*?):?(?=$|[\s(<{;,=|])/,
  statements:
    /^(?:(?:create|alter)\s+(?:\w+\s+){1,6}["`[]?([\w.]+)|function\s+([\w:-]+)|([\w:-]+)\s*\(\)\s*\{?$|(?:resource|module|variable|data|type|input|interface|enum)\s+"?([\w.-]+)|\((?:defun|defn|define|defmacro)\s+([^\s()]+)|([\w.-]+):(?:\s|$))/i,
} as const;
