/** The interface of a source: everything that the author of a source needs to read. */
import type { z } from "zod";
import type {
  Annotations,
  Body,
  Call,
  Caller,
  ClientInput,
  CompletionRequest,
  ContentBlock,
  Freshness,
  FrontMatter,
  Hit,
  Icon,
  Page,
  RelayedKind,
  RelayedPrompt,
  RelayedPromptResult,
  RelayedQuestion,
  RelayedTool,
  RelayedToolResult,
  Suggestions,
} from "./resources.ts";
import { invalid, type ResourceError } from "./errors.ts";
import type { Runtime } from "./runtime.ts";

export type { LogLevel, Runtime, SharedCache, SharedCacheRecord } from "./runtime.ts";

/**
 * A location inside a mount. The router decodes a URI into an address once: a source never sees a percent-escape,
 * a `.` or `..` segment, or two forms of the same address.
 */
export interface Address {
  /**
   * Decoded segments joined by "/". "" is the mount itself. Empty segments count, also at the beginning: "a", "a/", "/a" and "a//b" all
   * differ. Only a single empty segment does not exist: it would be the mount itself.
   */
  readonly path: string;
  /**
   * A variable that the source does not know makes the address a missing one ("not-found"), for every operation: a wrong address must
   * not read like a right one. The order of variables has no meaning, and no variables are the same as no query.
   */
  readonly query?: Readonly<Record<string, string>>;
}

/** Returns whether an address has variables. A source that knows none throws "not-found" for such an address. */
export function hasQuery({ query }: Pick<Address, "query">): boolean {
  for (const _ in query) return true;
  return false;
}

/** Represents in a path a slash that belongs to a segment (`%2F` in the URI, as in a branch name). No name contains NUL. */
export const innerSlash = "\0";

/** Splits a path into segments and restores the inner slashes. */
export function segmentsOf(path: string): string[] {
  return path === "" ? [] : path.split("/").map((segment) => segment.replaceAll(innerSlash, "/"));
}

/** Joins segments into a path; the inverse of `segmentsOf`. Throws "invalid" for a single empty segment, which no path expresses. */
export function pathOf(segments: readonly string[]): string {
  if (segments.length === 1 && segments[0] === "")
    throw invalid("a single empty segment is no path: the empty path is the mount itself; leave it out");
  return segments.map((segment) => segment.replaceAll("/", innerSlash)).join("/");
}

/** One item of a list, with an address relative to the mount. */
export interface Entry extends Address {
  /** Default: the last segment of the path. */
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  /** `inode/directory` for a directory: an entry that has children and no content. */
  readonly mimeType?: string;
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  /** `"pressmark/view": true` marks a directory that shows content again that is elsewhere, such as the files of a tag: a tree does not open it by itself. */
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Equal versions mean equal content. Absent when the source cannot promise that. */
  readonly version?: string;
  /** The target, if this entry is a link. A caller who may not see the target does not see this entry either. */
  readonly reveals?: Address;
  /**
   * True for a resource that has children as well, such as the key `user:1` beside `user:1:friends`. `list` contains it, `read` returns
   * its content, `children` of its parent contains it once, and `children` of it lists what is below. `mimeType` is that of its content.
   * The mount itself may be such a resource.
   */
  readonly hasChildren?: true;
  /** Number of children of a directory, if known. Not shown to a caller who may not see all of them. */
  readonly children?: number;
}

/** One piece of content that a read returns. */
export interface Part {
  readonly body: Body;
  readonly mimeType?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Address of this part, if it differs from the address that was read (a file of a collection). */
  readonly at?: Address;
  /** URI of the resource of another mount that this part was read from, for the same caller. */
  readonly readFrom?: string;
  /** The target of a link, as in `Entry`. */
  readonly reveals?: Address;
  /** As in `Entry`, for a source that knows it only once it has read the content. */
  readonly version?: string;
  /** How long the part stays fresh. Default: the freshness of the mount. */
  readonly freshness?: Partial<Freshness>;
}

export interface SourceTemplate {
  /** RFC 6570, relative to the mount: `{+path}{?lines}`. */
  readonly template: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly meta?: Readonly<Record<string, unknown>>;
}

export interface ListRequest {
  /** The `next` of the previous page, unchanged. */
  readonly cursor?: string;
  /** Approximate number of entries wanted. A source may return fewer or more. May differ from page to page. */
  readonly limit: number;
  /** False if the caller does not need the versions of the entries: the source may omit them. */
  readonly versions?: boolean;
}

export interface SourceCompletionRequest {
  readonly template: SourceTemplate;
  readonly variable: string;
  readonly value: string;
  readonly given: Readonly<Record<string, string>>;
}

export interface Suggestion {
  readonly value: string;
  /** The entry whose existence this value reveals. A caller who may not see that entry does not get the value. */
  readonly reveals?: Pick<Entry, "path" | "query" | "reveals">;
}

/** A search hit whose resource is given as an entry. */
export interface SourceHit extends Omit<Hit, "resource"> {
  readonly entry: Entry;
}

export interface SourceHits {
  /** Best first. */
  readonly hits: readonly SourceHit[];
  /** Share of the mount that was searched, from 0 to 1. */
  readonly ready: number;
  /** Why less than all of the mount was searched. */
  readonly failure?: string;
}

export function toSourceHits(result: readonly SourceHit[] | SourceHits): SourceHits {
  return "ready" in result ? result : { hits: result, ready: 1 };
}

/** A skill, identified by the path of its SKILL.md. */
export interface SourceSkill extends Pick<Entry, "path" | "reveals"> {
  readonly frontMatter: FrontMatter;
  /** Every file of the skill, including SKILL.md; "dynamic" if the source cannot promise digests. */
  readonly files: readonly SourceSkillFile[] | "dynamic";
}

export interface SourceSkillFile extends Pick<Entry, "path" | "reveals"> {
  /** `sha256:` and 64 hexadecimal digits, computed over the bytes that a read of the path returns. */
  readonly digest: string;
  readonly size: number;
}

/** A problem that the operator should fix. */
export interface SourceProblem {
  readonly path: string;
  /** Line number from 1, if the problem is on one line. */
  readonly line?: number;
  /** Predicate of a sentence in lower case; the subject is the path. */
  readonly says: string;
  /** How to fix it. */
  readonly advice?: string;
}

export interface EntryChange {
  /**
   * Nothing else is meant: a path below it that appears or goes as well is reported in its own change. Without it, everything below goes
   * with an entry that goes. Needed for a resource that goes while its children stay.
   */
  readonly eachBelow?: true;
  /** It is not in the list, which therefore does not change. A directory is never in the list. */
  readonly isUnlisted?: true;
}

/** Do not report `changed` for a directory. The router notifies its watchers when something directly below it appears or goes. */
export type SourceChange =
  /** The content at this path has changed. */
  | { readonly kind: "changed"; readonly path: string }
  /** A new entry exists: a resource or a directory. Resources below a new directory are reported as well, or all of them as "lost". */
  | ({ readonly kind: "appeared"; readonly path: string } & EntryChange)
  /** An entry no longer exists. One that never existed is not reported. */
  | ({ readonly kind: "gone"; readonly path: string } & EntryChange)
  /** Changes may have been missed: anything may have changed, appeared or gone; with `isUnlisted`, nothing that is in the list appeared or went. */
  | { readonly kind: "lost"; readonly isUnlisted?: true };

export interface SourceWatch extends AsyncIterable<SourceChange> {
  /** Number of notifications received from the backend and not yet processed, if known: more changes may follow. */
  readonly pending?: number;
  /**
   * Returns a number that changes with every later change of the content at this path; 0 if the source cannot promise that,
   * for example for a file that was written only moments ago. It prevents a second announcement of the same change. Synchronous.
   */
  stateOf?(path: string): number;
  /**
   * Why the backend cannot be looked at now, if the watch counts it as unchanged; undefined while it can. Another object after each attempt
   * that fails. Where instances share a watch, one that fails for half a minute is ended, so that another instance may watch.
   */
  readonly failure?: ResourceError | undefined;
}

/** An operation that a source offers, as an MCP tool and over HTTP at `POST /actions/<mount>/<name>`. */
export interface SourceAction<Input = unknown> {
  readonly title?: string;
  /** Written for a model, in the imperative: when to call the action, and what for. */
  readonly description: string;
  /** Schema of the input, an object. `run` gets only input that matches. Called only when the schema is needed. */
  readonly input: (zod: typeof z) => z.ZodType<Input>;
  /** True if the action changes nothing. */
  readonly readOnly?: boolean;
  /** Additional HTTP path (`POST /<endpoint>`), used if only one action claims it. */
  readonly endpoint?: string;
  run(input: Input, call: Call): Promise<SourceActionResult>;
}

export interface SourceActionResult {
  /** A JSON value. */
  readonly value: Readonly<Record<string, unknown>>;
  /** Entries that the value mentions. A caller who may not see all of them gets "not-found" instead. */
  readonly entries?: readonly Entry[];
}

/** Required of every source. */
export interface SourceListing {
  /** Pages are disjoint, ordered by address and together complete, unless `isUnordered` is set. Directories are not listed. */
  list(request: ListRequest, call: Call): Promise<Page<Entry>>;
  /** A missing address throws "not-found"; the result is never an empty array. A directory throws "directory". */
  read(at: Address, call: Call): Promise<readonly Part[]>;
}

/** Looking at single entries and directories, and continuing a list. */
export interface SourceBrowsing {
  /** Returns the entry that `list` gives for this address; also works for directories. A missing address throws "not-found". */
  stat(at: Address, call: Call): Promise<Entry>;
  /**
   * Lists the direct children of a directory, or of a resource with `hasChildren`: resources and directories, each once. Pages as for
   * `list`. Anything else throws "not-found".
   */
  children(at: Address, request: ListRequest, call: Call): Promise<Page<Entry>>;
  /** Order of the paths in `list`, if the backend has a fixed order other than by address; `children` may use yet another. */
  readonly order: (left: string, right: string) => number;
  /**
   * True if the backend lists in no order, such as Redis: sorting everything first would delay the first page. The pages of `list`,
   * `listIndexed` and `children` then contain every entry that exists all the time, in any order, with cursors of the backend's own. An
   * entry is on a page once; it may occur again on a later page, and a page may be empty while `next` is set. No walk meets a cursor
   * twice. A cursor may be used again: it leads to the same entries as far as they still exist, more of them with a larger limit. `order` and `cursorAfter` are absent.
   */
  readonly isUnordered: true;
  /** True if entries have priorities and listing all of them is fast: what to read first is then chosen from the whole list. */
  readonly isRanked: true;
  /** Returns the cursor of the page that begins after this entry. Without it, the router requests a page again that it had to cut. */
  cursorAfter(entry: Entry): string;
}

/** Addresses that are not listed but can be composed. */
export interface SourceTemplates {
  readonly templates: readonly SourceTemplate[];
  /** Brings `templates` up to date, for a source that gets them from elsewhere. Called before `templates` is read. Never throws. */
  learnTemplates(call: Call): Promise<void>;
  /** Best first. An unknown variable has no suggestions. */
  complete(request: SourceCompletionRequest, call: Call): Promise<readonly Suggestion[]>;
}

/** For a backend that searches by itself. All other mounts are searched by the index. */
export interface SourceSearching {
  /** Best first. A plain array means that all of the mount was searched, as it is now. */
  search(
    request: { readonly text: string; readonly limit: number; readonly within?: string },
    call: Call,
  ): Promise<readonly SourceHit[] | SourceHits>;
}

/** For a source whose index contains other entries than its list, such as commits or rows. A source has both methods or none. */
export interface SourceIndexing {
  /**
   * Lists what the index contains, in place of `list`. Pages as for `list`. Each entry reads back, and `stat` finds it; an entry whose `meta` has
   * `"pressmark/as": ["text"]` is indexed with the text that a read with `as=text` returns; `"summary"` comes before `"text"`.
   */
  listIndexed(request: ListRequest, call: Call): Promise<Page<Entry>>;
  /** Returns whether `listIndexed` includes this address: `watch` reports its changes as unlisted ones. Synchronous. */
  indexes(at: Address): boolean;
}

/** For a source that knows what has changed since the index was complete: listing everything to compare it would take long. */
export interface SourceResuming {
  /** Returns the present state, and what has changed of the indexed entries since the earlier state that this method returned. */
  indexedSince(state: string | undefined, call: Call): Promise<IndexedChanges>;
}

export interface IndexedChanges {
  /** Undefined if the next comparison must list everything. */
  readonly state?: string | undefined;
  /** Undefined if it is unknown. */
  readonly changes?: readonly SourceChange[] | undefined;
}

/** Skills. A source has both methods or none. */
export interface SourceSkills {
  /** Pages as for `list`. Digests and sizes match what a read returns, until a change is reported. */
  skills(request: ListRequest, call: Call): Promise<Page<SourceSkill>>;
  /** Returns the skill whose SKILL.md has this address, as `skills` gives it. Anything else throws "not-found". */
  skill(at: Address, call: Call): Promise<SourceSkill>;
}

/** Changes as they happen. */
export interface SourceWatching {
  /**
   * Resolves once armed: a change made after that is never missed. A path reported as appeared or changed is listed or is a directory,
   * unless `lists` says otherwise. Ends when the call's signal does.
   * Any number of watches run concurrently. Each reports every change after it was armed, independent of the others.
   *
   * If it cannot be armed, or can no longer continue, it throws. "unsupported" means that this backend, as it is configured, reports no
   * changes. The message says why and how to turn it on. Callers get it, and the watch is tried again every minute and for each new
   * caller. Every other error means not now, as does an iteration that ends without the signal: the watch is tried again with growing
   * delays. Once it is back, everyone is notified that changes may have been missed.
   */
  watch(call: Call): Promise<SourceWatch>;
  /** True if `watch` reports only what the caller of its call may know: each caller then has a watch of their own. */
  readonly watchesPerCaller: true;
  /**
   * True if directories exist only through the paths below them, as in a key store, and `watch` does not report that they appear or go.
   * A watcher of a directory is then notified of everything that appears or goes below it, at any depth. Otherwise `watch` reports
   * directories, and only direct children count.
   */
  readonly impliesDirectories: true;
  /**
   * Returns whether `list` includes this address. For a source whose `watch` also reports unlisted paths: the index takes only listed ones.
   * Absent if everything that `stat` finds, except directories, is listed.
   */
  lists(at: Address): boolean;
  /**
   * Announces that someone watches this address until the call's signal ends: once resolved, `watch` reports changes there.
   * Absent if `watch` reports everything. Never throws.
   */
  follow(at: Address, call: Call): Promise<void>;
  /**
   * Tells the source what another watch of the same backend has reported: that of another instance, or of another open source. Resolves
   * when every call that begins from now on returns what was true at that report, or later; `maySee` as well. Only then do listeners hear
   * of the changes, unless it takes seconds. "lost" means that reports may have been missed. Never throws.
   * Absent if nothing is remembered that only the source's own `watch` brings up to date.
   */
  noteChanges(changes: readonly SourceChange[], call: Call): Promise<void>;
}

/** Operations that callers may run. */
export interface SourceActions {
  /** By name: lowercase letters, digits and underscores. Only for callers who may see the mount itself. */
  readonly actions: Readonly<Record<string, SourceAction>>;
}

/** A content block whose resources are given as addresses. */
export type SourceBlock =
  | Exclude<ContentBlock, { readonly type: "link" | "embedded" }>
  | { readonly type: "link"; readonly entry: Entry }
  | (Pick<ContentBlock, "annotations" | "meta"> & {
      readonly type: "embedded";
      readonly part: Part & { readonly at: Address };
    });

/** Tools and prompts of the server behind a mount. They may show anything of it: only callers who may see all of the mount use them. */
export interface SourceRelayed {
  /** Without duplicate names. */
  tools(call: Call): Promise<readonly Omit<RelayedTool, "mount">[]>;
  /** Not repeated by layers. A question ends the call; the caller's next call with its state continues the same one. */
  callTool(
    name: string,
    args: Readonly<Record<string, unknown>>,
    input: ClientInput,
    call: Call,
  ): Promise<RelayedToolResult<SourceBlock> | RelayedQuestion>;
  prompts(call: Call): Promise<readonly Omit<RelayedPrompt, "mount">[]>;
  getPrompt(
    name: string,
    args: Readonly<Record<string, string>>,
    input: ClientInput,
    call: Call,
  ): Promise<RelayedPromptResult<SourceBlock> | RelayedQuestion>;
  completePrompt(
    name: string,
    request: Pick<CompletionRequest, "variable" | "value" | "given">,
    call: Call,
  ): Promise<Suggestions>;
  /** Resolves once armed; yields whenever a list may have changed. Ends when the call's signal does. */
  watch(call: Call): Promise<AsyncIterable<RelayedKind>>;
}

/** Passing on what another server offers besides resources. */
export interface SourceRelaying {
  readonly relayed: SourceRelayed;
}

/** A file or folder on this machine that an address may show. */
export interface ShownFiles {
  /** Absolute, without links; or below `folder`, with slashes. */
  readonly path: string;
  /** Absolute. Stands apart, so that a list of many files in one folder is judged without building the path of each. */
  readonly folder?: string;
  /** True if the content may come from anything below the path, such as a commit of a repository. */
  readonly isWhole?: boolean;
  /** With `isWhole`: the source shows each caller only what they may see of it, so that they need not see everything below. */
  readonly isFiltered?: boolean;
  /** True if it is known not to be a folder: being on the way to an allowed file does not make it visible. */
  readonly isFile?: boolean;
}

/** The files on this machine that a caller may see. The same object always decides the same. */
export interface VisibleFiles {
  maySee(file: ShownFiles): boolean;
  /** Whether something below a folder may be visible. */
  mayHold(folder: string): boolean;
}

/** Undefined if the caller may see every file that the address can show. */
export type VisibleFilesOf = (caller: Caller, at: Address) => VisibleFiles | undefined;

/** Limits, access and the end of a source. */
export interface SourceOperation {
  /**
   * Time limit for one call in total: connecting, every request, redirect and attempt. The layers abort the call's signal then,
   * so a source needs no timers for its steps. Absent if the mount's limit is enough. Does not apply to watches and actions.
   */
  readonly timeoutMs: number;
  /**
   * Returns whether the backend lets this caller know of an address. Checked by every operation, in addition to the policy; synchronous.
   * Absent if all callers of the mount see the same.
   */
  maySee(caller: Caller, at: Address): boolean;
  /**
   * Returns the files on this machine that an address shows, so that rules about files hold whatever the URI. Synchronous. Absent if the
   * source does not serve files of a folder; empty for an address that shows none. A caller must be allowed to see every one of them. If the
   * address does not tell which file it is, return the folder with `isWhole`, or learn the names with `learnFiles`.
   */
  filesOf(at: Address): readonly ShownFiles[];
  /**
   * Returns the address whose whole content this one shows, as the overview of a database shows every table: it exists only for callers
   * who may see everything below that address. Synchronous. Undefined for an address that shows only itself.
   */
  overviewOf(at: Address): Address | undefined;
  /**
   * Tells the source who may see which files. From then on, everything that it returns contains only what the caller of the call may see,
   * and each caller who may not see everything has a watch of their own. Called again when the rules change.
   */
  filterFiles(visibleTo: VisibleFilesOf): void;
  /** Brings `filesOf` up to date, for a source whose addresses do not name their files. Called before hits of the index are shown. */
  learnFiles(call: Call): Promise<void>;
  /** Lists what the source left out or found faulty, and why: for the operator, never for a caller. */
  problems(call: Call): Promise<readonly SourceProblem[]>;
  /** Afterwards the source runs nothing and holds no resources. */
  close(): Promise<void>;
}

/**
 * A backend. `list` and `read` are required; the presence of any other member declares that ability. An author reads
 * `SourceListing` first, and each of the others when the backend can do it.
 */
export interface Source
  extends
    SourceListing,
    Partial<SourceBrowsing>,
    Partial<SourceTemplates>,
    Partial<SourceSearching>,
    Partial<SourceIndexing>,
    Partial<SourceResuming>,
    Partial<SourceSkills>,
    Partial<SourceWatching>,
    Partial<SourceActions>,
    Partial<SourceRelaying>,
    Partial<SourceOperation> {}

/** The folder of a project, as `detect` sees it. What cannot be read is empty. */
export interface ProjectFolder {
  /** Absolute path. */
  readonly path: string;
  /** Content of a folder below, or of the folder itself, sorted by name. */
  entries(folder?: string): readonly { readonly name: string; readonly isDirectory: boolean }[];
  /** Text of a small file. */
  text(file: string): string;
  /** Variables of .env files, each once, from the file that overrides the others. */
  readonly variables: readonly ProjectVariable[];
  /** Containers of compose files. */
  readonly containers: readonly ProjectContainer[];
}

/** A variable of an .env file. Of its value, only the scheme and the host of a URL are known: the rest may be a secret. */
export interface ProjectVariable {
  readonly name: string;
  readonly file: string;
  /** Undefined if the value is not a URL. */
  readonly scheme: string | undefined;
  readonly host: string | undefined;
}

/** A container of a compose file. */
export interface ProjectContainer {
  readonly file: string;
  readonly service: string;
  /** Name of the image without registry, tag and digest: `minio` for `quay.io/minio/minio:latest`. */
  readonly image: string;
  /** The port of this machine that leads to a port of the container. */
  portFor(target: number): number | undefined;
  /** An environment variable of the container, encoded as part of a URL in the config; a secret is a reference. Undefined if it is not set. */
  variable(name: string): string | undefined;
}

/** Something in a project that a source can serve: a mount that `pressmark init` writes or proposes. */
export interface Detection {
  /** What it is, for people. */
  readonly what: string;
  /** Where it was found, relative to the project's folder. */
  readonly where: string;
  /** Suggested options. A secret is a reference, such as `${env:REDIS_PASSWORD}`; a path is relative to the project's folder: `./mail`. */
  readonly values: Readonly<Record<string, string | readonly string[]>>;
  /** What must be there before it can be served, such as an environment variable. `init` then writes an optional mount; without it, a comment. */
  readonly needs?: string;
  /** Name of the mount, for a source that finds several. Default: the name of the source. */
  readonly name?: string;
  /** True if it shows texts of the project unchanged: if settings of the project contain secrets, `init` masks them. */
  readonly showsTexts?: true;
}

export interface SourceDefinition<Options = unknown> {
  readonly name: string;
  readonly summary: string;
  /** URI scheme of a mount that sets none. */
  readonly scheme: string;
  /** Declared once for validation, help, docs and the config schema. Called only when one of these is needed. */
  readonly options: (zod: typeof z) => z.ZodType<Options>;
  /** False if the index leaves out this source by default. */
  readonly searchable?: boolean;
  /** True if a second `open` would start another program or connection: the index then reads through the open mount. */
  readonly openedOnce?: boolean;
  /** Names of options whose texts are secrets: a config must write them as references. */
  readonly referencesOnly?: readonly string[];
  /** True if the path is everything after the base, unchanged: the source itself handles escapes, query and dots. */
  readonly verbatim?: boolean;
  /** URI prefix of a mount with these options, ending in "/". Default: `scheme://name/`. */
  base?(options: Options): string;
  /** Other URI prefixes for the same resources. Lists use the base. */
  aliases?(options: Options): readonly string[];
  /**
   * Returns whether the backend's response may depend on who connects: a password, a key, a header, a private network. Results of
   * such a mount are never marked public. Absent if the backend needs no credentials.
   */
  usesCredentials?(options: Options): boolean;
  /**
   * Finds what this source could serve in a project, for `pressmark init`. Synchronous; reads nothing but the project. Called only of built-in
   * sources: the code of a package does not run before it is trusted.
   */
  detect?(project: ProjectFolder): readonly Detection[];
  open(options: Options, runtime: Runtime): Promise<Source>;
}

/** Returns the definition unchanged; ties the types of `options` and `open` together. */
export function defineSource<Options>(definition: SourceDefinition<Options>): SourceDefinition<Options> {
  return definition;
}
