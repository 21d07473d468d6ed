/** The mount `pressmark://`: the server's status as resources that can be read and watched, but are not listed. */
import { notFound, ResourceError } from "../errors.ts";
import { type Caller, directoryType } from "../resources.ts";
import type { Mount } from "../router/route.ts";
import type { Address, Entry, Source } from "../source.ts";
import { createChangeQueue } from "./change-queue.ts";

const statusScheme = "pressmark";

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

    async watch({ signal }) {
      const queue = createChangeQueue(signal);
      for (const { entry, follow } of pages) follow(() => queue.push({ kind: "changed", path: entry.path }), signal);
      return queue;
    },

    async follow(at, { caller, signal }) {
      pageAt(at, caller)?.attend?.(signal);
    },
  };
}
