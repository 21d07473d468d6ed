/** How the contract opens resources and changes what they show. */
import type { Resources } from "../resources.ts";
import type { KnownContent } from "./contract-content.ts";

export interface ResourcesSetup {
  /** Content that `open` must serve. Default: `contractContent`. An undefined value is not compared. */
  readonly content?: KnownContent;
  /** A new server that serves at least this content, in one mount. */
  open(content: KnownContent): Promise<Resources>;
  /** The URI of a path, as the server lists it. */
  uriOf(path: string): string;
  /** Creates or replaces a file of the server opened last. */
  write?(path: string, text: string): void | Promise<void>;
  remove?(path: string): void | Promise<void>;
  /** Called after each test. */
  clear?(): void | Promise<void>;
  /** Whether directories are served. Default: true. */
  readonly directories?: boolean;
  /** A text that the search must find, and its path; absent if the server has no search. */
  readonly findable?: { readonly text: string; readonly path: string };
  /** The path of a SKILL.md that must be among the skills; absent if the server has none. */
  readonly skill?: string;
  /** Where the contract writes its own files, ending in "/". Default: the mount itself. */
  readonly inside?: string;
  /** A template as listed, the typed value, and a value that must be suggested. */
  readonly completion?: {
    readonly template: string;
    readonly variable: string;
    readonly value: string;
    readonly expected: string;
  };
  /** Limit for one call, and for a watch to report a change. Default: 20,000. */
  readonly waitMs?: number;
  /** Limit for one test, including opening, which may take half of it, and closing. Default: 60,000. */
  readonly timeoutMs?: number;
}
