/** How the contract opens a source and changes its backend. */
import type { Address, Source, SourceChange } from "../source.ts";
import type { KnownContent } from "./contract-content.ts";

export type Ability = "stat" | "children" | "templates" | "complete" | "search" | "listIndexed" | "skills" | "watch";

/** A change of one path. */
export type ReportedChange = Exclude<SourceChange, { readonly kind: "lost" }>;

/** Paths in a setup are as the test writes them; `pathOf` turns them into addresses. Only `expansions` and `change` give addresses. */
export interface SourceSetup {
  /** Claimed abilities beyond `list` and `read`. The claim must match the source's methods exactly. */
  readonly abilities: readonly Ability[];
  /** Content that `open` must serve. Default: `contractContent`. An undefined value is not compared. */
  readonly content?: KnownContent;
  /** Opens a new source that serves at least this content. */
  open(content: KnownContent): Promise<Source>;
  /** For sources that take long to open: tests that do not close the source share one. Not for sources with `write`. */
  readonly isShared?: boolean;
  /** The address of a written path, for a backend whose addresses are not the written names: `files/${written}/content`. Default: the same. */
  pathOf?(written: string): string;
  /** Creates or replaces a file in the backend of the source opened last. Once it resolves, the source must show the file. */
  write?(path: string, text: string): void | Promise<void>;
  /** Removes a file. Once it resolves, the source must not show the file. */
  remove?(path: string): void | Promise<void>;
  rename?(from: string, to: string): void | Promise<void>;
  /**
   * Changes the backend of the source opened last, differently each time; returns the changes that every watch must report. Needed for a
   * source that watches and has no `write`.
   */
  change?(): ReportedChange[] | Promise<ReportedChange[]>;
  /**
   * Kinds of changes that the backend announces without naming a path: the source reports `lost` for them. Default: none, so that a
   * watch which reports only `lost` fails.
   */
  readonly reportedAsLost?: readonly ReportedChange["kind"][];
  /** The path that is followed during the watch tests, for a source that reports only followed ones. Default: the first file. */
  readonly followed?: string;
  /** Where the contract writes its own files, ending in "/". Default: the mount itself. */
  readonly inside?: string;
  /** Called after each test, when the source is closed. */
  clear?(): void | Promise<void>;
  /** Addresses made from templates, and their content. */
  readonly expansions?: readonly { readonly at: Address; readonly text?: string }[];
  /** The typed value, and a value that must be suggested. */
  readonly completions?: readonly {
    readonly template: string;
    readonly variable: string;
    readonly value: string;
    readonly given?: Readonly<Record<string, string>>;
    readonly expected: string;
    /** True if it must be the first suggestion. */
    readonly isBest?: boolean;
  }[];
  /** A text that the search must find, and its path. Default: the needle of `contractContent`. */
  readonly findable?: { readonly text: string; readonly path: string };
  /** Limit for one call of the source or of the setup, and for a watch to report a change. Default: 20,000. */
  readonly waitMs?: number;
  /** Limit for one test, including opening, which may take half of it, and closing. Default: 60,000. */
  readonly timeoutMs?: number;
}
