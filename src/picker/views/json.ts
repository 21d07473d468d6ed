/** Parses JSON with numbers as written, because a model reads them unrounded. */

export type Json = null | boolean | string | number | Exact | readonly Json[] | { readonly [name: string]: Json };

/** A number that would lose digits as a JavaScript number. */
export class Exact {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** Shorter numbers lose no digits. */
const mayLose = /[\d.]{16}|\d[eE][-+]?\d/;

/** Undefined for invalid JSON. */
export function parseJsonView(text: string): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(text, mayLose.test(text) ? keepExact : undefined) as Json };
  } catch (cause) {
    // Exact numbers need recursion, which may overflow; plain parsing does not.
    return cause instanceof RangeError ? parsePlainly(text) : undefined;
  }
}

function parsePlainly(text: string): { readonly value: Json } | undefined {
  try {
    return { value: JSON.parse(text) as Json };
  } catch {
    return undefined;
  }
}

function keepExact(_name: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = context?.source;
  if (typeof value !== "number" || source === undefined || String(value) === source) return value;
  return !Number.isFinite(value) || /\d{16}/.test(source.replace(".", "")) ? new Exact(source) : value;
}

export function isJsonList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}

export function isJsonRecord(value: Json | undefined): value is { readonly [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Exact);
}

const deepest = 6;

/** On one line, up to a maximum length. */
export function compact(value: Json, maxLength: number): string {
  let text = "";
  const add = (each: Json, depth: number): void => {
    if (text.length > maxLength) return;
    if (isJsonList(each)) {
      text += "[";
      if (depth > deepest) text += "…";
      else
        for (const [index, item] of each.entries()) {
          if (text.length > maxLength) break;
          if (index > 0) text += ", ";
          add(item, depth + 1);
        }
      text += "]";
    } else if (isJsonRecord(each)) {
      text += "{";
      if (depth > deepest) text += "…";
      else
        for (const [index, [name, item]] of Object.entries(each).entries()) {
          if (text.length > maxLength) break;
          text += `${index > 0 ? ", " : ""}${JSON.stringify(name)}: `;
          add(item, depth + 1);
        }
      text += "}";
    } else text += leaf(each);
  };
  add(value, 0);
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

/** A scalar as JSON writes it. */
export function leaf(value: null | boolean | string | number | Exact): string {
  return value instanceof Exact ? value.source : JSON.stringify(value);
}
