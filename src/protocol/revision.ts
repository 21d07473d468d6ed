/** A revision of MCP: its methods, fields and error codes. Nothing outside this folder knows that there are several. */
import type { ErrorKind } from "../errors.ts";
import type { Freshness } from "../resources.ts";
import type { RequestHandler } from "./client-request.ts";
import type { InputRequest } from "./input-required.ts";

/** Fields and forms that differ between revisions. */
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
  /** The `extensions` capability of servers and clients. */
  readonly extensions: boolean;
  /** `mode` of an elicitation; `tools` of a sampling request. Clients declare them as parts of the capability. */
  readonly inputParts: boolean;
}

export interface Revision {
  readonly date: string;
  /** Methods that a revision lacks are absent. */
  readonly asks: ReadonlyMap<string, RequestHandler>;
  /** Methods that a server may request from a client. */
  readonly requests: ReadonlySet<InputRequest["method"]>;
  readonly has: RevisionFeatures;
  /** Whether one body may contain several messages. */
  readonly batches: boolean;
  /** Whether `resources/list` also contains templates. */
  readonly listsTemplates: boolean;
  /** Adds the members that every result has; freshness only if the operation may be cached. */
  seal(
    result: Readonly<Record<string, unknown>>,
    freshness: Freshness | undefined,
    server: object,
  ): Record<string, unknown>;
  errorCode(kind: ErrorKind): number;
}
