/** Finds the relative paths that a program names in its literals. */

/** Longer paths name no file. */
const maxLength = 4096;

/**
 * Every quoted text that begins with "./" or "../", as JavaScript reads it; also those in comments and in other texts. `mayFindMore` is
 * called for each, and may throw.
 */
export function relativeSpecifiers(text: string, mayFindMore: () => void = () => {}): ReadonlySet<string> {
  const found = new Set<string>();
  for (const { 0: mark, index } of text.matchAll(/["'`]/g)) {
    if (!isRelative(literalFrom(text, index + 1, mark, 3))) continue;
    mayFindMore();
    found.add(literalFrom(text, index + 1, mark, maxLength));
  }
  return found;
}

function isRelative(start: string): boolean {
  return /^\.{1,2}(?:$|[/\\])/.test(start);
}

/** The literal up to its closing mark, or its first characters. */
function literalFrom(text: string, from: number, mark: string, maxChars: number): string {
  let literal = "";
  for (let at = from; at < text.length && literal.length < maxChars;) {
    const char = text[at]!;
    if (char === mark || (mark !== "`" && (char === "\n" || char === "\r"))) break;
    if (char === "\\") {
      const { value, end } = escapeAt(text, at + 1);
      literal += value;
      at = end;
    } else {
      literal += char;
      at += 1;
    }
  }
  return literal;
}

const simple = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["b", "\b"],
  ["v", "\v"],
  ["f", "\f"],
  ["r", "\r"],
  // A backslash continues the line.
  ["\n", ""],
  ["\u2028", ""],
  ["\u2029", ""],
]);
const coded = /x([\da-f]{2})|u([\da-f]{4})|u\{([\da-f]+)\}|([0-3][0-7]{0,2}|[4-7][0-7]?)/iy;

/** The character of an escape. https://tc39.es/ecma262/#prod-EscapeSequence and, for CommonJS, octal ones. */
function escapeAt(text: string, at: number): { readonly value: string; readonly end: number } {
  coded.lastIndex = at;
  const match = coded.exec(text);
  if (match) {
    const [all, byte, unit, point, octal] = match;
    const code = octal === undefined ? parseInt(byte ?? unit ?? point ?? "", 16) : parseInt(octal, 8);
    return { value: code <= 0x10ffff ? String.fromCodePoint(code) : "", end: at + all.length };
  }
  if (text.startsWith("\r\n", at)) return { value: "", end: at + 2 };
  const char = text[at] ?? "";
  return { value: char === "\r" ? "" : (simple.get(char) ?? char), end: at + 1 };
}
