/** Tells which lines of code begin within a comment or a string that was opened on an earlier line. */
import { inAnyScript } from "./any-script.ts";
import type { CodeFormat } from "./format.ts";

interface CodeScanner {
  /** Where the next line begins. */
  readonly at: "code" | "comment" | "string";
  /** Takes the lines in order. */
  read(line: string): void;
}

interface Syntax {
  readonly lineComment: readonly string[];
  /** Opening mark → closing mark, of comments and strings that may span lines. */
  readonly spans: Readonly<Record<string, string>>;
  /** Marks of strings that end on their line. */
  readonly quotes: string;
  readonly hereDocument?: () => RegExp;
  readonly hasRegex?: boolean;
}

const cComments = { "/*": "*/" };
const cLike: Syntax = { lineComment: ["//"], spans: cComments, quotes: "\"'" };
const tripleQuotes: Syntax = { lineComment: ["//"], spans: { ...cComments, '"""': '"""' }, quotes: "\"'" };

const syntaxes: Readonly<Partial<Record<CodeFormat, Syntax>>> = {
  script: { lineComment: ["//"], spans: { ...cComments, "`": "`" }, quotes: "\"'", hasRegex: true },
  go: { lineComment: ["//"], spans: { ...cComments, "`": "`" }, quotes: "\"'" },
  // A quote before a lifetime opens nothing.
  rust: { lineComment: ["//"], spans: cComments, quotes: '"' },
  java: tripleQuotes,
  csharp: tripleQuotes,
  kotlin: tripleQuotes,
  swift: { ...tripleQuotes, quotes: '"' },
  c: cLike,
  php: { lineComment: ["//", "#"], spans: cComments, quotes: "\"'", hereDocument: inAnyScript(/<<<[ \t]?["']?(\w+)/) },
  python: { lineComment: ["#"], spans: { '"""': '"""', "'''": "'''" }, quotes: "\"'" },
  ruby: { lineComment: ["#"], spans: {}, quotes: "\"'", hereDocument: inAnyScript(/<<[~-]["'`]?(\w+)/) },
  shell: {
    lineComment: [" #", "\t#"],
    spans: {},
    quotes: "",
    hereDocument: inAnyScript(/<<-?[ \t]?["'\\]?((?!\d)\w+)/),
  },
  sql: { lineComment: ["--"], spans: cComments, quotes: "" },
  braces: cLike,
};

/** Longer lines are data. */
const maxLineLength = 10_000;

export function createCodeScanner(format: CodeFormat): CodeScanner {
  const syntax = syntaxes[format];
  const spans = Object.entries(syntax?.spans ?? {});
  /** First characters of all marks: most characters need no further look. */
  const starts = startsOf(syntax);
  /** Mark that ends the open comment or string; "" in code. */
  let end = "";
  let isHereDocument = false;
  return {
    get at() {
      return end === "" ? "code" : end === "*/" ? "comment" : "string";
    },
    read(line) {
      if (!syntax || line.length > maxLineLength) return;
      if (isHereDocument) {
        if (line.trim().replace(/[;,)]{1,3}$/, "") !== end) return;
        isHereDocument = false;
        end = "";
        return;
      }
      if (end === "" && !/["'`/#<]|--/.test(line)) return;
      for (let at = 0; at < line.length;) {
        if (end !== "") {
          const found = line.indexOf(end, at);
          if (found === -1) return;
          at = found + end.length;
          if (!isEscaped(line, found) || end === "*/") end = "";
          continue;
        }
        at = readCode(syntax, line, at);
      }
      const tag = end === "" ? syntax.hereDocument?.().exec(line)?.[1] : undefined;
      if (tag === undefined) return;
      isHereDocument = true;
      end = tag;
    },
  };

  /** Returns the position after the first mark from `from` on, and what it encloses; sets `end` if that continues. */
  function readCode({ lineComment, quotes, hasRegex }: Syntax, line: string, from: number): number {
    let at = from;
    while (at < line.length && starts[line.charCodeAt(at)] !== 1) at += 1;
    if (at === line.length || lineComment.some((mark) => line.startsWith(mark, at))) return line.length;
    for (const [open, close] of spans)
      if (line.startsWith(open, at)) {
        end = close;
        return at + open.length;
      }
    const character = line[at]!;
    if (quotes.includes(character)) return closingQuote(line, at, character) + 1;
    if (hasRegex && character === "/" && isRegexAfter(line, at)) return closingQuote(line, at, character) + 1;
    return at + 1;
  }
}

/** By character: 1 if a mark begins with it. */
function startsOf(syntax: Syntax | undefined): Uint8Array {
  const starts = new Uint8Array(128);
  if (!syntax) return starts;
  const { lineComment, spans, quotes, hasRegex } = syntax;
  for (const mark of [...lineComment, ...Object.keys(spans), ...quotes, ...(hasRegex ? "/" : "")])
    starts[mark.charCodeAt(0)] = 1;
  return starts;
}

/** Position of the closing quote, or the end of the line. */
function closingQuote(line: string, open: number, quote: string): number {
  let isInClass = false;
  for (let at = open + 1; at < line.length; at += 1) {
    const character = line[at];
    if (character === "\\") at += 1;
    else if (character === quote && !isInClass) return at;
    else if (quote === "/" && (character === "[" || character === "]")) isInClass = character === "[";
  }
  return line.length;
}

/** A slash after a value divides. */
function isRegexAfter(line: string, at: number): boolean {
  const before = line.slice(Math.max(0, at - 12), at).trimEnd();
  return before === "" || /[(,=:[!&|?{};+>]$|\b(?:return|case|typeof)$/.test(before);
}

function isEscaped(line: string, at: number): boolean {
  let slashes = 0;
  while (line[at - 1 - slashes] === "\\") slashes += 1;
  return slashes % 2 === 1;
}
