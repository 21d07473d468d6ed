/** A server for tests of the picker: every part can be replaced. */
import { notFound } from "../errors.ts";
import type { Change } from "../resources.ts";
import type { PickerResources } from "./create-picker.ts";

export function testServer(parts: Partial<PickerResources> = {}): PickerResources {
  return {
    read: async (uri) => ({ contents: [{ uri, body: { text: `text of ${uri}` } }], ttlMs: 0, scope: "private" }),
    templates: async () => ({ items: [] }),
    list: async () => ({ items: [] }),
    listFreshness: { ttlMs: 0, scope: "private" },
    children: async () => ({ items: [] }),
    stat: (uri) => Promise.reject(notFound(uri)),
    complete: async () => ({ values: [] }),
    search: async () => ({ hits: [], ready: 1 }),
    watch: async () => Object.assign(new ReadableStream<Change>(), { uris: [] }),
    ...parts,
  };
}

/** Resolves after all pending promises: a turn of the event loop, not a time. */
export function settled(): Promise<void> {
  return new Promise((done) => setTimeout(done));
}
