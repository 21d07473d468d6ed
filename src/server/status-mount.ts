/** The mount `pressmark://`: the server's status as resources that can be read and watched, but are not listed. */
import { notFound, ResourceError } from "../errors.ts";
import { type Caller, directoryType } from "../resources.ts";
import type { Mount } from "../router/route.ts";
import type { Address, Entry, Source, SourceChange } from "../source.ts";

export const statusScheme = "pressmark";

/** One status resource, as JSON. */
export interface StatusPage {
  readonly entry: Entry;
  /** Whether only the owner may see it. */
  readonly isOwners?: boolean;
  say(): unknown;
  /** Calls back on every change, until the signal is aborted. */
  follow(hear: () => void, signal: AbortSignal): void;
  /** Called while someone watches, until the signal is aborted. */
  attend?(signal: AbortSignal): void;
}

/** Minimum interval between changes. */
const everyMs = 1000;

/** No folder or config can use this name for a mount, so it never collides. */
export function statusMount(pages: readonly StatusPage[]): Mount {
  return { name: `${statusScheme}/`, base: `${statusScheme}://`, source: createStatusSource(pages) };
}

/** Nothing is listed: the status is not part of the served content. */
function createStatusSource(pages: readonly StatusPage[]): Source {
  const pagesFor = ({ owner }: Caller) => pages.filter(({ isOwners }) => !isOwners || owner === true);

  function pageAt({ path, query }: Address, caller: Caller): StatusPage | undefined {
    return query ? undefined : pagesFor(caller).find(({ entry }) => entry.path === path);
  }

  /** Direct children of a directory, without duplicates; undefined if it is not a directory. */
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

/** Merges all changes into one change per page, at most once per second. */
function changes(pages: readonly StatusPage[], signal: AbortSignal): AsyncIterable<SourceChange> {
  const news = new Set<string>();
  let wake: (() => void) | undefined;
  for (const { entry, follow } of pages)
    follow(() => {
      news.add(entry.path);
      wake?.();
    }, signal);

  /** Resolves when the signal is aborted, or when `holds` is true after a change. */
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
