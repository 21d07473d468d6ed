/** Sets one value in a JSON text with comments, and keeps every other character. */
import { invalid } from "../../errors.ts";
import { type JsonNode, memberOf, parseJsonText } from "../../lib/json-text.ts";

/** Throws a JsonTextError if the text is invalid, and "invalid" if a parent is not an object. */
export function editJson(text: string, path: readonly string[], value: unknown): string {
  const style = styleOf(text);
  if (text.trim() === "" || text === "\ufeff") return `${render(nest(path, value), "", style)}${style.lineBreak}`;
  let node = parseJsonText(text, { comments: true });
  for (const [index, key] of path.entries()) {
    if (node.kind !== "object")
      throw invalid(
        `${index === 0 ? "the file" : `"${path.slice(0, index).join(".")}"`} is not an object; change it by hand`,
      );
    const member = memberOf(node, key);
    if (!member) return insert(text, node, key, nest(path.slice(index + 1), value), style);
    node = member.value;
  }
  const isOneLine = !text.slice(node.start, node.end).includes("\n");
  const rendered = isOneLine ? JSON.stringify(value) : render(value, indentAt(text, node.start), style);
  return text.slice(0, node.start) + rendered + text.slice(node.end);
}

interface Style {
  readonly unit: string;
  readonly lineBreak: string;
}

function styleOf(text: string): Style {
  return {
    unit: /^[ \t]+(?=["}\]])/m.exec(text)?.[0] ?? "  ",
    lineBreak: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

function insert(text: string, node: JsonNode & { kind: "object" }, key: string, value: unknown, style: Style): string {
  const { lineBreak, unit } = style;
  const last = node.members.at(-1);
  const outer = indentAt(text, node.start);
  if (!last) {
    // Keeps a comment inside.
    const inside = text.slice(node.start + 1, node.end - 1).trimEnd();
    const member = `${lineBreak}${outer}${unit}${JSON.stringify(key)}: ${render(value, outer + unit, style)}${lineBreak}${outer}`;
    return `${text.slice(0, node.start + 1)}${inside}${member}${text.slice(node.end - 1)}`;
  }
  const isOneLine = !text.slice(node.start, node.end).includes("\n");
  if (isOneLine)
    return `${text.slice(0, last.value.end)}, ${JSON.stringify(key)}: ${JSON.stringify(value)}${text.slice(last.value.end)}`;
  const indent = indentAt(text, last.name.start);
  const member = `${lineBreak}${indent}${JSON.stringify(key)}: ${render(value, indent, style)}`;
  // Keeps a comment on the line of the last value.
  const rest = /^([ \t]*,)?([ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/[ \t]*)?)(?=\r?\n|$)/.exec(
    text.slice(last.value.end),
  );
  const [whole, comma, comment] = rest ?? ["", undefined, ""];
  return `${text.slice(0, last.value.end)},${comment}${member}${comma ? "," : ""}${text.slice(last.value.end + whole.length)}`;
}

function nest(path: readonly string[], value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

/** Indentation of the line. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line.replace(/^\ufeff/, ""))?.[0] ?? "";
}

function render(value: unknown, indent: string, { unit, lineBreak }: Style): string {
  return JSON.stringify(value, undefined, unit).split("\n").join(`${lineBreak}${indent}`);
}
