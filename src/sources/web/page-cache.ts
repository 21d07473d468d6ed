/** Cache of pages, so that a site may respond that nothing has changed. */
import type { Part } from "../../source.ts";

export interface CachedPage {
  readonly part: Part;
  /** Size of the response body. */
  readonly size: number;
  /** Approximate memory use. */
  readonly heldBytes: number;
  readonly digest: string;
  readonly lastModified: string | undefined;
  /** The final URL: its validators are valid only there. */
  readonly href: string;
  /** The headers of a conditional request. */
  readonly validators: Readonly<Record<string, string>>;
}

export interface PageCache {
  get(url: string): CachedPage | undefined;
  set(url: string, page: CachedPage): void;
}

/** Drops the least recently used page first. */
export function createPageCache(maxBytes: number): PageCache {
  const pages = new Map<string, CachedPage>();
  let held = 0;

  function remove(url: string): void {
    held -= pages.get(url)?.heldBytes ?? 0;
    pages.delete(url);
  }

  return {
    get(url) {
      const page = pages.get(url);
      if (page) {
        pages.delete(url);
        pages.set(url, page);
      }
      return page;
    },
    set(url, page) {
      remove(url);
      // A page without a validator must be fetched again anyway, so it is not cached.
      if (Object.keys(page.validators).length === 0 || page.heldBytes > maxBytes / 4) return;
      pages.set(url, page);
      held += page.heldBytes;
      for (const oldest of pages.keys()) {
        if (held <= maxBytes) break;
        remove(oldest);
      }
    },
  };
}
