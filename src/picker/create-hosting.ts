/** The server as hosts see it: they attach only listed resources, and only if they are connected. */
import type { Content } from "../resources.ts";
import type { PagePart } from "./create-picker.ts";

/** A long list is not read to its end. */
const maxPages = 10;

export function createHosting(part: PagePart) {
  return {
    /** The server's status; throws unless the caller is its owner. */
    async readStatus(): Promise<readonly Content[]> {
      return (await part.pressmark().read("pressmark://status", part.call())).contents;
    },
    /** Returns the URIs that the server does not list; none if its list is too long to be read. */
    async unlisted(uris: readonly string[], signal?: AbortSignal): Promise<ReadonlySet<string>> {
      const missing = new Set(uris);
      let cursor: string | undefined;
      for (let count = 0; count < maxPages && missing.size > 0; count += 1) {
        const page = await part.pressmark().list({ cursor }, part.call(signal));
        for (const { uri } of page.items) missing.delete(uri);
        cursor = page.next;
        if (cursor === undefined) return missing;
      }
      return new Set();
    },
  };
}
