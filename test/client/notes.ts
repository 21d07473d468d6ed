/** A server of notes that tells of every change at once, behind the real edge and the real transport. */
import { notFound } from "../../src/errors.ts";
import { createCoalescingQueue, type CoalescingQueue } from "../../src/lib/coalescing-queue.ts";
import { createProtocol } from "../../src/protocol/create-protocol.ts";
import type { Change, Resources } from "../../src/resources.ts";
import { listen, type Listening } from "../../src/transport/listen.ts";

export interface Notes extends AsyncDisposable {
  readonly url: string;
  readonly sseUrl: string;
  uriOf(name: string): string;
  set(name: string, text: string): void;
  delete(name: string): void;
  text(name: string): string | undefined;
  /** How many reads have been answered. */
  readonly reads: number;
  /** How many watch at the moment. */
  readonly watches: number;
  /** As a restart does: every stream is cut and every session forgotten. The address stays the same. */
  restart(): Promise<void>;
}

interface Watcher {
  readonly uris: ReadonlySet<string>;
  readonly list: boolean;
  readonly reader: CoalescingQueue<Change>;
}

const uriOf = (name: string) => `note://all/${name}`;
const nameOf = (uri: string) => uri.replace("note://all/", "");

export interface NotesOptions {
  readonly ttlMs?: number;
  readonly scope?: "public" | "private";
}

export async function openNotes(
  initial: Readonly<Record<string, string>>,
  { ttlMs = 0, scope = "private" }: NotesOptions = {},
): Promise<Notes> {
  const texts = new Map(Object.entries(initial));
  const watchers = new Set<Watcher>();
  const freshness = { ttlMs, scope };
  let reads = 0;

  function tell(change: Change): void {
    for (const { uris, list, reader } of watchers)
      if (change.kind === "updated" ? uris.has(change.uri) : list) reader.push(change);
  }

  const resources: Resources = {
    list: async () => ({ items: [...texts.keys()].sort().map((name) => ({ uri: uriOf(name), name })) }),
    children: (uri) => Promise.reject(notFound(uri)),
    templates: async () => ({ items: [] }),
    complete: async () => ({ values: [] }),
    search: async () => ({ hits: [], ready: 1 }),
    async stat(uri) {
      if (!texts.has(nameOf(uri))) throw notFound(uri);
      return { uri, name: nameOf(uri) };
    },
    async read(uri) {
      const text = texts.get(nameOf(uri));
      if (text === undefined) throw notFound(uri);
      reads += 1;
      return { contents: [{ uri, body: { text } }], ...freshness };
    },
    async watch({ uris = [], list = false }, { signal }) {
      const reader = createCoalescingQueue<Change>((change) => (change.kind === "updated" ? change.uri : change.kind));
      const known = uris.filter((uri) => texts.has(nameOf(uri)));
      const watcher: Watcher = { uris: new Set(known), list, reader };
      const end = (): void => {
        watchers.delete(watcher);
        void reader.return();
      };
      watchers.add(watcher);
      signal.addEventListener("abort", end, { once: true });
      return {
        uris: known,
        [Symbol.asyncIterator]: () => ({
          next: () => reader.next(),
          async return() {
            end();
            return { done: true, value: undefined };
          },
        }),
      };
    },
    listFreshness: freshness,
  };

  let serving = await start(resources, 0);
  return {
    url: serving.url,
    sseUrl: new URL("/sse", serving.url).href,
    uriOf,
    text: (name) => texts.get(name),
    set(name, text) {
      const isNew = !texts.has(name);
      texts.set(name, text);
      tell({ kind: "updated", uri: uriOf(name) });
      if (isNew) tell({ kind: "list-changed" });
    },
    delete(name) {
      texts.delete(name);
      tell({ kind: "updated", uri: uriOf(name) });
      tell({ kind: "list-changed" });
    },
    get reads() {
      return reads;
    },
    get watches() {
      return watchers.size;
    },
    async restart() {
      serving.server.closeAllConnections();
      await serving.close();
      serving = await start(resources, serving.port);
    },
    [Symbol.asyncDispose]: () => serving.close(),
  };
}

function start(resources: Resources, port: number): Promise<Listening> {
  const server = { name: "notes", version: "1.0.0" };
  return listen(createProtocol({ resources, server, instructions: "Read the notes." }), { port, graceMs: 0 });
}
