/** How many tokens a text has: by a real tokenizer where one is installed, else by an estimate that errs on the safe side. */
import { estimateTokens } from "../lib/estimate-tokens.ts";

export interface CountTokens {
  /** Whose tokens are counted. */
  readonly name: string;
  /** The empty text has none. */
  count(text: string): number;
}

/** What a text costs, judged by its letters alone. */
export const estimate: CountTokens = { name: "estimate", count: estimateTokens };

/** What of the package is used. */
interface Encoding {
  encode_ordinary(text: string): { readonly length: number };
}

const packageName = "tiktoken";
let best: Promise<CountTokens> | undefined;

/** Exact for the models that use o200k, where the package `tiktoken` is installed; else the estimate. */
export function bestCounter(): Promise<CountTokens> {
  best ??= loadTokenizer().catch(() => estimate);
  return best;
}

async function loadTokenizer(): Promise<CountTokens> {
  const loaded: unknown = await import(packageName);
  const { get_encoding: open } = loaded as { readonly get_encoding: (name: string) => Encoding };
  const encoding = open("o200k_base");
  // What is spelled like a special token in a text is a text like any other.
  const count = (text: string): number => encoding.encode_ordinary(text).length;
  return { name: "o200k_base", count: (text) => pieces(text).reduce((sum, piece) => sum + count(piece), 0) };
}

/** Letters, blanks or signs without a break: the tokenizer takes time in proportion to the square of such a run. */
const longRun = /[\p{L}\p{M}]{101,}|\s{101,}|[^\p{L}\p{M}\p{N}\s]{101,}/gu;
const maxRun = 100;

/** The text, cut within runs that no language has: there a token more may be counted than there is. */
function pieces(text: string): readonly string[] {
  const cut: string[] = [];
  let from = 0;
  for (const { 0: run, index } of text.matchAll(longRun))
    for (let at = index + maxRun; at < index + run.length; at += maxRun) {
      // Not between the two halves of a character.
      const end = isSecondHalf(text.charCodeAt(at)) ? at + 1 : at;
      cut.push(text.slice(from, end));
      from = end;
    }
  cut.push(text.slice(from));
  return cut;
}

function isSecondHalf(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
