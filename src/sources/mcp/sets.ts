/** Removes the index from sets of another Pressmark server: it names all members, and callers here may not see all of them. */
import { parseJson } from "../../lib/parse-json.ts";
import type { Content } from "../../resources.ts";
import type { Addresses } from "./addresses.ts";

/** Other contents stay unchanged. */
export function withoutIndex(
  contents: readonly Content[],
  requested: string,
  addresses: Addresses,
): readonly Content[] {
  const [first, ...members] = contents;
  if (!requested.startsWith("set://") || !first || !isIndex(first, requested)) return contents;
  return members.filter(({ uri }) => uri !== requested && addresses.of(uri) !== undefined);
}

function isIndex({ uri, mimeType, body }: Content, requested: string): boolean {
  if (uri !== requested || mimeType !== "application/json" || !("text" in body)) return false;
  const parsed = parseJson(body.text);
  return typeof parsed === "object" && parsed !== null && "resources" in parsed && Array.isArray(parsed.resources);
}
