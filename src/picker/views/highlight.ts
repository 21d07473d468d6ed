/** Code in colours: what stands where, as values. The library would make HTML of it; here it is only asked what it found. */
import core from "highlight.js/lib/core";
import type { Emitter } from "highlight.js";
import { grammars, languageOf } from "./grammars.ts";

/** A piece of the text, and what it is: one of a fixed set of words, which the style sheet knows. */
export interface Run {
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

/** Takes down what the library finds. A class, because the library makes it with `new`. */
class Runs implements Emitter {
  readonly runs: Run[] = [];
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
    for (const { text, kind } of other.runs) this.say(text, kind ?? this.scopes.at(-1));
  }
  private say(text: string, kind: RunKind | undefined): void {
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

/** Undefined where nothing is known of the language. The runs together are the text. */
export function runsOf(text: string, said: string): readonly Run[] | undefined {
  const language = languageOf(said);
  if (language === undefined) return undefined;
  const { _emitter: found } = highlighter.highlight(text, { language, ignoreIllegals: true });
  if (!(found instanceof Runs)) return undefined;
  const length = found.runs.reduce((sum, { text: piece }) => sum + piece.length, 0);
  // What is coloured may never be other than what was read.
  return length === text.length ? found.runs : undefined;
}

/** The same in lines, each with its end. */
export function linesOf(runs: readonly Run[]): readonly (readonly Run[])[] {
  const lines: Run[][] = [];
  let line: Run[] = [];
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

function run(text: string, kind: RunKind | undefined): Run {
  return kind === undefined ? { text } : { text, kind };
}

function kindOf(scope: string): RunKind | undefined {
  const word = /^[a-z_]+/.exec(scope)?.[0] ?? "";
  return Object.hasOwn(kinds, word) ? kinds[word as keyof typeof kinds] : undefined;
}
