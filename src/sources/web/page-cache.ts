/** Pages as they were last, so that a site may answer that nothing changed. */
import type { Part } from "../../source.ts";

export interface CachedPage {
  readonly part: Part;
  /** Of the page as it came. */
  readonly size: number;
  /** What keeping it takes, about. */
  readonly heldBytes: number;
  readonly digest: string;
  readonly lastModified: string | undefined;
  /** Where it was found in the end: only there its validators mean something. */
  readonly href: string;
  /** The headers that ask whether it is another by now. */
  readonly validators: Readonly<Record<string, string>>;
}

export interface KeptPages {
  get(url: string): CachedPage | undefined;
  set(url: string, page: CachedPage): void;
}

/** The least recently used goes first. */
export function createKept(maxBytes: number): KeptPages {
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
      // Without a validator it is asked for whole again, and need not be kept.
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
