/** Parses TOML into tables and keys with their positions, so that an edit keeps the rest. */

interface TomlEntry {
  readonly path: readonly string[];
  readonly value: unknown;
  /** From the line of the key to the end of its value, including the line break. */
  readonly start: number;
  readonly end: number;
}

export interface TomlTable {
  /** Empty for keys before the first header. */
  readonly path: readonly string[];
  /** Whether it is an item of a list: `[[…]]`. */
  readonly isItem: boolean;
  /** After the line of the header. */
  readonly start: number;
  /** Start of the next header, or end of the text. */
  readonly end: number;
  readonly entries: readonly TomlEntry[];
}

/** A syntax error. The message repeats nothing of the text. */
export class TomlTextError extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

const bareKey = /[A-Za-z0-9_-]+/y;
const bareValue =
  /(?:true|false|[+-]?(?:inf|nan)|0x[0-9A-Fa-f_]+|0o[0-7_]+|0b[01_]+|\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:\d{2})?)?|\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?|[+-]?\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d[\d_]*)?)(?=[\s,\]}#]|$)/y;
const escapes: Readonly<Record<string, string>> = {
  b: "\b",
  t: "\t",
  n: "\n",
  f: "\f",
  r: "\r",
  e: "\u001b",
  '"': '"',
  "\\": "\\",
};
const maxDepth = 100;

/** Throws a TomlTextError at the first syntax error. */
export function parseTomlText(text: string): readonly TomlTable[] {
  let at = text.startsWith("\ufeff") ? 1 : 0;
  const tables: { path: readonly string[]; isItem: boolean; start: number; end: number; entries: TomlEntry[] }[] = [
    { path: [], isItem: false, start: at, end: text.length, entries: [] },
  ];

  function fail(message: string, offset = at): never {
    throw new TomlTextError(offset, message);
  }

  function skipBlanks(): void {
    while (text[at] === " " || text[at] === "\t") at += 1;
  }

  function skipComment(): void {
    if (text[at] !== "#") return;
    const end = text.indexOf("\n", at);
    at = end < 0 ? text.length : end;
  }

  function endLine(): void {
    skipBlanks();
    skipComment();
    if (text.startsWith("\r\n", at)) at += 2;
    else if (text[at] === "\n") at += 1;
    else if (at < text.length) fail("the line must end here");
  }

  /** Skips blanks, line breaks and comments inside a list. */
  function skipAll(): void {
    for (;;) {
      skipBlanks();
      skipComment();
      if (text.startsWith("\r\n", at)) at += 2;
      else if (text[at] === "\n") at += 1;
      else return;
    }
  }

  function readKey(): string[] {
    const path: string[] = [];
    for (;;) {
      skipBlanks();
      if (text[at] === '"' || text[at] === "'") path.push(readString());
      else {
        bareKey.lastIndex = at;
        const word = bareKey.exec(text)?.[0] ?? fail("expected a key");
        at += word.length;
        path.push(word);
      }
      skipBlanks();
      if (text[at] !== ".") return path;
      at += 1;
    }
  }

  function readString(): string {
    const start = at;
    const quote = text[at]!;
    const isLong = text.startsWith(quote.repeat(3), at);
    const close = isLong ? quote.repeat(3) : quote;
    at += close.length;
    if (isLong && text.startsWith("\r\n", at)) at += 2;
    else if (isLong && text[at] === "\n") at += 1;
    let out = "";
    while (!text.startsWith(close, at)) {
      const character = text[at];
      if (character === undefined || (!isLong && character === "\n"))
        fail(`a string is not closed with ${close}`, start);
      if (character === "\\" && quote === '"') out += readEscape(isLong);
      else {
        out += character;
        at += 1;
      }
    }
    // Up to two quotes may precede the closing three.
    for (let spare = isLong ? 2 : 0; spare > 0 && text[at + 3] === quote; spare -= 1) {
      out += quote;
      at += 1;
    }
    at += close.length;
    return out;
  }

  function readEscape(isLong: boolean): string {
    const letter = text[at + 1] ?? "";
    if (Object.hasOwn(escapes, letter)) {
      at += 2;
      return escapes[letter]!;
    }
    const length = { x: 2, u: 4, U: 8 }[letter];
    const digits = length === undefined ? "" : text.slice(at + 2, at + 2 + length);
    if (length !== undefined && digits.length === length && /^[0-9A-Fa-f]+$/.test(digits)) {
      const code = Number.parseInt(digits, 16);
      if (code > 0x10_ffff) fail("a string contains an escape that TOML does not know");
      at += 2 + length;
      return String.fromCodePoint(code);
    }
    if (isLong && /^\\[ \t]*\r?\n/.test(text.slice(at, at + 200))) {
      at += 1;
      while (/[\s]/.test(text[at] ?? "x")) at += 1;
      return "";
    }
    return fail("a string contains an escape that TOML does not know");
  }

  function readValue(depth: number): unknown {
    if (depth > maxDepth) fail("values are nested too deeply");
    const character = text[at];
    if (character === '"' || character === "'") return readString();
    if (character === "[") return readList(depth);
    if (character === "{") return readInlineTable(depth);
    bareValue.lastIndex = at;
    const word = bareValue.exec(text)?.[0] ?? fail("expected a value");
    at += word.length;
    if (word === "true" || word === "false") return word === "true";
    const number = Number(word.replaceAll("_", ""));
    return Number.isNaN(number) ? word : number;
  }

  function readList(depth: number): unknown[] {
    const items: unknown[] = [];
    at += 1;
    for (skipAll(); text[at] !== "]"; skipAll()) {
      if (at >= text.length) fail('a list begins that does not end with "]"');
      items.push(readValue(depth + 1));
      skipAll();
      if (text[at] === ",") at += 1;
      else if (text[at] !== "]") fail('expected "," or "]"');
    }
    at += 1;
    return items;
  }

  function readInlineTable(depth: number): Record<string, unknown> {
    const table: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
    at += 1;
    for (skipAll(); text[at] !== "}"; skipAll()) {
      if (at >= text.length) fail('a table begins that does not end with "}"');
      const path = readKey();
      if (text[at] !== "=") fail('expected "="');
      at += 1;
      skipBlanks();
      assign(table, path, readValue(depth + 1));
      skipAll();
      if (text[at] === ",") at += 1;
      else if (text[at] !== "}") fail('expected "," or "}"');
    }
    at += 1;
    return table;
  }

  function assign(table: Record<string, unknown>, path: readonly string[], value: unknown): void {
    let inner = table;
    for (const key of path.slice(0, -1)) {
      const next = (inner[key] ??= Object.create(null)) as unknown;
      if (typeof next !== "object" || next === null) fail("this key is a duplicate");
      inner = next as Record<string, unknown>;
    }
    inner[path.at(-1)!] = value;
  }

  function readHeader(): void {
    const start = at;
    const isItem = text.startsWith("[[", at);
    at += isItem ? 2 : 1;
    const path = readKey();
    if (!text.startsWith(isItem ? "]]" : "]", at)) fail(`the header of a table must end with "${isItem ? "]]" : "]"}"`);
    at += isItem ? 2 : 1;
    endLine();
    const again = tables.some(
      (table) => !table.isItem && !isItem && table.path.length > 0 && isEqual(table.path, path),
    );
    if (again) fail("this table is a duplicate", start);
    tables.at(-1)!.end = start;
    tables.push({ path, isItem, start: at, end: text.length, entries: [] });
  }

  function readEntry(): void {
    const start = text.lastIndexOf("\n", at - 1) + 1;
    const path = readKey();
    if (text[at] !== "=") fail('expected "="');
    at += 1;
    skipBlanks();
    const value = readValue(0);
    endLine();
    const { entries } = tables.at(-1)!;
    if (entries.some((entry) => isEqual(entry.path, path))) fail("this key is a duplicate", start);
    entries.push({ path, value, start, end: at });
  }

  for (skipAll(); at < text.length; skipAll()) {
    if (text[at] === "[") readHeader();
    else readEntry();
  }
  return tables;
}

function isEqual(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((key, index) => key === other[index]);
}
