/** The public data model: resources, callers, changes, and the one interface through which all of it is used. */
import type { ListFilter } from "./lib/list-filter.ts";

export type { ListFilter } from "./lib/list-filter.ts";

export interface Annotations {
  readonly audience?: readonly ("user" | "assistant")[];
  /** From 0 (may be left out) to 1 (must be read). */
  readonly priority?: number;
  /** ISO 8601. */
  readonly lastModified?: string;
}

export interface Icon {
  readonly src: string;
  readonly mimeType?: string;
  readonly sizes?: readonly string[];
  readonly theme?: "light" | "dark";
}

/** Metadata of a resource or template. */
export interface Description {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface Resource extends Description {
  readonly uri: string;
  /** Size in bytes, as stored. */
  readonly size?: number;
}

export interface Template extends Description {
  /** RFC 6570. */
  readonly uriTemplate: string;
}

/** MIME type of a directory: it has children and no content. */
export const directoryType = "inode/directory";

/** In `meta`: true for a resource that has children as well. */
export const hasChildrenKey = "pressmark/hasChildren";

/** Returns whether `children` works: for a directory, and for a resource that has children as well. */
export function hasChildren({ mimeType, meta }: Pick<Description, "mimeType" | "meta">): boolean {
  return mimeType === directoryType || meta?.[hasChildrenKey] === true;
}

/**
 * The data of a content. The same object represents the same content from the source to the wire,
 * so that a transport can cache its encoding.
 */
export type Body = { readonly text: string } | { readonly bytes: Uint8Array };

export interface Content {
  readonly uri: string;
  readonly mimeType?: string;
  readonly body: Body;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** How long a result may be cached, and whether the cache may serve it to other callers. */
export interface Freshness {
  readonly ttlMs: number;
  readonly scope: "public" | "private";
}

export interface ReadResult extends Freshness {
  readonly contents: readonly Content[];
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Present if and only if there may be more. Opaque: pass it back unchanged. */
  readonly next?: string;
  /** Mounts that failed: their entries are missing from this page. */
  readonly failures?: readonly MountFailure[];
  /** Number of entries that were examined and left out by a filter. */
  readonly filteredOut?: number;
}

export interface MountFailure {
  readonly mount: string;
  readonly message: string;
}

/**
 * The user or client on whose behalf a call runs. Callers with the same id are the same person; they see the same resources if they also
 * have the same groups, scopes, claims and role (`callerKey`).
 */
export interface Caller {
  readonly id: string;
  readonly groups?: readonly string[];
  /** Granted by the issuer of the caller's token. */
  readonly scopes?: readonly string[];
  /** Verified statements about the caller, such as a department. */
  readonly claims?: Readonly<Record<string, string | readonly string[]>>;
  /** Aborted when the caller is no longer admitted, for example because a token expired: nothing may outlive it. */
  readonly ended?: AbortSignal;
  /**
   * Returns the caller's verified OAuth token, if this issuer issued it. Only for a token exchange (RFC 8693) at that issuer: never logged,
   * stored or sent elsewhere.
   */
  subjectToken?(issuer: string): string | undefined;
  /** True for the operator of the server. Never derived from what a caller claims about itself. */
  readonly owner?: boolean;
}

const callerKeys = new WeakMap<Caller, string>();

/** Equal for callers who see the same resources, in whatever order their groups, scopes and claims are listed. */
export function callerKey(caller: Caller): string {
  let key = callerKeys.get(caller);
  if (key === undefined) callerKeys.set(caller, (key = toKey(caller)));
  return key;
}

function toKey({ id, groups, scopes, claims, owner }: Caller): string {
  const parts = [
    groups?.length ? inOrder(groups) : undefined,
    // No scopes at all means that nothing is restricted to scopes; an empty list grants none.
    scopes && inOrder(scopes),
    claims && claimsInOrder(claims),
    owner || undefined,
  ];
  // An id that looks like the key of another caller is written out, too.
  const isPlain = !id.startsWith("[") && parts.every((part) => part === undefined);
  return isPlain ? id : JSON.stringify([id, ...parts]);
}

function inOrder(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

/** Undefined if there are none. */
function claimsInOrder(claims: NonNullable<Caller["claims"]>): unknown {
  const entries = Object.entries(claims).filter(([, value]) =>
    Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null,
  );
  if (entries.length === 0) return undefined;
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.map(([name, value]) => [name, Array.isArray(value) ? inOrder(value as readonly string[]) : value]);
}

/** The server itself, for its own work: what it learns is filtered for each caller. */
export const serverCaller: Caller = { id: "pressmark", owner: true };

/** Pass the object itself on, never a copy of its members: some are created on first access. */
export interface Call {
  readonly caller: Caller;
  /**
   * Identifies one client where clients share limits: a connection or a session. Several clients may be one caller. Absent
   * if the caller is one client.
   */
  readonly client?: object;
  /** The only way to cancel anything. */
  readonly signal: AbortSignal;
  /** Reports progress. Present when the caller wants it. */
  readonly progress?: (done: number, total?: number, message?: string) => void;
}

export interface PageRequest {
  readonly cursor?: string;
  /** Maximum number of items. A page may hold fewer, and more if another server returned more. */
  readonly limit?: number;
}

export interface FilteredPageRequest extends PageRequest {
  /** Pages hold only what matches. A cursor is valid only with the filter of its page. */
  readonly filter?: ListFilter;
  /** Only resources of the mount with this name. Ignored by a remote server, whose mounts are not known. */
  readonly mount?: string;
  /** Called if a filtered list fails or is cancelled, with the number of entries that were examined. */
  readonly onFailure?: (examined: number) => void;
}

export interface CompletionRequest {
  /** A listed template, or a URI. */
  readonly template: string;
  readonly variable: string;
  /** The text typed so far. */
  readonly value: string;
  /** Values of other variables. */
  readonly given: Readonly<Record<string, string>>;
}

export interface Suggestions {
  /** At most 100. */
  readonly values: readonly string[];
  readonly total?: number;
  readonly more?: boolean;
}

export interface SearchRequest {
  readonly text: string;
  readonly limit: number;
  /** Only resources below this URI. */
  readonly within?: string;
  /** True if the last word may be incomplete. */
  readonly typing?: boolean;
}

export interface Hit {
  readonly resource: Resource;
  readonly score: number;
  /** An excerpt of the text, unchanged. */
  readonly snippet?: string;
  /** Position of the snippet in the text, in UTF-16 code units. */
  readonly offset?: number;
  /** Matches in the snippet, as [from, to). In order, disjoint. */
  readonly marks?: readonly (readonly [from: number, to: number])[];
  /** First and last line, from 1, both included. */
  readonly lines?: readonly [first: number, last: number];
  /** True if it contains every content word of the query, false if it is only similar; absent if the searcher does not know. */
  readonly isMatch?: boolean;
}

export interface SearchResult {
  readonly hits: readonly Hit[];
  /** Share of the searchable content that was searched, from 0 to 1; 1 only when nothing is known to be missing or stale. */
  readonly ready: number;
  /** Mounts that were not searched completely because of an error, with the error. */
  readonly failures?: readonly MountFailure[];
}

/** The front matter of a SKILL.md, as written. */
export interface FrontMatter {
  readonly name: string;
  readonly description: string;
  readonly [field: string]: unknown;
}

/** One file of a skill. */
export interface SkillFile {
  readonly uri: string;
  /** `sha256:` and 64 hexadecimal digits, computed over the bytes that a read of the URI returns. */
  readonly digest: string;
  /** Number of these bytes. */
  readonly size: number;
}

/** Instructions for a model, with their files. */
export interface Skill {
  /** The URI of its SKILL.md. */
  readonly uri: string;
  readonly frontMatter: FrontMatter;
  /** All files that the caller may see, including SKILL.md; "dynamic" if content is generated on request. */
  readonly files: readonly SkillFile[] | "dynamic";
}

export interface SkillResult extends Freshness {
  readonly skill: Skill;
}

/** An operation that a mount offers. */
export interface Action {
  readonly mount: string;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** JSON Schema of the input, an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** True if the action changes nothing. */
  readonly readOnly: boolean;
  /** Additional HTTP path, used if only one action claims it. */
  readonly endpoint?: string;
}

export interface ActionResult {
  /** A JSON value; `uris` holds the URIs of the resources. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Resources that the value mentions. */
  readonly resources: readonly Resource[];
}

/** A block of a tool's result or of a prompt's message. */
export type ContentBlock =
  /** With `uri`, the content of that resource. */
  (
    | { readonly type: "text"; readonly text: string; readonly uri?: string }
    | { readonly type: "image" | "audio"; readonly bytes: Uint8Array; readonly mimeType: string; readonly uri?: string }
    /** A link to a resource. Revisions without links get the URI as text, unless another text already contains it (`isSaid`). */
    | { readonly type: "link"; readonly resource: Resource; readonly isSaid?: boolean }
    /** A resource with its content. */
    | { readonly type: "embedded"; readonly content: Content }
  ) & { readonly annotations?: Annotations; readonly meta?: Readonly<Record<string, unknown>> };

/** A tool or prompt of another server, identified by the mount and by its name at that server. */
export interface RelayedName {
  readonly mount: string;
  readonly name: string;
  /** In lists: all mounts that pass on tools or prompts to the caller, also those that cannot be reached. */
  readonly mounts?: readonly string[];
  /** True if the operator's own program defines it: its name is then used without that of the mount, where it is free. */
  readonly isOwn?: true;
}

/** A tool of another server that a mount passes on. Its texts are those of the other server. */
export interface RelayedTool extends RelayedName {
  readonly title?: string;
  readonly description?: string;
  /** JSON Schema of the arguments, an object. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** JSON Schema of `structuredContent`, an object. */
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  /** Hints about its behaviour: `readOnlyHint` and similar. */
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly icons?: readonly Icon[];
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required?: boolean;
}

/** A prompt of another server that a mount passes on. */
export interface RelayedPrompt extends RelayedName {
  readonly title?: string;
  readonly description?: string;
  readonly arguments?: readonly PromptArgument[];
  readonly icons?: readonly Icon[];
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** The capabilities of the caller's client, and its input for an earlier question. Not verified. */
export interface ClientInput {
  readonly clientCapabilities: Readonly<Record<string, unknown>>;
  readonly requestState?: string | undefined;
  readonly inputResponses?: Readonly<Record<string, unknown>> | undefined;
}

/** The other server needs input from the user: call again with the answers and the same state. */
export interface RelayedQuestion {
  readonly inputRequests: Readonly<
    Record<
      string,
      {
        readonly method: "elicitation/create" | "sampling/createMessage";
        readonly params: Readonly<Record<string, unknown>>;
      }
    >
  >;
  /** Only this caller can use it, once. */
  readonly requestState: string;
}

export interface RelayedToolResult<Block = ContentBlock> {
  readonly content: readonly Block[];
  readonly structuredContent?: Readonly<Record<string, unknown>>;
  readonly isError?: boolean;
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface RelayedPromptResult<Block = ContentBlock> {
  readonly description?: string;
  readonly messages: readonly { readonly role: "user" | "assistant"; readonly content: Block }[];
}

/** Which list may have changed. */
export type RelayedKind = "tools" | "prompts";

/**
 * Tools and prompts of other servers, for callers who may see everything of their mounts. What is not listed for a caller throws
 * "not-found". A mount that fails is logged, and its tools and prompts are missing.
 */
export interface Relayed {
  tools(call: Call): Promise<readonly RelayedTool[]>;
  callTool(
    what: RelayedName,
    args: Readonly<Record<string, unknown>>,
    input: ClientInput,
    call: Call,
  ): Promise<RelayedToolResult | RelayedQuestion>;
  prompts(call: Call): Promise<readonly RelayedPrompt[]>;
  getPrompt(
    what: RelayedName,
    args: Readonly<Record<string, string>>,
    input: ClientInput,
    call: Call,
  ): Promise<RelayedPromptResult | RelayedQuestion>;
  completePrompt(
    what: RelayedName,
    request: Pick<CompletionRequest, "variable" | "value" | "given">,
    call: Call,
  ): Promise<Suggestions>;
  /** Resolves once armed; yields whenever a list may have changed. For one consumer. Ends when the call's signal does. */
  watch(call: Call): Promise<AsyncIterable<RelayedKind>>;
}

export interface WatchFilter {
  readonly uris?: readonly string[];
  /** True to be notified when the list of resources changes. */
  readonly list?: boolean;
}

export type Change = { readonly kind: "updated"; readonly uri: string } | { readonly kind: "list-changed" };

/** For one consumer. `return` on its iterator ends the watch immediately, including a pending `next`. */
export interface Watch extends AsyncIterable<Change> {
  /** Those of the filter's URIs that are watched, as the caller wrote them. URIs that cannot be read are left out. */
  readonly uris: readonly string[];
  /** Those that exist and cannot be watched. Absent if there are none, or if another server does not name them. */
  readonly unwatched?: readonly UnwatchedUri[];
}

/** A URI whose source does not report changes. */
export interface UnwatchedUri {
  readonly uri: string;
  /** A sentence for people: why, and what to change if that is possible. */
  readonly reason: string;
}

/** Everything a client can request. Implemented by the router for local mounts and by the client for a remote server. */
export interface Resources {
  /** Pages are disjoint and together complete. A mount that fails is named in the page; the others are still served. */
  list(request: FilteredPageRequest, call: Call): Promise<Page<Resource>>;
  /** Lists the direct children of one directory. A URI that is missing or not a directory throws "not-found". */
  children(uri: string, request: PageRequest, call: Call): Promise<Page<Resource>>;
  /** Contents carry the URI as the caller wrote it. A missing resource throws "not-found"; the result is never an empty array. */
  read(uri: string, call: Call): Promise<ReadResult>;
  templates(request: FilteredPageRequest, call: Call): Promise<Page<Template>>;
  /** An unknown template throws "invalid"; an unknown variable has no suggestions. */
  complete(request: CompletionRequest, call: Call): Promise<Suggestions>;
  stat(uri: string, call: Call): Promise<Resource>;
  search(request: SearchRequest, call: Call): Promise<SearchResult>;
  /** Pages as for `list`. Absent if there are no skills and never will be. */
  skills?(request: PageRequest, call: Call): Promise<Page<Skill>>;
  /** Returns the skill with this SKILL.md, with the URI as the caller wrote it. Anything else throws "not-found". */
  skill?(uri: string, call: Call): Promise<SkillResult>;
  /** Lists the actions that this caller may run. Absent if there are none and never will be. */
  actions?(call: Call): Promise<readonly Action[]>;
  /** An action that `actions` does not list throws "not-found"; invalid input throws "invalid" and names the field. */
  act?(what: Pick<Action, "mount" | "name">, input: unknown, call: Call): Promise<ActionResult>;
  /** Tools and prompts of other servers. Absent if there are none and never will be. */
  readonly relayed?: Relayed;
  /**
   * Resolves once armed: a change made after that is never missed. Ends when the call's signal does. Throws "unsupported" if nothing but
   * URIs is watched and none of those that exist can be: waiting for their changes would look as if there were none.
   */
  watch(filter: WatchFilter, call: Call): Promise<Watch>;
  /** Freshness of lists. */
  readonly listFreshness: Freshness;
}
