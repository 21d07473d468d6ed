/** `pressmark://`: what the house says of itself, as resources that are read and watched, and not listed. */
import { notFound, ResourceError } from "../errors.ts";
import { type Caller, directoryType } from "../resources.ts";
import type { Mount } from "../router/route.ts";
import type { Address, Entry, Source, SourceChange } from "../source.ts";

export const statusScheme = "pressmark";

/** One thing that is said, as JSON. */
export interface StatusPage {
  readonly entry: Entry;
  /** Whether it is there for the owner, and for nobody else. */
  readonly isOwners?: boolean;
  say(): unknown;
  /** Hears when there is something new to say, until the signal ends. */
  follow(hear: () => void, signal: AbortSignal): void;
  /** Somebody looks on until the signal ends. */
  attend?(signal: AbortSignal): void;
}

/** Whoever watches hears at most so often. */
const everyMs = 1000;

/** No folder and no config can name a mount like this, so it stands in the way of none. */
export function statusMount(pages: readonly StatusPage[]): Mount {
  return { name: `${statusScheme}/`, base: `${statusScheme}://`, source: createStatusSource(pages) };
}

/** It is no part of what a house is there to serve: so nothing of it is listed. */
function createStatusSource(pages: readonly StatusPage[]): Source {
  const pagesFor = ({ owner }: Caller) => pages.filter(({ isOwners }) => !isOwners || owner === true);

  function pageAt({ path, query }: Address, caller: Caller): StatusPage | undefined {
    return query ? undefined : pagesFor(caller).find(({ entry }) => entry.path === path);
  }

  /** The direct children of a directory, each once; undefined for what is none. */
  function childrenOf({ path, query }: Address, caller: Caller): readonly Entry[] | undefined {
    const start = path === "" ? "" : `${path}/`;
    const below = query ? [] : pagesFor(caller).filter(({ entry }) => entry.path.startsWith(start));
    const children = new Map<string, Entry>();
    for (const { entry } of below) {
      const slash = entry.path.indexOf("/", start.length);
      const child = slash === -1 ? entry : { path: entry.path.slice(0, slash), mimeType: directoryType };
      children.set(child.path, child);
    }
    return children.size === 0 ? undefined : [...children.values()];
  }

  function entryAt(at: Address, caller: Caller): Entry {
    const page = pageAt(at, caller);
    if (page) return page.entry;
    if (childrenOf(at, caller)) return { path: at.path, mimeType: directoryType };
    throw notFound(at.path);
  }

  return {
    list: async () => ({ items: [] }),

    async read(at, { caller }) {
      const page = pageAt(at, caller);
      if (page)
        return [{ mimeType: "application/json", body: { text: JSON.stringify(await page.say(), undefined, 2) } }];
      if (childrenOf(at, caller)) throw new ResourceError("directory", "a directory; list its children instead");
      throw notFound(at.path);
    },

    stat: async (at, { caller }) => entryAt(at, caller),

    async children(at, _ask, { caller }) {
      const children = childrenOf(at, caller);
      if (!children) throw notFound(at.path);
      return { items: children };
    },

    watch: async ({ signal }) => changes(pages, signal),

    async follow(at, { caller, signal }) {
      pageAt(at, caller)?.attend?.(signal);
    },
  };
}

/** Whatever there is to say from here on is one change of each page, at most once a second. */
function changes(pages: readonly StatusPage[], signal: AbortSignal): AsyncIterable<SourceChange> {
  const news = new Set<string>();
  let wake: (() => void) | undefined;
  for (const { entry, follow } of pages)
    follow(() => {
      news.add(entry.path);
      wake?.();
    }, signal);

  /** Resolves when the signal ends, or when this holds after something was heard. */
  function until(holds: () => boolean, ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = ms === undefined ? undefined : setTimeout(over, ms);
      function over(): void {
        clearTimeout(timer);
        signal.removeEventListener("abort", over);
        wake = undefined;
        resolve();
      }
      wake = () => {
        if (holds()) over();
      };
      signal.addEventListener("abort", over);
      if (signal.aborted || holds()) over();
    });
  }

  return {
    async *[Symbol.asyncIterator]() {
      for (;;) {
        await until(() => news.size > 0);
        if (signal.aborted) return;
        const paths = [...news];
        news.clear();
        for (const path of paths) yield { kind: "changed", path };
        await until(() => false, everyMs);
      }
    },
  };
}
