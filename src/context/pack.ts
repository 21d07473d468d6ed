/** The result of gathering: a pack for a model, and a receipt that lists its content and the reasons. */
import type { MountFailure } from "../resources.ts";

export type PackFormat = "markdown" | "xml" | "json";

/** One piece of one resource in the pack. */
export interface PackItem {
  /** As listed, or as the caller wrote it. */
  readonly uri: string;
  readonly name: string;
  readonly title?: string;
  readonly mimeType?: string;
  /** ISO 8601. */
  readonly lastModified?: string;
  /** First and last line of what reading the URI gives, from 1, both included. */
  readonly lines: readonly [first: number, last: number];
  /** For a piece of one long line: [from, to) in UTF-16 code units of the cleaned line. */
  readonly columns?: readonly [from: number, to: number];
  /** The headings above it, or its definition. */
  readonly heading?: string;
  readonly text: string;
}

/** An item on the receipt. */
export interface Included extends Pick<PackItem, "uri" | "lines" | "columns" | "lastModified"> {
  /** Digest of the whole text as read, before cleaning: `sha256:` and 64 hexadecimal digits of its UTF-8. */
  readonly digest: string;
  /** Tokens of the item alone, including its frame. */
  readonly tokens: number;
  /** Reasons, as sentences without a subject, the most important first: `is named in the task: retry.ts`. */
  readonly why: readonly string[];
  /** Other URIs with the same text. */
  readonly also?: readonly string[];
  /** Number of secrets masked and of invisible characters removed, if any. */
  readonly masked?: number;
  readonly removed?: number;
}

export interface LeftOut {
  readonly uri: string;
  readonly why: string;
}

export interface Receipt {
  /** Absent if only requested URIs are packed. */
  readonly task?: string;
  /**
   * With the changes of a checkout: the branch, tag or commit that it left, and the number of changed files; with `isMore`, more than
   * this number have changed.
   */
  readonly changed?: { readonly base: string; readonly files: number; readonly isMore?: true };
  readonly budget: number;
  readonly tokens: number;
  /** Name of the tokenizer. */
  readonly counter: string;
  /** Share of the searchable content that was searched, from 0 to 1; absent if nothing can be searched. */
  readonly ready?: number;
  /** Mounts that were not searched completely because of an error, with the error. */
  readonly failures?: readonly MountFailure[];
  /** In the order of the pack. */
  readonly included: readonly Included[];
  /** Resources left out, the best first; may be incomplete. */
  readonly leftOut: readonly LeftOut[];
  /** Number of candidates left out, in whole or in part, because they are not relevant enough. */
  readonly belowFloor?: number;
  /** True if the pack is smaller than its budget because nothing else is relevant enough: no limit kept anything out. */
  readonly hasAllRelevant: boolean;
  /** Number of further resources left out. */
  readonly moreLeftOut: number;
}

export interface Pack {
  readonly format: PackFormat;
  /** The text for a model. Never has more tokens than the budget. */
  readonly text: string;
  /** Prefix of URIs that the text leaves out: its paths are relative to it. */
  readonly base?: string;
  readonly tokens: number;
  /** The items of the text, in order. */
  readonly items: readonly PackItem[];
  readonly receipt: Receipt;
}
