/** Values of Redis as JSON, in an order that depends only on the value. */
import { isUtf8 } from "node:buffer";
import type { CollectionType, Item } from "./collections.ts";
import { formatBytes } from "./key-paths.ts";

/** Hashes are objects; everything else is an array. One item on each line. */
export function renderCollection(type: CollectionType, items: readonly Item[]): string {
  switch (type) {
    case "hash":
      return lines("{", items.map(([name, value]) => member(name, value!)).sort(), "}");
    case "set":
      return lines("[", items.map(([value]) => text(value)).sort(), "]");
    case "list":
      return lines(
        "[",
        items.map(([value]) => text(value)),
        "]",
      );
    case "zset":
      return lines(
        "[",
        items.map(([value, score]) => `{"member": ${text(value)}, "score": ${number(score!)}}`),
        "]",
      );
    case "stream":
      return lines(
        "[",
        items.map(([id, ...fields]) => `{"id": ${text(id)}, "fields": ${fieldsOf(fields)}}`),
        "]",
      );
  }
}

/** With its name, by which a secret is recognised. */
export function renderField(name: Buffer, value: Buffer): string {
  return lines("{", [member(name, value)], "}");
}

/** An object, or pairs if a name occurs twice. */
function fieldsOf(fields: readonly Buffer[]): string {
  const pairs = Array.from({ length: fields.length / 2 }, (_, at) => [fields[2 * at]!, fields[2 * at + 1]!] as const);
  const names = new Set(pairs.map(([name]) => name.toString("latin1")));
  return names.size === pairs.length
    ? `{${pairs.map(([name, value]) => member(name, value)).join(", ")}}`
    : `[${pairs.map(([name, value]) => `[${JSON.stringify(formatBytes(name))}, ${text(value)}]`).join(", ")}]`;
}

function lines(open: string, items: readonly string[], close: string): string {
  return items.length === 0 ? `${open}${close}\n` : `${open}\n  ${items.join(",\n  ")}\n${close}\n`;
}

function member(name: Buffer, value: Buffer): string {
  return `${JSON.stringify(formatBytes(name))}: ${text(value)}`;
}

/** Bytes that are no text are in base64. */
function text(value: Buffer): string {
  return isUtf8(value) ? JSON.stringify(value.toString("utf8")) : JSON.stringify({ base64: value.toString("base64") });
}

/** JSON has no infinity. */
function number(score: Buffer): string {
  const written = score.toString();
  return Number.isFinite(Number(written)) ? JSON.stringify(Number(written)) : JSON.stringify(written);
}
