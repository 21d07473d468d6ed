/** What gathering gives: a pack for a model, and the receipt that says what is in it and why. */
import type { MountFailure } from "../resources.ts";

export type PackFormat = "markdown" | "xml" | "json";

/** One piece of one resource, as it stands in the pack. */
export interface PackItem {
  /** As the house spells it, or as the caller did where they named it. */
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly mimeType?: string;
  /** ISO 8601. */
  readonly lastModified?: string;
  /** Counted from 1, both ends included. The lines of what reading the URI gives. */
  readonly lines: readonly [first: number, last: number];
  /** Where only a piece of one long line is given: [from, to) in UTF-16 code units of that line, cleaned. */
  readonly columns?: readonly [from: number, to: number];
  /** What it stands under, or defines. */
  readonly heading?: string;
  readonly text: string;
}

/** An item on the receipt. */
export interface Included extends Pick<PackItem, "uri" | "lines" | "columns" | "lastModified"> {
  /** Of the whole text that was read: `sha256:` and 64 hexadecimal digits of its UTF-8, before anything was taken out of it. */
  readonly digest: string;
  /** What the item alone counts, frame included. */
  readonly tokens: number;
  /** Sentences without a subject, the weightiest first: `named in the task`, `says "retry" and "backoff"`. */
  readonly why: readonly string[];
  /** Other URIs that say the same there. */
  readonly also?: readonly string[];
  /** How many secrets were masked and how many invisible characters were removed, where any were. */
  readonly masked?: number;
  readonly removed?: number;
}

export interface LeftOut {
  readonly uri: string;
  readonly why: string;
}

export interface Receipt {
  /** Absent where only what was asked for by its URI was wanted. */
  readonly task?: string;
  readonly budget: number;
  readonly tokens: number;
  /** Whose tokens these are. */
  readonly counter: string;
  /** How much of what could be searched was, from 0 to 1; absent where nothing can be searched. */
  readonly ready?: number;
  /** Mounts of which not all was searched because something went wrong, and what. */
  readonly failures?: readonly MountFailure[];
  /** In the order of the pack. */
  readonly included: readonly Included[];
  /** What would have come next first; not all of it. */
  readonly leftOut: readonly LeftOut[];
  /** How many more were left out. */
  readonly moreLeftOut: number;
}

export interface Pack {
  readonly format: PackFormat;
  /** What a model is given. It never has more tokens than the budget. */
  readonly text: string;
  readonly tokens: number;
  /** What the text holds, in its order. */
  readonly items: readonly PackItem[];
  readonly receipt: Receipt;
}
