/** JSON, with the comments that editors allow in it. */
import { type JsonNode, JsonTextError, parseJsonText } from "../../lib/json-text.ts";
import { createLeaves, FormatError, type Leaf } from "./leaf.ts";

export function parseJson(text: string): readonly Leaf[] {
  const lineAt = createLineFinder(text);
  const leaves = createLeaves();

  function visit(node: JsonNode, path: readonly (string | number)[], line: number): void {
    if (node.kind === "scalar") return leaves.add(path, node.value, line);
    if (node.kind === "array")
      return node.items.forEach((item, index) => visit(item, [...path, index], lineAt(item.start)));
    // Of two members of one key the last counts.
    const members = new Map(node.members.map((member) => [member.key, member]));
    for (const { key, name, value } of members.values()) visit(value, [...path, key], lineAt(name.start));
  }

  try {
    const root = parseJsonText(text, { comments: true });
    visit(root, [], lineAt(root.start));
  } catch (cause) {
    if (cause instanceof JsonTextError) throw new FormatError(lineAt(cause.offset), cause.message);
    throw cause;
  }
  return leaves.all;
}

/** The line of an offset, counted from 1. */
export function createLineFinder(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}
