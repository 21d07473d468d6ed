/** The words of the house: what it serves, who asks, and the one interface that all of it is asked through. */

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

/** What is said of a thing without opening it. */
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
  /** Bytes, as they are stored. */
  readonly size?: number;
}

export interface Template extends Description {
  /** RFC 6570. */
  readonly uriTemplate: string;
}

/** The MIME type of what has children instead of content. */
export const directoryType = "inode/directory";

/**
 * What a content holds. The same object stands for the same content from the source to the wire,
 * so that an edge may remember how it spelled it.
 */
export type Body = { readonly text: string } | { readonly bytes: Uint8Array };

export interface Content {
  readonly uri: string;
  readonly mimeType?: string;
  readonly body: Body;
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** How long an answer may be kept, and whether other callers may be given it. */
export interface Freshness {
  readonly ttlMs: number;
  readonly scope: "public" | "private";
}

export interface ReadResult extends Freshness {
  readonly contents: readonly Content[];
}

export interface Page<T> {
  readonly items: readonly T[];
  /** Present if and only if there may be more. Opaque: hand it back as it is. */
  readonly next?: string;
  /** Mounts that could not answer: what is theirs is missing from this page. */
  readonly failures?: readonly MountFailure[];
}

export interface MountFailure {
  readonly mount: string;
  readonly message: string;
}

/** Who asks. Two callers with the same id see the same things. */
export interface Caller {
  readonly id: string;
  readonly groups?: readonly string[];
  /** Whether this is the person who runs the house. Never made from what a caller says of itself. */
  readonly owner?: boolean;
}

/** Handed on whole, never as a copy of its members: some are made only when they are asked for. */
export interface Call {
  readonly caller: Caller;
  /**
   * What stands for one client where limits are shared: a connection, or a session. Several clients may be one caller. Absent
   * where the caller is one client.
   */
  readonly client?: object;
  /** The one way to stop anything. */
  readonly signal: AbortSignal;
  /** Present when the caller wants to hear how far a long answer has come. */
  readonly progress?: (done: number, total?: number, message?: string) => void;
}

export interface PageRequest {
  readonly cursor?: string;
  /** At most so many are wanted. The page may hold fewer, and more where they come from afar. */
  readonly limit?: number;
}

export interface CompletionRequest {
  /** The template as listed, or a URI. */
  readonly template: string;
  readonly variable: string;
  /** What has been typed so far. */
  readonly value: string;
  /** Variables that are settled already. */
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
  /** Only what lies below this URI. */
  readonly within?: string;
  /** Whether the last word may not be finished yet. */
  readonly typing?: boolean;
}

export interface Hit {
  readonly resource: Resource;
  readonly score: number;
  /** A piece of the text, as it stands there. */
  readonly snippet?: string;
  /** Where the snippet begins in the text, in UTF-16 code units. */
  readonly offset?: number;
  /** What matched, as [from, to) in the snippet. In order, disjoint. */
  readonly marks?: readonly (readonly [from: number, to: number])[];
  /** Counted from 1, both ends included. */
  readonly lines?: readonly [first: number, last: number];
}

export interface SearchResult {
  readonly hits: readonly Hit[];
  /** How much of what could be searched was, from 0 to 1; 1 only when nothing is known to be missing or stale. */
  readonly ready: number;
  /** Mounts of which not all was searched because something went wrong, and what. */
  readonly failures?: readonly MountFailure[];
}

/** The front matter of a SKILL.md, as its author wrote it. */
export interface FrontMatter {
  readonly name: string;
  readonly description: string;
  readonly [field: string]: unknown;
}

/** One file of a skill. */
export interface SkillFile {
  readonly uri: string;
  /** `sha256:` and 64 hexadecimal digits, of the bytes that are read at the URI. */
  readonly digest: string;
  /** How many bytes these are. */
  readonly size: number;
}

/** Instructions for a model, with the files that belong to them. */
export interface Skill {
  /** Of its SKILL.md. */
  readonly uri: string;
  readonly frontMatter: FrontMatter;
  /** All that the caller may see of it, SKILL.md among them; "dynamic" where content is made when it is asked for. */
  readonly files: readonly SkillFile[] | "dynamic";
}

export interface SkillResult extends Freshness {
  readonly skill: Skill;
}

/** Something that a mount can be asked to do. */
export interface Action {
  readonly mount: string;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  /** JSON Schema of the object that it takes. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  /** Whether everything is afterwards as it was before. */
  readonly readOnly: boolean;
  /** A path of its own over HTTP, for where it is the only one of that door. */
  readonly endpoint?: string;
}

export interface ActionResult {
  /** What JSON can hold; `uris` are those of the resources. */
  readonly value: Readonly<Record<string, unknown>>;
  /** What the value speaks of. */
  readonly resources: readonly Resource[];
}

export interface WatchFilter {
  readonly uris?: readonly string[];
  /** Whether to hear that the list of resources changed. */
  readonly list?: boolean;
}

export type Change = { readonly kind: "updated"; readonly uri: string } | { readonly kind: "list-changed" };

/** For one consumer. Returning its iterator ends the watch at once, also for a `next` that waits. */
export interface Watch extends AsyncIterable<Change> {
  /** Those of the filter's URIs that are watched, as the caller spelled them. What cannot be read is left out. */
  readonly uris: readonly string[];
}

/** Everything the house can be asked. The router answers it here, the client from afar. */
export interface Resources {
  /** Pages are disjoint and together complete; a mount that fails is named in its page, and the others are served. */
  list(ask: PageRequest, call: Call): Promise<Page<Resource>>;
  /** The direct children of one directory. What is missing, or no directory, throws "not-found". */
  children(uri: string, ask: PageRequest, call: Call): Promise<Page<Resource>>;
  /** Contents carry the caller's own spelling of the URI. A missing resource throws "not-found"; it never gives an empty array. */
  read(uri: string, call: Call): Promise<ReadResult>;
  templates(ask: PageRequest, call: Call): Promise<Page<Template>>;
  /** An unknown template throws "invalid"; an unknown variable has no suggestions. */
  complete(ask: CompletionRequest, call: Call): Promise<Suggestions>;
  stat(uri: string, call: Call): Promise<Resource>;
  search(ask: SearchRequest, call: Call): Promise<SearchResult>;
  /** Pages as for `list`. Absent where there are no skills, now and later. */
  skills?(ask: PageRequest, call: Call): Promise<Page<Skill>>;
  /** The skill whose SKILL.md this is, in the caller's own spelling. Anything else throws "not-found". */
  skill?(uri: string, call: Call): Promise<SkillResult>;
  /** What this caller may ask the mounts to do. Absent where that is nothing, now and later. */
  actions?(call: Call): Promise<readonly Action[]>;
  /** What is not among the caller's actions throws "not-found"; what does not fit its schema "invalid", and names the field. */
  act?(what: Pick<Action, "mount" | "name">, input: unknown, call: Call): Promise<ActionResult>;
  /** Resolves once armed: a change made after that is never missed. Ends when the call's signal does. */
  watch(filter: WatchFilter, call: Call): Promise<Watch>;
  /** How long lists stay fresh, and for whom. */
  readonly listFreshness: Freshness;
}
