/** Sets a table in a TOML text, and keeps every other character. */
import { invalid } from "../../errors.ts";
import { parseTomlText, type TomlTable } from "./toml-text.ts";

interface TomlEdit {
  /** `["mcp_servers", "pressmark"]` */
  readonly path: readonly string[];
  readonly set: Readonly<Record<string, string | readonly string[]>>;
  /** Keys of the table to remove. */
  readonly drop: readonly string[];
}

/** Throws if the text is invalid, or the table is written in a form that cannot be edited. */
export function editToml(text: string, { path, set, drop }: TomlEdit): string {
  const tables = parseTomlText(text);
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = Object.entries(set).map(([key, value]) => `${key} = ${render(value)}${lineBreak}`);
  const table = tables.find((each) => !each.isItem && startsWith(path, each.path) && each.path.length === path.length);
  if (table) return withEntries(text, table, lines.join(""), [...drop, ...Object.keys(set)]);
  if (tables.some((each) => definesElsewhere(each, path)))
    throw invalid(`${path.join(".")} is written in a form that cannot be edited automatically; change it by hand`);
  const gap = text === "" ? "" : text.endsWith("\n") ? lineBreak : lineBreak.repeat(2);
  return `${text}${gap}[${path.map(formatKey).join(".")}]${lineBreak}${lines.join("")}`;
}

/** Values of a table and its subtables; undefined if there is none. */
export function readToml(text: string, path: readonly string[]): Readonly<Record<string, unknown>> | undefined {
  let found: Record<string, unknown> | undefined;
  for (const table of parseTomlText(text)) {
    if (table.isItem) continue;
    for (const { path: key, value } of table.entries) {
      const whole = [...table.path, ...key];
      if (whole.length > path.length && startsWith(whole, path))
        (found ??= {})[whole.slice(path.length).join(".")] = value;
      // An inline table contains the whole entry.
      if (startsWith(path, whole)) {
        const inner = path
          .slice(whole.length)
          .reduce<unknown>((each, next) => (each as Record<string, unknown> | undefined)?.[next], value);
        if (typeof inner === "object" && inner !== null) found = { ...found, ...inner };
      }
    }
    if (table.path.length >= path.length && startsWith(table.path, path)) found ??= {};
  }
  return found;
}

function withEntries(text: string, table: TomlTable, lines: string, drop: readonly string[]): string {
  const gone = table.entries.filter(({ path }) => drop.includes(path[0]!));
  let out = text.slice(0, table.start);
  if (!out.endsWith("\n")) out += "\n";
  out += lines;
  let at = table.start;
  for (const { start, end } of gone) {
    out += text.slice(at, start);
    at = end;
  }
  return out + text.slice(at);
}

/** Whether the path is defined outside its own table. */
function definesElsewhere(table: TomlTable, path: readonly string[]): boolean {
  if (table.isItem && startsWith(path, table.path)) return true;
  return table.entries.some(({ path: key }) => {
    const whole = [...table.path, ...key];
    return startsWith(whole, path) || startsWith(path, whole);
  });
}

/** Whether `path` begins with `head`. */
function startsWith(path: readonly string[], head: readonly string[]): boolean {
  return head.every((key, index) => path[index] === key);
}

function formatKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

/** JSON strings are valid TOML. */
function render(value: string | readonly string[]): string {
  return typeof value === "string"
    ? JSON.stringify(value)
    : `[${value.map((each) => JSON.stringify(each)).join(", ")}]`;
}
