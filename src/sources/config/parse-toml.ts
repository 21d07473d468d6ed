/** Parses TOML: a package reads the values, and a scan of the text locates their lines. */
import { createLeaves, FormatError, type ConfigValue, maxConfigDepth, formatName } from "./leaf.ts";

type Path = readonly (string | number)[];

export async function parseToml(text: string): Promise<readonly ConfigValue[]> {
  const { parse, TomlError } = await import("smol-toml");
  let root: unknown;
  try {
    root = parse(text, { integersAsBigInt: "asNeeded", maxDepth: maxConfigDepth, unsafeKeyBehaviour: "keep" });
  } catch (cause) {
    // The parser's own message contains parts of the text.
    if (cause instanceof TomlError) throw new FormatError(cause.line, "it is not valid TOML");
    throw cause;
  }
  const lines = findLines(text);
  const leaves = createLeaves();

  function visit(value: unknown, path: Path, line: number): void {
    const here = lines.get(formatName(path)) ?? line;
    if (Array.isArray(value)) return value.forEach((item, index) => visit(item, [...path, index], here));
    if (typeof value === "object" && value !== null && !(value instanceof Date)) {
      for (const [key, item] of Object.entries(value)) visit(item, [...path, key], here);
      return;
    }
    leaves.add(path, toScalar(value), here);
  }

  visit(root, [], 1);
  return leaves.all;
}

function toScalar(value: unknown): ConfigValue["value"] {
  if (typeof value === "boolean" || typeof value === "string") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : String(value);
  return value instanceof Date ? value.toISOString() : String(value);
}

/** The line of each table and key, by name, in a text that is known to be valid. */
function findLines(text: string): ReadonlyMap<string, number> {
  const lines = new Map<string, number>();
  const counts = new Map<string, number>();
  let table: Path = [];
  let at = 0;
  let line = 1;

  /** Moves on, and counts lines. */
  function moveTo(next: number): void {
    for (; at < next; at += 1) if (text[at] === "\n") line += 1;
  }

  function skipSpace(): void {
    for (;;) {
      const gap = /[ \t\r\n]*/y;
      gap.lastIndex = at;
      moveTo(at + (gap.exec(text)?.[0].length ?? 0));
      if (text[at] !== "#") return;
      const end = text.indexOf("\n", at);
      moveTo(end < 0 ? text.length : end);
    }
  }

  function stringEnd(from: number): number {
    const quote = text[from] as string;
    const mark = text.startsWith(quote.repeat(3), from) ? quote.repeat(3) : quote;
    let end = from + mark.length;
    while (end < text.length && !text.startsWith(mark, end)) end += quote === '"' && text[end] === "\\" ? 2 : 1;
    end += mark.length;
    // Up to two more quotes belong to a multi-line string.
    while (mark.length === 3 && text[end] === quote) end += 1;
    return end;
  }

  function readKey(): string[] {
    const key: string[] = [];
    for (;;) {
      while (text[at] === " " || text[at] === "\t") at += 1;
      if (text[at] === '"' || text[at] === "'") {
        const end = stringEnd(at);
        const quoted = text.slice(at, end);
        key.push(quoted.startsWith("'") ? quoted.slice(1, -1) : unquote(quoted));
        at = end;
      } else {
        const bare = /[\w-]*/y;
        bare.lastIndex = at;
        const found = bare.exec(text)?.[0] ?? "";
        key.push(found);
        at += found.length;
      }
      while (text[at] === " " || text[at] === "\t") at += 1;
      if (text[at] !== ".") return key;
      at += 1;
    }
  }

  /** Skips any value. */
  function skipValue(): void {
    for (let depth = 0; at < text.length;) {
      const character = text[at] as string;
      if (character === '"' || character === "'") moveTo(stringEnd(at));
      else if (character === "#") {
        const end = text.indexOf("\n", at);
        moveTo(end < 0 ? text.length : end);
      } else if (character === "\n" && depth === 0) return;
      else {
        if (character === "[" || character === "{") depth += 1;
        if (character === "]" || character === "}") depth -= 1;
        moveTo(at + 1);
      }
    }
  }

  /** Resolves a key to the last table of each array of tables in it. */
  function locate(key: readonly string[]): Path {
    let path: Path = [];
    for (const each of key) {
      path = [...path, each];
      const count = counts.get(formatName(path));
      if (count !== undefined) path = [...path, count - 1];
    }
    return path;
  }

  for (skipSpace(); at < text.length; skipSpace()) {
    const begun = line;
    const from = at;
    if (text[at] === "[") {
      const isList = text[at + 1] === "[";
      at += isList ? 2 : 1;
      const key = readKey();
      const last = key.at(-1) as string;
      if (isList) {
        const list = formatName([...locate(key.slice(0, -1)), last]);
        counts.set(list, (counts.get(list) ?? 0) + 1);
      }
      table = locate(key);
      lines.set(formatName(table), begun);
      at += isList ? 2 : 1;
    } else {
      const key = readKey();
      lines.set(formatName([...table, ...key]), begun);
      skipValue();
    }
    // Ends the loop if the scan makes no progress.
    if (at <= from) return lines;
  }
  return lines;
}

function unquote(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1);
  }
}
