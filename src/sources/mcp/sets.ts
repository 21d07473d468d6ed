/** Removes the index from sets of another Pressmark server: it names all members, and callers here may not see all of them. */
import type { Content } from "../../resources.ts";
import type { Addresses } from "./addresses.ts";

/** Other contents stay unchanged. */
export function withoutIndex(contents: readonly Content[], asked: string, addresses: Addresses): readonly Content[] {
  const [first, ...members] = contents;
  if (!asked.startsWith("set://") || !first || !isIndex(first, asked)) return contents;
  return members.filter(({ uri }) => uri !== asked && addresses.of(uri) !== undefined);
}

function isIndex({ uri, mimeType, body }: Content, asked: string): boolean {
  if (uri !== asked || mimeType !== "application/json" || !("text" in body)) return false;
  try {
    const said: unknown = JSON.parse(body.text);
    return typeof said === "object" && said !== null && "resources" in said && Array.isArray(said.resources);
  } catch {
    return false;
  }
}
