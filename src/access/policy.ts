/** Decides who may see what. Does no I/O. */
import type { Caller } from "../resources.ts";
import type { Address, ShownFiles, VisibleFiles } from "../source.ts";

/**
 * Checked by every operation: list, children, templates, completion, read, search, watch, notifications and page sizes.
 * Decides by mount and address, never by the text of a URI.
 */
export interface Policy {
  /** `files` are the files that the address shows, for a source over a folder: one that is denied denies it. */
  maySee(caller: Caller, mount: string, at: Address, files?: readonly ShownFiles[]): boolean;
  /**
   * Whether a caller may see everything at and below an address: only then do they get overviews of it, and the tools and prompts of the
   * mount. Absent: nobody may, because `maySee` says nothing about what is below.
   */
  maySeeAll?(caller: Caller, mount: string, at: Address): boolean;
  /**
   * The files that a caller may see at an address of a mount, for a source that shows many. Undefined if all of them. Callers for whom the
   * same rules apply get the same object.
   */
  filesFor?(caller: Caller, mount: string, at: Address): VisibleFiles | undefined;
  /** Whether a caller may run actions of the mount that change something. Absent if whoever sees it may. */
  mayWrite?(caller: Caller, mount: string): boolean;
  /**
   * Equal for callers who may see the same; undefined for a caller who may see everything. Where it is absent, the index finds hidden
   * documents too, and they are removed from its results: then they still count in the statistics of words.
   */
  visibilityKey?(caller: Caller): string | undefined;
  /** The same decision with its reason. */
  explain?(caller: Caller, mount: string, at: Address, files?: readonly ShownFiles[]): AccessDecision;
}

export interface AccessDecision {
  readonly isAllowed: boolean;
  /** Index of the deciding rule. Absent if no rule applies, or if the owner asks. */
  readonly rule?: number;
}

/** Everyone may see everything that is mounted. */
export const openPolicy: Policy = { maySee: () => true };
