/** Parses JSON with comments. */
import { type JsonNode, JsonTextError, parseJsonText } from "../../lib/json-text.ts";
import { createPlaceFinder } from "../../lib/text-position.ts";
import { createLeaves, FormatError, type ConfigValue } from "./leaf.ts";

export function parseJsonConfig(text: string): readonly ConfigValue[] {
  const placeAt = createPlaceFinder(text);
  const lineAt = (offset: number) => placeAt(offset).line;
  const leaves = createLeaves();

  function visit(node: JsonNode, path: readonly (string | number)[], line: number): void {
    if (node.kind === "scalar") return leaves.add(path, node.value, line);
    if (node.kind === "array")
      return node.items.forEach((item, index) => visit(item, [...path, index], lineAt(item.start)));
    // Of two members with the same key the last applies.
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
