/** Code in colours: what stands where, as values. The library would make HTML of it; here it is only asked what it found. */
import core from "highlight.js/lib/core";
import type { Emitter } from "highlight.js";
import { grammars, grammarOf } from "./grammars.ts";

/** A piece of the text, and what it is: one of a fixed set of words, which the style sheet knows. */
export interface HighlightRun {
  readonly text: string;
  readonly kind?: RunKind;
}

const kinds = {
  comment: "comment",
  quote: "comment",
  doctag: "comment",
  meta: "meta",
  keyword: "keyword",
  selector: "keyword",
  name: "keyword",
  tag: "keyword",
  section: "title",
  title: "title",
  built_in: "type",
  type: "type",
  class: "type",
  string: "string",
  regexp: "string",
  addition: "string",
  link: "string",
  char: "string",
  code: "string",
  number: "number",
  literal: "number",
  symbol: "number",
  bullet: "number",
  deletion: "variable",
  attr: "variable",
  attribute: "variable",
  variable: "variable",
  property: "variable",
  params: "variable",
  template: "variable",
} as const;
type RunKind = (typeof kinds)[keyof typeof kinds];

/** There is no time for more. Thrown into the library, which then gives what it has. */
class TimeUp extends Error {}

/** When `Runs` takes no more, as `performance.now()` counts. */
let deadlineMs = Infinity;

/** Takes down what the library finds. A class, because the library makes it with `new`. */
class Runs implements Emitter {
  readonly runs: HighlightRun[] = [];
  length = 0;
  /** Behind the last line that ended outside of everything: from there on, a grammar can begin anew. */
  lastEnd = 0;
  private readonly scopes: (RunKind | undefined)[] = [];

  addText(text: string): void {
    this.say(text, this.scopes.at(-1));
  }
  startScope(name: string): void {
    // What has no colour of its own has that of what it stands in.
    this.scopes.push(kindOf(name) ?? this.scopes.at(-1));
  }
  endScope(): void {
    this.scopes.pop();
  }
  // What the library calls these in some places.
  openNode(name: string): void {
    this.startScope(name);
  }
  closeNode(): void {
    this.endScope();
  }
  __addSublanguage(other: Emitter): void {
    if (!(other instanceof Runs)) return;
    // Then the other may lack its end.
    if (performance.now() > deadlineMs) throw new TimeUp();
    for (const { text, kind } of other.runs) this.say(text, kind ?? this.scopes.at(-1));
  }
  private say(text: string, kind: RunKind | undefined): void {
    if (performance.now() > deadlineMs) throw new TimeUp();
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
for (const [name, grammar] of Object.entries(grammars)) highlighter.registerLanguage(name, grammar);

/** Some texts take a grammar a time that grows much faster than they do: so much is given to it at once, and so much time. */
const blockLength = 4 * 1024;
const blockMs = 100;
/** Where everything stands within something, as in a long comment, twice as much is tried if it took no longer than this. */
const patienceMs = 15;
const maxBlock = 64 * 1024;
/** A line that is longer was written by no person, and stays as it is. */
const maxLine = 500;

export interface Block {
  /** Together they are the text from where it was begun. */
  readonly runs: readonly HighlightRun[];
  /** Where the next block begins. */
  readonly to: number;
}

/** Colours the text from here on, as far as there is time for at once. Undefined where nothing is known of the language. */
export function colourBlock(text: string, from: number, said: string): Block | undefined {
  const language = grammarOf(said);
  if (language === undefined) return undefined;
  for (let length = blockLength; ; length *= 2) {
    const end = endOfLines(text, from, length);
    if (end === from) break;
    const startMs = performance.now();
    const found = highlight(text.slice(from, end), language);
    const isLast = end === text.length || length >= maxBlock || performance.now() - startMs > patienceMs;
    const to = end < text.length && found.lastEnd > 0 ? found.lastEnd : isLast ? found.length : 0;
    if (to > 0) return { runs: upTo(found.runs, to), to: from + to };
    if (isLast) break;
  }
  const to = endOfLine(text, from);
  return { runs: [{ text: text.slice(from, to) }], to };
}

function highlight(text: string, language: string): Runs {
  deadlineMs = performance.now() + blockMs;
  const { _emitter: found } = highlighter.highlight(text, { language, ignoreIllegals: true });
  if (!(found instanceof Runs)) return new Runs();
  // What is coloured may never be other than what was read.
  return text.startsWith(found.runs.map((each) => each.text).join("")) ? found : new Runs();
}

/** Where the lines end that are about so long together, before the first one that is not worth the time. */
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
  const kept: HighlightRun[] = [];
  let left = length;
  for (const { text, kind } of runs) {
    if (left <= 0) break;
    kept.push(run(text.slice(0, left), kind));
    left -= text.length;
  }
  return kept;
}

/** The same in lines, each with its end. */
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
  const word = /^[a-z_]+/.exec(scope)?.[0] ?? "";
  return Object.hasOwn(kinds, word) ? kinds[word as keyof typeof kinds] : undefined;
}
