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
  return { name: "o200k_base", count: (text) => encoding.encode_ordinary(text).length };
}
