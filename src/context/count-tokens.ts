/** Counts tokens: as o200k does, or by an estimate that is rather too high. */
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import { readPackageFile } from "../lib/package-files.ts";
import { packageFolder } from "../lib/package-folder.ts";
import { createO200kCount } from "./o200k.ts";
import { estimateTokens } from "../lib/estimate-tokens.ts";

export interface CountTokens {
  /** Name of the tokenizer. */
  readonly name: string;
  /** The empty text has none. */
  count(text: string): number;
}

/** Estimates from the characters alone. */
export const estimate: CountTokens = { name: "estimate", count: estimateTokens };

let best: Promise<CountTokens> | undefined;

/** Exact for models that use o200k. Without the file of its vocabulary, which the build writes, the estimate. */
export function bestCounter(): Promise<CountTokens> {
  best ??= loadTokenizer().catch(() => estimate);
  return best;
}

async function loadTokenizer(): Promise<CountTokens> {
  const file = join(packageFolder(), "dist", "o200k_base.br");
  const count = createO200kCount(await promisify(brotliDecompress)(await readPackageFile(file)));
  return { name: "o200k_base", count: (text) => pieces(text).reduce((sum, piece) => sum + count(piece), 0) };
}

/** Long runs of letters, blanks or signs: the tokenizer takes time in proportion to the square of their length. */
const longRun = /[\p{L}\p{M}]{101,}|\s{101,}|[^\p{L}\p{M}\p{N}\s]{101,}/gu;
const maxRun = 100;

/** Cuts the text within runs that no language has; the count may then be too high by a token. */
function pieces(text: string): readonly string[] {
  const cut: string[] = [];
  let from = 0;
  for (const { 0: run, index } of text.matchAll(longRun))
    for (let at = index + maxRun; at < index + run.length; at += maxRun) {
      // Not within a surrogate pair.
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
