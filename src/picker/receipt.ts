/** Parses the receipt that the server's gathering tool returns. */
import type { ToolSaid } from "../client/tool-fallback.ts";
import { nameIn } from "../client/tree-of.ts";
import type { Resource } from "../resources.ts";
import { isRecord, numberOf, optionalNumber, recordsIn, textOf, textsIn } from "./loose.ts";

export type ReceiptView = NonNullable<ReturnType<typeof toReceipt>>;

/** Undefined if it is not a receipt. */
export function toReceipt({ structured, links }: ToolSaid) {
  if (!structured || !Array.isArray(structured["included"])) return undefined;
  const known = new Map(links.map((link) => [link.uri, link]));
  function resourceOf(given: unknown): Resource {
    const uri = textOf(given);
    return known.get(uri) ?? { uri, name: nameIn(uri) };
  }
  const changed = structured["changed"];
  return {
    /** With the changes of a branch: what they were compared with, and the number of files. */
    changed: isRecord(changed)
      ? { base: textOf(changed["base"]), files: numberOf(changed["files"]), isMore: changed["isMore"] === true }
      : undefined,
    budget: numberOf(structured["budget"]),
    tokens: numberOf(structured["tokens"]),
    /** Share of the searchable content that was searched, from 0 to 1. */
    ready: optionalNumber(structured["ready"]) ?? 1,
    included: recordsIn(structured["included"]).map(({ uri, lines, tokens, why, also, masked, removed }) => ({
      resource: resourceOf(uri),
      /** As in `10-40`. */
      lines: textOf(lines),
      tokens: numberOf(tokens),
      why: textsIn(why),
      /** Other URIs with the same text. */
      also: textsIn(also),
      masked: numberOf(masked),
      removed: numberOf(removed),
    })),
    leftOut: recordsIn(structured["leftOut"]).map(({ uri, why }) => ({ resource: resourceOf(uri), why: textOf(why) })),
    moreLeftOut: numberOf(structured["moreLeftOut"]),
    /** Whether nothing else is relevant enough. */
    hasAllRelevant: structured["hasAllRelevant"] === true,
  };
}
