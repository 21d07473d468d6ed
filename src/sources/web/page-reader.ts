/** Requests pages, remembers what they were, and notices when they change. */
import { notFound, ResourceError } from "../../errors.ts";
import { inParallel } from "../../lib/in-parallel.ts";
import { Lru } from "../../lib/lru.ts";
import type { Address, Runtime } from "../../source.ts";
import { createExtract } from "../../backends/documents/extract.ts";
import type { FetchedResponse } from "../../backends/web/guarded-request.ts";
import type { Visit } from "./fetch-page.ts";
import type { KnownPage, KnownPages } from "./known-pages.ts";
import type { Turn } from "./pace.ts";
import { keyOf, redirectTarget } from "./page-address.ts";
import { type CachedPage, digestOf, readPage } from "./read-page.ts";
import { refuseFailure } from "./sites.ts";

interface PageReaderOptions {
  readonly runtime: Runtime;
  readonly visit: Visit;
  readonly known: KnownPages;
  /** Undefined if the page may not be requested. */
  urlOf(at: Address): URL | undefined;
  /** Version of the listed page now, if its sitemap gives one. */
  versionOf(key: string): string | undefined;
  /** Called when a page is not what it was when it was last requested. */
  changed(at: Address, kind: "appeared" | "changed" | "gone"): void;
}

interface PageReader {
  /** Throws "not-found" for a page that does not exist. `reveals` is the address that a redirect led to. */
  fetch(at: Address, turn: Turn): Promise<CachedPage & { readonly reveals?: Address }>;
  /**
   * Looks for changes; a page that cannot be reached counts as unchanged. With `isBaseline`, a page that was never requested before has not
   * changed; without, it counts as changed.
   */
  check(pages: readonly Address[], signal: AbortSignal, isBaseline: boolean): Promise<void>;
  close(): void;
}

const maxCacheBytes = 16 * 1024 * 1024;
const maxConcurrentChecks = 8;

export function createPageReader({ runtime, visit, known, urlOf, versionOf, changed }: PageReaderOptions): PageReader {
  const cache = new Lru<string, CachedPage>({ maxSize: maxCacheBytes, sizeOf: ({ heldBytes }) => heldBytes });
  const extract = createExtract({ timeoutMs: 10_000 });

  async function request(
    { path }: Address,
    url: URL,
    turn: Turn,
    before: Pick<KnownPage, "href" | "validators"> | undefined,
  ): Promise<{ readonly visited: FetchedResponse; readonly isSame: boolean }> {
    const headers = ({ href }: URL) => ({
      Accept: "text/html, text/*;q=0.9, */*;q=0.5",
      ...(href === before?.href && before.validators),
    });
    const visited = await visit(url, headers, turn);
    const isSame = visited.status === 304 && visited.url.href === before?.href;
    if (!isSame) refuseFailure(visited, path, runtime.now());
    return { visited, isSame };
  }

  function learn(
    { path, query }: Address,
    { href, validators, title, digest }: Pick<KnownPage, "href" | "validators" | "title" | "digest">,
    isBaseline = true,
  ): void {
    const at = { path, ...(query && { query }) };
    const key = keyOf(at);
    const before = known.get(key);
    known.set(key, { at, href, validators, title, digest, checkedMs: runtime.now(), version: versionOf(key) });
    if (before ? before.digest === digest : isBaseline) return;
    changed(at, before && before.digest === undefined ? "appeared" : digest === undefined ? "gone" : "changed");
  }

  async function checkOne(at: Address, signal: AbortSignal, isBaseline: boolean): Promise<void> {
    const url = urlOf(at);
    if (!url || signal.aborted) return;
    const before = known.get(keyOf(at));
    try {
      const { visited, isSame } = await request(at, url, { isCrawl: true, signal }, before);
      const isEqual = isSame || (visited.url.href === before?.href && digestOf(visited.bytes) === before.digest);
      redirectTarget(url, visited.url.href);
      learn(at, isEqual && before ? before : await readPage(visited, at.path, extract, signal), isBaseline);
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind !== "not-found") return;
      learn(at, { href: "", validators: {}, title: undefined, digest: undefined }, isBaseline);
    }
  }

  return {
    async fetch(at, turn) {
      const url = urlOf(at);
      if (!url) throw notFound(at.path);
      const before = cache.get(url.href);
      const { visited, isSame } = await request(at, url, turn, before);
      const reveals = redirectTarget(url, visited.url.href);
      const page = isSame && before ? before : await readPage(visited, at.path, extract, turn.signal);
      // A page without a validator must be fetched again anyway, so it is not cached.
      if (Object.keys(page.validators).length > 0 && page.heldBytes <= maxCacheBytes / 4) cache.set(url.href, page);
      else cache.delete(url.href);
      learn(at, page);
      return { ...page, ...(reveals && { reveals }) };
    },

    async check(pages, signal, isBaseline) {
      await inParallel(pages, maxConcurrentChecks, (at) => checkOne(at, signal, isBaseline));
    },

    close: () => extract.close(),
  };
}
