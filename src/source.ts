/** All that the author of a source needs to read. */
import type { z } from "zod";
import type {
  Annotations,
  Body,
  Call,
  Caller,
  Freshness,
  FrontMatter,
  Hit,
  Icon,
  Page,
  Resources,
} from "./resources.ts";

/**
 * Where a thing stands inside its mount. The house decodes a URI into an address once; a source never sees an escape,
 * a `.` or `..` segment, or a second spelling.
 */
export interface Address {
  /** Decoded segments joined by "/", without one in front. "" is the mount itself. Empty segments ("a//b", "a/") are other addresses. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
}

/** How a slash that belongs to a segment (`%2F` in the URI, as in a branch's name) stands in a path. No name contains NUL. */
export const innerSlash = "\0";

/** The segments of a path, each as it was meant. */
export function segmentsOf(path: string): string[] {
  return path === "" ? [] : path.split("/").map((segment) => segment.replaceAll(innerSlash, "/"));
}

/** The path whose segments these are. */
export function pathOf(segments: readonly string[]): string {
  return segments.map((segment) => segment.replaceAll("/", innerSlash)).join("/");
}

/** One thing in a list, said in the source's own addresses. */
export interface Entry extends Address {
  /** The last segment of the path, unless said. */
  readonly name?: string;
  readonly title?: string;
  readonly description?: string;
  /** `inode/directory` for what has children. */
  readonly mimeType?: string;
  readonly size?: number;
  readonly annotations?: Annotations;
  readonly icons?: readonly Icon[];
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Equal versions mean equal content. Absent when that cannot be promised. */
  readonly version?: string;
  /** Where this really stands, when a link leads there. A caller who may not see that place does not see this one either. */
  readonly reveals?: Address;
  /** How many children a directory has, where that is known. Not for a caller who may not see all of them. */
  readonly children?: number;
}

/** One piece of what a read gives. */
export interface Part {
  readonly body: Body;
  readonly mimeType?: string;
  readonly meta?: Readonly<Record<string, unknown>>;
  /** Where the piece itself stands, when that is not where the question pointed (a file of a collection). */
  readonly at?: Address;
  /** Where this really stands, as for an entry. */
  readonly reveals?: Address;
  /** How long the piece stays fresh; the mount's own hint unless said. */
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
  /** From the page before, as it was. */
  readonly cursor?: string;
  /** About how many entries are wanted. A source may give fewer or more. It may differ from page to page. */
  readonly limit: number;
  /** False where no one looks at the versions of the entries: they may be left out. */
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
  /** What the caller learns to exist from this value. A caller who may not see it is not told the value. */
  readonly reveals?: Pick<Entry, "path" | "query" | "reveals">;
}

/** What is found; beside the entry as a hit of the house says it. */
export interface SourceHit extends Omit<Hit, "resource"> {
  readonly entry: Entry;
}

export interface SourceHits {
  /** Best first. */
  readonly hits: readonly SourceHit[];
  /** The share of the mount that was searched, from 0 to 1. */
  readonly ready: number;
  /** Why it is not all. */
  readonly failure?: string;
}

export function toSourceHits(found: readonly SourceHit[] | SourceHits): SourceHits {
  return "ready" in found ? found : { hits: found, ready: 1 };
}

/** A skill, said where its SKILL.md stands. */
export interface SourceSkill extends Pick<Entry, "path" | "reveals"> {
  readonly frontMatter: FrontMatter;
  /** Every file of it, SKILL.md among them; "dynamic" where digests cannot be promised. */
  readonly files: readonly SourceSkillFile[] | "dynamic";
}

export interface SourceSkillFile extends Pick<Entry, "path" | "reveals"> {
  /** `sha256:` and 64 hexadecimal digits, of the bytes that are read at the path. */
  readonly digest: string;
  readonly size: number;
}

/** Something that a person should put right. */
export interface SourceProblem {
  readonly path: string;
  /** Counted from 1, where it is at one line. */
  readonly line?: number;
  /** A sentence in lower case, whose subject is the path. */
  readonly says: string;
  /** What to do. */
  readonly advice?: string;
}

export type SourceChange =
  /** The content at this path is another than before. */
  | { readonly kind: "changed"; readonly path: string }
  /** Something is there that was not. `eachBelow`: what appeared below it is told as well, each path for itself. */
  | { readonly kind: "appeared"; readonly path: string; readonly eachBelow?: true }
  /** Something is no longer there. `eachBelow`: what is gone below it is told as well, each path for itself. */
  | { readonly kind: "gone"; readonly path: string; readonly eachBelow?: true }
  /** Changes may have been missed: anything may be another, gone or new. */
  | { readonly kind: "lost" };

export interface SourceWatch extends AsyncIterable<SourceChange> {
  /** How many announcements of the backend are known and not looked at yet, where that can be told: changes may follow. */
  readonly pending?: number;
  /**
   * A number that every later change of the content at this path alters. 0 where that cannot be promised, as for a file that was written
   * just now. With it, a change that was announced already is not announced again. Answers at once.
   */
  stateOf?(path: string): number;
}

/** What a source can be asked to do. Offered as a tool, and over HTTP at `POST /actions/<mount>/<name>`. */
export interface SourceAction<Input = unknown> {
  readonly title?: string;
  /** In the imperative, for a model: when to ask for it, and what for. */
  readonly description: string;
  /** What it takes, an object. `run` is given nothing that does not fit. Called only where it is needed. */
  readonly input: (zod: typeof z) => z.ZodType<Input>;
  /** Whether everything is afterwards as it was before. */
  readonly readOnly?: boolean;
  /** A path of its own over HTTP (`POST /<door>`), for where it is the only one of that door. */
  readonly endpoint?: string;
  run(input: Input, call: Call): Promise<SourceActionResult>;
}

export interface SourceActionResult {
  /** What JSON can hold. */
  readonly value: Readonly<Record<string, unknown>>;
  /** What the value speaks of. A caller who may not see all of it gets "not-found" instead. */
  readonly entries?: readonly Entry[];
}

/** A backend. `list` and `read` are required; of the rest, what is there is what it can do. */
export interface Source {
  /** Pages are disjoint, ordered by address and together complete. Directories are not listed. */
  list(ask: ListRequest, call: Call): Promise<Page<Entry>>;
  /** How its lists stand, by path, where the backend has another fixed order than that of addresses; children may stand in yet another. */
  readonly order?: (left: string, right: string) => number;
  /** The cursor with which a list goes on right behind this entry. Without it, a page that was cut is asked for again. */
  cursorAfter?(entry: Entry): string;
  /** A missing address throws "not-found"; it never gives an empty array. A directory throws "directory". */
  read(at: Address, call: Call): Promise<readonly Part[]>;
  /** What `list` would say of this address, or of a directory. A missing address throws "not-found". */
  stat?(at: Address, call: Call): Promise<Entry>;
  /** The direct children of a directory, directories included. Pages as for `list`. Anything else throws "not-found". */
  children?(at: Address, ask: ListRequest, call: Call): Promise<Page<Entry>>;
  readonly templates?: readonly SourceTemplate[];
  /** Asked before `templates` is looked at, by a source that learns them from elsewhere: then they are as it knows them by now. Never throws. */
  learnTemplates?(call: Call): Promise<void>;
  /** Best first. An unknown variable has no suggestions. */
  complete?(ask: SourceCompletionRequest, call: Call): Promise<readonly Suggestion[]>;
  /** Best first. A plain array says that all of the mount was searched. */
  search?(
    ask: { readonly text: string; readonly limit: number; readonly within?: string },
    call: Call,
  ): Promise<readonly SourceHit[] | SourceHits>;
  /** Pages as for `list`. What a skill says of its files is what reading them gives, until a change of them is told. With `skill`. */
  skills?(ask: ListRequest, call: Call): Promise<Page<SourceSkill>>;
  /** What `skills` would say of the skill whose SKILL.md stands here. Anything else throws "not-found". */
  skill?(at: Address, call: Call): Promise<SourceSkill>;
  /** What is left out, or not as it should be, and why: for the person who runs the house, never for a caller. */
  problems?(call: Call): Promise<readonly SourceProblem[]>;
  /**
   * Resolves once armed: a change made after that is never missed. What it says has appeared or changed is listed, or a directory, unless
   * `lists` says otherwise. Ends when the call's signal does; throws if it cannot go on.
   * Any number of watches run at once. Each reports every change after it was armed, whatever becomes of the others.
   */
  watch?(call: Call): Promise<SourceWatch>;
  /**
   * Whether lists hold this address. Where `watch` also tells of what is not listed, the index takes up what this says is.
   * Absent where all that `stat` finds, but for directories, is listed.
   */
  lists?(at: Address): boolean;
  /**
   * Someone listens to this address until the call's signal ends: with it, `watch` tells of changes there once this has resolved.
   * Absent where `watch` tells of everything. Never throws.
   */
  follow?(at: Address, call: Call): Promise<void>;
  /**
   * How long a question may take in all: connecting, every request and redirect, every attempt. The layers end the call's signal then,
   * so a source need not count the time of its own steps. Absent where the mount's limit is enough. Not for watches and actions.
   */
  readonly timeoutMs?: number;
  /** By name: small letters, digits and underscores. Only for callers who may see the mount itself. */
  readonly actions?: Readonly<Record<string, SourceAction>>;
  /**
   * Whether the backend itself lets this caller know of an address, by what is known here: it is asked at every door, beside the
   * policy, and never waits. Absent where all who may enter see the same.
   */
  maySee?(caller: Caller, at: Address): boolean;
  /** Afterwards nothing of the source runs or is held. */
  close?(): Promise<void>;
}

/** The world, as a source may touch it. Tests hand in their own. */
export interface Runtime {
  /** Milliseconds since the epoch, for what is shown or stored. Someone may set this clock back or forward at any time. */
  now(): number;
  /** Milliseconds that only go forward, from no fixed beginning: for time limits, delays and how old something is. */
  monotonicMs(): number;
  /** Resolves after this time, or rejects when the signal ends. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /**
   * Present where the mount masks what looks like a secret. Whole texts are masked without the source's help; whoever puts pieces of
   * one together into something else masks the whole first, as a piece may not be known for what it is.
   */
  readonly redact?: (text: string) => string;
  /** Says something to the person who runs the house. Never a secret, never a caller's content. */
  log(level: "info" | "warn" | "error", message: string, facts?: Readonly<Record<string, unknown>>): void;
  /**
   * Throws where a program or file that the mount names is another than when the config was loaded. To be asked before one of them is
   * started or opened by its path. Absent where the person named the config.
   */
  readonly checkTrust?: () => void;
  /** The house that the source stands in, for after it was opened: what is served here, as a caller may see it. Absent where it stands alone. */
  readonly pressmark?: Pick<Resources, "read" | "stat" | "watch">;
}

export interface SourceDefinition<Options = unknown> {
  readonly name: string;
  readonly summary: string;
  /** The URI scheme of a mount that names none. */
  readonly scheme: string;
  /** Declared once: validation, help, docs and the config's schema come from it. Called only where one of these is needed. */
  readonly options: (zod: typeof z) => z.ZodType<Options>;
  /** False where its texts are not for the index unless the config says so. */
  readonly searchable?: boolean;
  /** True where another open would start another program or connection: the index reads through the mount that is open. */
  readonly openedOnce?: boolean;
  /** True where a path is all that stands behind the base, as it is spelled: escapes, query and dots are the source's own matter. */
  readonly verbatim?: boolean;
  /** The URI prefix of a mount with these options, ending in "/"; `scheme://name/` unless said. */
  base?(options: Options): string;
  /** Other prefixes under which the same things are read. They are listed under the base. */
  aliases?(options: Options): readonly string[];
  /**
   * Whether the backend may answer because of who asks: a password, a key, a header, a private network. Nothing of such a mount is
   * ever called public. Absent where the backend asks for nothing.
   */
  usesCredentials?(options: Options): boolean;
  open(options: Options, runtime: Runtime): Promise<Source>;
}

/** Ties a definition's options to its `open`, so that both are checked. */
export function defineSource<Options>(definition: SourceDefinition<Options>): SourceDefinition<Options> {
  return definition;
}
