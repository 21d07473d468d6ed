/** Parses the receipt that the server's gathering tool returns. */
import { wholeUri } from "../lib/passage-uri.ts";
import type { ToolSaid } from "../client/tool-fallback.ts";
import { nameIn } from "../client/tree-of.ts";
import type { Lines } from "../lib/line-range-uri.ts";
import type { Resource } from "../resources.ts";
import { isRecord, numberOf, optionalNumber, recordsIn, textOf, textsIn } from "./loose.ts";
import { passageOf } from "./tray.ts";

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
    /** False if tokens are estimated. */
    isExact: structured["counter"] !== "estimate",
    /** Share of the searchable content that was searched, from 0 to 1. */
    ready: optionalNumber(structured["ready"]) ?? 1,
    included: recordsIn(structured["included"]).map(({ uri, lines, tokens, why, also, masked, removed }) => ({
      resource: resourceOf(uri),
      /** Its lines as resources; the resource itself if the server names none. */
      passages: passagesIn(resourceOf(uri), textOf(lines)),
      tokens: numberOf(tokens),
      why: textsIn(why),
      /** Other resources with the same text. */
      also: textsIn(also).filter((other) => wholeUri(other) !== wholeUri(textOf(uri))),
      masked: numberOf(masked),
      removed: numberOf(removed),
    })),
    leftOut: recordsIn(structured["leftOut"]).map(({ uri, why }) => ({ resource: resourceOf(uri), why: textOf(why) })),
    moreLeftOut: numberOf(structured["moreLeftOut"]),
    /** Whether nothing else is relevant enough. */
    hasAllRelevant: structured["hasAllRelevant"] === true,
  };
}

/** `lines` is one range or several, as in `10-40, 52-60`. */
function passagesIn(resource: Resource, lines: string): readonly Resource[] {
  const passages = lines.split(",").flatMap((range): Resource[] => {
    const [, first, last = first] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(range.trim()) ?? [];
    const within: Lines = [Number(first), Number(last)];
    return within[0] >= 1 && within[0] <= within[1] ? [passageOf(resource, within)] : [];
  });
  return passages.length === 0 ? [resource] : passages;
}
