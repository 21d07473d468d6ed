/** Sets one item of a list in a YAML text, and keeps every other character. Items are maps that are found by their `name`. */
import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isScalar, isSeq, parseDocument, stringify, type YAMLMap, type YAMLSeq } from "yaml";
import { invalid } from "../../errors.ts";

interface NamedItem {
  readonly name: string;
  readonly [key: string]: unknown;
}

/** The message repeats nothing of the text. */
export class YamlTextError extends Error {
  readonly offset: number;

  constructor(offset: number, message: string) {
    super(message);
    this.offset = offset;
  }
}

/** The item without its name; undefined if there is none. Throws a YamlTextError, and "invalid" if there is no such list. */
export function readYaml(text: string, key: string, name: string): Readonly<Record<string, unknown>> | undefined {
  const { document, value } = parse(text);
  if (!listIn(document, key)) return undefined;
  const item = (value as Record<string, NamedItem[]>)[key]!.find((each) => each?.name === name);
  if (!item) return undefined;
  const { name: _, ...entry } = item;
  return entry;
}

/** Throws a YamlTextError, and "invalid" if the list is written in a form that cannot be edited. */
export function editYaml(text: string, key: string, name: string, entry: Readonly<Record<string, unknown>>): string {
  const { document, value } = parse(text);
  const item: NamedItem = { name, ...entry };
  const edited = withItem(text, document, key, item);
  if (!isDeepStrictEqual(plainOf(edited), expected(value, key, item)))
    throw invalid(`"${key}" is written in a form that cannot be edited automatically; change it by hand`);
  return edited;
}

function withItem(text: string, document: Document, key: string, item: NamedItem): string {
  const lineBreak = text.includes("\r\n") ? "\r\n" : "\n";
  const render = (value: object, columns: number) =>
    stringify(value, { lineWidth: 0 })
      .trimEnd()
      .replaceAll("\n", `${lineBreak}${" ".repeat(columns)}`);
  const withBreak = (before: string) => (before === "" || before.endsWith("\n") ? before : before + lineBreak);

  const list = listIn(document, key);
  const there = itemNamed(list, item.name);
  if (there?.range) {
    const [start, end] = there.range;
    const column = start - (text.lastIndexOf("\n", start - 1) + 1);
    return `${text.slice(0, start)}${render(item, column)}${endOfLines(text.slice(start, end))}${text.slice(end)}`;
  }
  const last = list?.items.at(-1);
  if (list && !list.flow && isMap(last) && last.range) {
    const [start, , behind] = last.range;
    const dash = text.slice(text.lastIndexOf("\n", start - 1) + 1, start);
    const before = text.slice(0, start) + withoutRest(text.slice(start, behind), dash.length);
    return `${withBreak(before)}${dash}${render(item, dash.length)}${lineBreak}${text.slice(before.length)}`;
  }
  return `${withBreak(text)}${render({ [key]: [item] }, 0)}${lineBreak}`;
}

/** Without the last lines that are empty, or comments on what follows. */
function withoutRest(text: string, columns: number): string {
  const lines = text.split("\n");
  const isRest = (line: string) => line.trim() === "" || (line.trim().startsWith("#") && line.search(/\S/) < columns);
  const end = lines.findLastIndex((line) => !isRest(line)) + 1;
  return lines.slice(0, end).join("\n") + (end < lines.length ? "\n" : "");
}

/** The end of a block map may include line breaks, which belong to what follows. */
function endOfLines(text: string): string {
  return text.slice(text.trimEnd().length);
}

function expected(before: unknown, key: string, item: NamedItem): unknown {
  const map = (before ?? {}) as Readonly<Record<string, NamedItem[]>>;
  const items = map[key] ?? [];
  const at = items.findIndex((each) => each?.name === item.name);
  return { ...map, [key]: at < 0 ? [...items, item] : items.with(at, item) };
}

function plainOf(text: string): unknown {
  try {
    return parse(text).value;
  } catch {
    return undefined;
  }
}

function listIn(document: Document, key: string): YAMLSeq | undefined {
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null)) return undefined;
  if (!isMap(contents)) throw invalid("the file is not a map; change it by hand");
  const list: unknown = document.get(key);
  if (list === undefined || list === null) return undefined;
  if (!isSeq(list)) throw invalid(`"${key}" is not a list; change it by hand`);
  return list;
}

function itemNamed(list: YAMLSeq | undefined, name: string): YAMLMap | undefined {
  return list?.items.find((item): item is YAMLMap => isMap(item) && item.get("name") === name);
}

function parse(text: string): { readonly document: Document; readonly value: unknown } {
  const document = parseDocument(text, { prettyErrors: false });
  const [error] = document.errors;
  if (error) throw new YamlTextError(error.pos[0], "invalid YAML");
  try {
    return { document, value: document.toJSON() };
  } catch {
    // Its limit for aliases, which can multiply a small text.
    throw new YamlTextError(0, "too many aliases");
  }
}
