/** `pressmark://index/status`: how far the index of this house has come, as a resource that can be read and watched. */
import { notFound, ResourceError } from "../errors.ts";
import { directoryType } from "../resources.ts";
import type { Mount } from "../router/route.ts";
import type { Address, Entry, Source, SourceChange } from "../source.ts";
import type { HouseIndex } from "./house-index.ts";

export const statusScheme = "pressmark";

const statusPath = "index/status";
const statusEntry: Entry = {
  path: statusPath,
  name: "status",
  title: "Status of the search index",
  description: "How much of each mount is indexed, how large the index is, and what went wrong last",
  mimeType: "application/json",
};
const directories: Readonly<Record<string, string>> = { "": "index", index: statusPath };
/** Whoever watches hears at most so often. */
const everyMs = 1000;

/** No folder and no config can name a mount like this, so it stands in the way of none. */
export function statusMount(index: HouseIndex): Mount {
  return { name: `${statusScheme}/`, base: `${statusScheme}://`, source: createStatusSource(index) };
}

/** Read and watched, and not listed: it is no part of what a house is there to serve. */
function createStatusSource(index: HouseIndex): Source {
  return {
    list: async () => ({ items: [] }),

    async read(at) {
      if (entryAt(at) !== statusEntry) throw new ResourceError("directory", "a directory; list its children instead");
      return [{ mimeType: "application/json", body: { text: JSON.stringify(statusOf(index), undefined, 2) } }];
    },

    stat: async (at) => entryAt(at),

    async children({ path, query }) {
      const child = !query && Object.hasOwn(directories, path) ? directories[path] : undefined;
      if (child === undefined) throw notFound(path);
      return { items: [entryAt({ path: child })] };
    },

    async watch({ signal }) {
      return changes(index, signal);
    },
  };
}

function entryAt({ path, query }: Address): Entry {
  if (query) throw notFound(path);
  if (path === statusPath) return statusEntry;
  if (Object.hasOwn(directories, path)) return { path, mimeType: directoryType };
  throw notFound(path);
}

function statusOf({ kept }: HouseIndex) {
  const { role = "starting", status } = kept ?? {};
  const mounts = status?.mounts ?? [];
  return {
    state: role === "starting" ? "starting" : mounts.every(({ ready }) => ready === 1) ? "complete" : "indexing",
    /** Whether this process keeps the index, or another one does. */
    keptHere: role === "writer",
    bytes: status?.bytes ?? 0,
    mounts,
    ...(status?.embeddings && { embeddings: status.embeddings }),
  };
}

/** Whatever there is to say from here on is one change, at most once a second. */
function changes(index: HouseIndex, signal: AbortSignal): AsyncIterable<SourceChange> {
  let isNews = false;
  let wake: (() => void) | undefined;
  index.follow(() => {
    isNews = true;
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
        await until(() => isNews);
        if (signal.aborted) return;
        isNews = false;
        yield { kind: "changed", path: statusPath };
        await until(() => false, everyMs);
      }
    },
  };
}
