/** Highlights code as plain values. The library would produce HTML; only its scopes are used here. */
import core from "highlight.js/lib/core";
import type { Emitter } from "highlight.js";
import { grammars, grammarOf } from "./grammars.ts";

/** A piece of the text and its kind: one of a fixed set of words, which the style sheet uses. */
export interface HighlightRun {
  readonly text: string;
  readonly kind?: RunKind;
}

/** The library's scopes of each kind. */
const scopesOf = {
  comment: "comment quote doctag",
  meta: "meta",
  keyword: "keyword selector name tag",
  title: "section title",
  type: "built_in type class",
  string: "string regexp addition link char code",
  number: "number literal symbol bullet",
  variable: "deletion attr attribute variable property params template",
} as const;
type RunKind = keyof typeof scopesOf;
const kinds = new Map(
  Object.entries(scopesOf).flatMap(([kind, scopes]) => scopes.split(" ").map((scope) => [scope, kind as RunKind])),
);

/** Thrown into the library when time is up; the library then returns what it has. */
class TimeUp extends Error {}

/** When to stop `Runs`. */
let isTimeUp = (): boolean => false;

/** Collects the scopes that the library finds. A class, because the library creates it with `new`. */
class Runs implements Emitter {
  readonly runs: HighlightRun[] = [];
  length = 0;
  /** End of the last line that ended outside every scope: highlighting can restart there. */
  lastEnd = 0;
  private readonly scopes: (RunKind | undefined)[] = [];

  addText(text: string): void {
    this.push(text, this.scopes.at(-1));
  }
  startScope(name: string): void {
    // A scope without its own colour gets that of the enclosing scope.
    this.scopes.push(kindOf(name) ?? this.scopes.at(-1));
  }
  endScope(): void {
    this.scopes.pop();
  }
  // Older names of these methods in the library.
  openNode(name: string): void {
    this.startScope(name);
  }
  closeNode(): void {
    this.endScope();
  }
  __addSublanguage(other: Emitter): void {
    if (!(other instanceof Runs)) return;
    // The sublanguage is incomplete if the time was up.
    if (isTimeUp()) throw new TimeUp();
    for (const { text, kind } of other.runs) this.push(text, kind ?? this.scopes.at(-1));
  }
  private push(text: string, kind: RunKind | undefined): void {
    if (isTimeUp()) throw new TimeUp();
    const feed = this.scopes.length === 0 ? text.lastIndexOf("\n") : -1;
    if (feed >= 0) this.lastEnd = this.length + feed + 1;
    this.length += text.length;
    const last = this.runs.at(-1);
    if (last && last.kind === kind) this.runs[this.runs.length - 1] = run(last.text + text, kind);
    else if (text !== "") this.runs.push(run(text, kind));
  }
  finalize(): void {}
  toHTML(): string {
    return "";
  }
}

const highlighter = core.newInstance();
highlighter.configure({ __emitter: Runs });
for (const [name, [grammar]] of Object.entries(grammars)) highlighter.registerLanguage(name, grammar);

/** Some grammars take superlinear time on some texts: limits the length of a block and its time. */
const blockLength = 4 * 1024;
const blockMs = 100;
/** If a block ends within a scope, such as a long comment, twice as much is tried if it took no longer than this. */
const patienceMs = 15;
const maxBlock = 64 * 1024;
/** Longer lines are probably generated, and are not highlighted. */
const maxLine = 500;

interface Block {
  /** Together they are the text of the block. */
  readonly runs: readonly HighlightRun[];
  /** Start of the next block. */
  readonly to: number;
}

/** Highlights the text from here, as far as the time of one block allows. Undefined for an unknown language. */
export function colourBlock(
  text: string,
  from: number,
  name: string,
  nowMs = () => performance.now(),
): Block | undefined {
  const language = grammarOf(name);
  if (language === undefined) return undefined;
  for (let length = blockLength; ; length *= 2) {
    const end = endOfLines(text, from, length);
    if (end === from) break;
    const startMs = nowMs();
    isTimeUp = () => nowMs() > startMs + blockMs;
    const found = highlight(text.slice(from, end), language);
    const isLast = end === text.length || length >= maxBlock || nowMs() - startMs > patienceMs;
    const to = end < text.length && found.lastEnd > 0 ? found.lastEnd : isLast ? found.length : 0;
    if (to > 0) return { runs: upTo(found.runs, to), to: from + to };
    if (isLast) break;
  }
  const to = endOfLine(text, from);
  return { runs: [{ text: text.slice(from, to) }], to };
}

function highlight(text: string, language: string): Runs {
  const { _emitter: found } = highlighter.highlight(text, { language, ignoreIllegals: true });
  if (!(found instanceof Runs)) return new Runs();
  // The highlighted text must equal the original.
  return text.startsWith(found.runs.map((each) => each.text).join("")) ? found : new Runs();
}

/** End of the lines of about this total length, before the first line that is too long. */
function endOfLines(text: string, from: number, length: number): number {
  let end = from;
  while (end < text.length && end - from < length) {
    const next = endOfLine(text, end);
    if (next - end > maxLine) break;
    end = next;
  }
  return end;
}

function endOfLine(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  return feed < 0 ? text.length : feed + 1;
}

function upTo(runs: readonly HighlightRun[], length: number): readonly HighlightRun[] {
  const head: HighlightRun[] = [];
  let left = length;
  for (const { text, kind } of runs) {
    if (left <= 0) break;
    head.push(run(text.slice(0, left), kind));
    left -= text.length;
  }
  return head;
}

/** Splits the runs into lines, each with its line end. */
export function highlightedLines(runs: readonly HighlightRun[]): readonly (readonly HighlightRun[])[] {
  const lines: HighlightRun[][] = [];
  let line: HighlightRun[] = [];
  for (const { text, kind } of runs)
    for (let from = 0; from < text.length;) {
      const end = text.indexOf("\n", from);
      const to = end < 0 ? text.length : end + 1;
      line.push(run(text.slice(from, to), kind));
      if (end >= 0) {
        lines.push(line);
        line = [];
      }
      from = to;
    }
  if (line.length > 0) lines.push(line);
  return lines;
}

function run(text: string, kind: RunKind | undefined): HighlightRun {
  return kind === undefined ? { text } : { text, kind };
}

function kindOf(scope: string): RunKind | undefined {
  return kinds.get(/^[a-z_]+/.exec(scope)?.[0] ?? "");
}
