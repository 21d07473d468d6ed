/** Who may see what. Decides, never fetches. */
import type { Caller } from "../resources.ts";
import type { Address } from "../source.ts";

/**
 * Asked at every door: list, children, templates, completion, read, search, watch, notification and the shape of a page.
 * Judged on mount and address, never on the spelling of a URI.
 */
export interface Policy {
  maySee(caller: Caller, mount: string, at: Address): boolean;
}

/** Everyone may see everything that is mounted. */
export const openPolicy: Policy = { maySee: () => true };
