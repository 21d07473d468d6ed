/** Remembers which folder lists a resource, as far as the page has seen lists. */
import type { Resource } from "../resources.ts";

export type Listings = ReturnType<typeof createListings>;

export function createListings() {
  const parents = new Map<string, string>();
  return {
    add(folder: string, items: readonly Resource[]): void {
      for (const { uri } of items) if (uri !== folder) parents.set(uri, folder);
    },
    /** True if the folder lists it, or lists a folder that does. False if that is not known. */
    isBelow(uri: string, folder: string): boolean {
      const seen = new Set<string>();
      for (let at = parents.get(uri); at !== undefined && !seen.has(at); at = parents.get(at)) {
        if (at === folder) return true;
        seen.add(at);
      }
      return false;
    },
  };
}
