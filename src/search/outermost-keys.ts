/** Finds the keys of YAML, TOML and JSON that are not below another one. */
import { inAnyScript } from "./any-script.ts";
import { indentOf } from "./headings.ts";

export interface Key {
  readonly name: string;
  /** Start of its line in the text. */
  readonly from: number;
}

const keyStart = inAnyScript(
  /^(?:"([^"]{1,120})"\s*[:=]|'([^']{1,120})'\s*[:=]|\[{1,2}([\w."-]{1,120})\]|([\w.$/-]{1,120})\s*(?::(?:\s|$)|=))/,
);
/** Longer than a key with its indent. */
const maxLength = 600;

/** In the order of the text. */
export function outermostKeys(text: string): readonly Key[] {
  let keys: Key[] = [];
  let least = Infinity;
  for (let from = 0; from < text.length;) {
    const newline = text.indexOf("\n", from);
    const next = newline === -1 ? text.length : newline + 1;
    const line = text.slice(from, Math.min(next, from + maxLength));
    const indent = indentOf(line);
    const name = indent > least ? undefined : keyStart().exec(line.trim())?.slice(1).find(Boolean);
    if (name !== undefined) {
      if (indent < least) keys = [];
      least = indent;
      keys.push({ name, from });
    }
    from = next;
  }
  return keys;
}
