/** What a revision of MCP is to us: its words, its rules and its numbers. Nothing outside this room knows that there are several. */
import type { ErrorKind } from "../errors.ts";
import type { Freshness } from "../resources.ts";
import type { RequestHandler } from "./client-request.ts";

/** Fields and forms that came in with some revision. */
export interface RevisionFeatures {
  /** `size` and `annotations` of a resource. */
  readonly annotations: boolean;
  /** `title` and `_meta` of resources, templates and contents; `annotations.lastModified`; `resource_link`. */
  readonly titles: boolean;
  /** `icons`; a server's `description` and `websiteUrl`. */
  readonly icons: boolean;
  /** `audio` content; `message` of progress; the `completions` capability. */
  readonly audio: boolean;
  /** `context.arguments` of a completion. */
  readonly completionContext: boolean;
}

export interface Revision {
  readonly date: string;
  /** A method that a revision lacks is simply absent. */
  readonly asks: ReadonlyMap<string, RequestHandler>;
  readonly has: RevisionFeatures;
  /** Whether several messages may come in one body. */
  readonly batches: boolean;
  /** Whether templates stand in `resources/list` too. */
  readonly listsTemplates: boolean;
  /** What every result carries beside its own fields; hints only where the operation may be cached. */
  seal(
    result: Readonly<Record<string, unknown>>,
    freshness: Freshness | undefined,
    server: object,
  ): Record<string, unknown>;
  errorCode(kind: ErrorKind): number;
}
