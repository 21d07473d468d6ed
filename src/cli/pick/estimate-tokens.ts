/** About how many tokens a text takes, without a tokenizer: good enough to see a choice grow. */

const perAscii = 1 / 3.6;
const perOther = 0.75;

export function estimateTokens(text: string): number {
  let ascii = 0;
  let others = 0;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit < 0x80) ascii += 1;
    // Of a pair of surrogates only the first counts.
    else if (unit < 0xdc00 || unit > 0xdfff) others += 1;
  }
  return Math.ceil(ascii * perAscii + others * perOther);
}

/** Where only the size is known. */
export function estimateOfBytes(bytes: number): number {
  return Math.ceil(bytes * perAscii);
}
