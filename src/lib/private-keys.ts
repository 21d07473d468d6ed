/** Finds private keys in PEM and PGP format: complete, or with one end cut off. Takes time proportional to the text. */

/** [from, to): between the marks. */
interface PrivateKey {
  readonly from: number;
  readonly to: number;
}

const marks = /-{4,5} ?(BEGIN|END) (?:[A-Z0-9]{1,20} ){0,4}PRIVATE KEY(?: BLOCK)? ?-{4,5}/g;
/** A key without an end within this many characters is masked no further. */
const maxKeyLength = 32_768;

export function findPrivateKeys(text: string): readonly PrivateKey[] {
  if (!text.includes("PRIVATE KEY")) return [];
  const found: PrivateKey[] = [];
  const add = (from: number, to: number): void => {
    // If only the marker is mentioned, in code or a manual, no key follows.
    if (/[A-Za-z0-9+/=]{16}/.test(text.slice(from, to))) found.push({ from, to });
  };
  /** Where the last mark ends, and whether a key starts there. */
  let last = 0;
  let isOpen = false;
  // Between two marks is at most one key, so no part of the text is scanned twice.
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

/** As far as the lines look like a key: encoded lines, headers, empty lines; also in a patch, quotation or comment. */
function lengthOfKey(text: string): number {
  const written = /^(?:\\n[A-Za-z0-9+/=]{0,128})*/.exec(text)?.[0].length ?? 0;
  if (written > 0) return written;
  for (let at = 0; at < text.length;) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed;
    if (!isKeyLine(text.slice(at, end))) return at;
    at = end + 1;
  }
  return text.length;
}

/** The same, backwards from the end. */
function lengthOfTail(text: string): number {
  const written = lengthOfSpelledTail(text);
  if (written > 0) return written;
  for (let end = text.length; end > 0;) {
    const start = text.lastIndexOf("\n", end - 1) + 1;
    if (!isKeyLine(text.slice(start, end))) return text.length - end;
    end = start - 1;
  }
  return text.length;
}

const encoded = /[A-Za-z0-9+/=]/;

/** Encoded pieces, each followed by an escaped line feed `\n`. */
function lengthOfSpelledTail(text: string): number {
  let start = text.length;
  while (start > 1 && text.startsWith("\\n", start - 2)) {
    start -= 2;
    for (let count = 0; count < 128 && start > 0 && encoded.test(text[start - 1]!); count += 1) start -= 1;
  }
  return text.length - start;
}

/** What may precede a line: marks of patches, quotations and comments. Then the line is encoded, a header, or empty. */
const keyLine = /^[-+ >|*#/\t]{0,8}(?:[A-Za-z0-9+/=]{4,128}|[A-Za-z0-9-]{1,40}: [^\n]{0,200})?$/;
const maxLine = 250;

function isKeyLine(line: string): boolean {
  const trimmed = line.trimEnd();
  return trimmed.length <= maxLine && keyLine.test(trimmed);
}
