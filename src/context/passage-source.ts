/** A text to choose passages from, and its items in the pack. */
import { linesOf, withoutLines } from "../lib/line-range-uri.ts";
import type { PackItem } from "./pack.ts";
import type { RankedPassage } from "./rank.ts";

/** In a pack of changes: the list of them, which comes first, or a changed file, whose changed passages are needed. */
export type PackRole = "summary" | "changed";

export interface PassageSource {
  readonly item: Omit<PackItem, "lines" | "columns" | "text" | "heading">;
  readonly text: string;
  readonly isPinned: boolean;
  readonly role?: PackRole;
  readonly isTest: boolean;
  /** URI of what it tests, if that comes first. */
  readonly implementation?: string;
  /** In the order of the text. */
  readonly passages: readonly RankedPassage[];
}

/** From the first passage to the last: whole lines, unless it is a part of one. */
export function itemOf({ item, text }: PassageSource, passages: readonly RankedPassage[]): PackItem {
  const { from, lines, heading, isPartOfLine } = passages[0]!.counted;
  const { to, lines: lastLines } = passages.at(-1)!.counted;
  const start = text.lastIndexOf("\n", from - 1) + 1;
  const feed = text.indexOf("\n", to);
  const end = feed === -1 ? text.length : feed;
  // Of lines that were requested: their numbers in the whole resource, where they can be read again.
  const before = (linesOf(item.uri)?.[0] ?? 1) - 1;
  return {
    ...item,
    uri: withoutLines(item.uri),
    lines: [lines[0] + before, lastLines[1] + before],
    ...(isPartOfLine && { columns: [from - start, to - start] as const }),
    ...(heading !== "" && { heading }),
    text: isPartOfLine ? text.slice(from, to) : text.slice(start, end).replace(/\r$/, ""),
  };
}
