/** Private keys as PEM and PGP write them: whole, or with one end cut off. Takes time in proportion to the text. */

/** [from, to): between the marks. */
export interface PrivateKey {
  readonly from: number;
  readonly to: number;
}

const marks = /-{4,5} ?(BEGIN|END) (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;
/** A key that does not end within so many characters is masked no further. */
const maxKeyLength = 32_768;

export function findPrivateKeys(text: string): readonly PrivateKey[] {
  if (!text.includes("PRIVATE KEY")) return [];
  const found: PrivateKey[] = [];
  const add = (from: number, to: number): void => {
    // The name of the block in a program or a manual has nothing behind it.
    if (/[A-Za-z0-9+/=]{16}/.test(text.slice(from, to))) found.push({ from, to });
  };
  /** Where the last mark ends, and whether a key begins there. */
  let last = 0;
  let isOpen = false;
  // Between two marks is at most one key, so that no part of the text is looked at twice.
  for (const { 0: mark, 1: kind, index } of text.matchAll(marks)) {
    const isEnd = kind === "END";
    if (isOpen && isEnd && index - last <= maxKeyLength) add(last, index);
    else {
      if (isOpen) add(last, last + lengthOfKey(text.slice(last, Math.min(index, last + maxKeyLength))));
      if (isEnd) add(index - lengthOfTail(text.slice(Math.max(last, index - maxKeyLength), index)), index);
    }
    last = index + mark.length;
    isOpen = !isEnd;
  }
  if (isOpen) add(last, last + lengthOfKey(text.slice(last, last + maxKeyLength)));
  return found;
}

/** As far as it goes on as a key does: encoded lines, headers, empty lines; also in a patch, a quotation or a comment. */
function lengthOfKey(text: string): number {
  const spelled = /^(?:\\n[A-Za-z0-9+/=]{0,128})*/.exec(text)?.[0].length ?? 0;
  if (spelled > 0) return spelled;
  for (let at = 0; at < text.length;) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed;
    if (!isKeyLine(text.slice(at, end))) return at;
    at = end + 1;
  }
  return text.length;
}

/** The same from its end. */
function lengthOfTail(text: string): number {
  const spelled = lengthOfSpelledTail(text);
  if (spelled > 0) return spelled;
  for (let end = text.length; end > 0;) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    if (!isKeyLine(text.slice(start, end))) return text.length - end;
    end = start - 1;
  }
  return text.length;
}

const encoded = /[A-Za-z0-9+/=]/;

/** Encoded pieces, each with a line feed that is spelled `\n` behind it. */
function lengthOfSpelledTail(text: string): number {
  let start = text.length;
  while (start > 1 && text.startsWith("\\n", start - 2)) {
    start -= 2;
    for (let count = 0; count < 128 && start > 0 && encoded.test(text[start - 1]!); count += 1) start -= 1;
  }
  return text.length - start;
}

/** What may stand before a line: marks of patches, quotations and comments. Then it is encoded, a header, or empty. */
const keyLine = /^[-+ >|*#/\t]{0,8}(?:[A-Za-z0-9+/=]{4,128}|[A-Za-z0-9-]{1,40}: [^\n]{0,200})?$/;
const maxLine = 250;

function isKeyLine(line: string): boolean {
  const trimmed = line.trimEnd();
  return trimmed.length <= maxLine && keyLine.test(trimmed);
}
