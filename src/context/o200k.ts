/** Counts the tokens of o200k, the byte pair encoding of OpenAI's models since 2024. */

/**
 * Words, up to three digits, signs, line breaks and blanks: tokens never cross these pieces. In the original, `\s` is Unicode's White_Space,
 * and the endings of English contractions match regardless of case, to which "ſ" belongs.
 */
const ending = String.raw`(?:'(?:[sStTmMdDſ]|[rR][eE]|[vV][eE]|[lL]{2}))?`;
const [upper, lower] = [String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`];
const beforeWord = String.raw`[^\r\n\p{L}\p{N}]?`;
const blank = String.raw`\p{White_Space}`;
const piece = new RegExp(
  [
    `${beforeWord}${upper}*${lower}+${ending}`,
    `${beforeWord}${upper}+${lower}*${ending}`,
    String.raw`\p{N}{1,3}`,
    String.raw` ?[^${blank}\p{L}\p{N}]+[\r\n/]*`,
    String.raw`${blank}*[\r\n]+`,
    `${blank}+(?!\\P{White_Space})`,
    `${blank}+`,
  ].join("|"),
  "gu",
);
const onlyAscii = /^[\0-\x7f]*$/;

/** Bytes as text, one character each. */
type ByteText = string;
type Ranks = ReadonlyMap<ByteText, number>;

/** `vocabulary` contains every token in the order of its rank, each after a byte with its length. */
export function createO200kCount(vocabulary: Buffer): (text: string) => number {
  const ranks = readRanks(vocabulary);
  return (text) => {
    let tokens = 0;
    for (const [match] of text.matchAll(piece)) {
      const bytes = onlyAscii.test(match) ? match : Buffer.from(match).toString("latin1");
      tokens += ranks.has(bytes) ? 1 : countMerged(bytes, ranks);
    }
    return tokens;
  };
}

function readRanks(vocabulary: Buffer): Ranks {
  const ranks = new Map<ByteText, number>();
  const text: ByteText = vocabulary.toString("latin1");
  for (let at = 0; at < text.length;) {
    const end = at + 1 + text.charCodeAt(at);
    ranks.set(text.slice(at + 1, end), ranks.size);
    at = end;
  }
  return ranks;
}

/** Merges the neighbours of the lowest rank until no two neighbours are a token. Takes time in proportion to the square of the length. */
function countMerged(bytes: ByteText, ranks: Ranks): number {
  /** Where each part begins, and where the last one ends. */
  const starts = Array.from({ length: bytes.length + 1 }, (_, at) => at);
  const rankAt = (index: number): number =>
    index + 2 < starts.length ? (ranks.get(bytes.slice(starts[index], starts[index + 2])) ?? Infinity) : Infinity;
  /** The rank of each part together with the next one. */
  const merged = starts.slice(0, -1).map((_, index) => rankAt(index));
  for (;;) {
    let lowest = Infinity;
    let index = -1;
    for (let each = 0; each < merged.length; each += 1)
      if (merged[each]! < lowest) {
        lowest = merged[each]!;
        index = each;
      }
    if (index < 0) return merged.length;
    starts.splice(index + 1, 1);
    merged.splice(index + 1, 1);
    merged[index] = rankAt(index);
    if (index > 0) merged[index - 1] = rankAt(index - 1);
  }
}
