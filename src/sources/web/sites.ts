/** The pages of the configured sites, read again from time to time. */
import { denied, lastingFailure, notFound, quote, ResourceError, toResourceError } from "../../errors.ts";
import { compareAddresses } from "../../lib/address-order.ts";
import { inParallel } from "../../lib/in-parallel.ts";
import { createTimeSlices } from "../../lib/time-slices.ts";
import type { Entry, Runtime, SourceProblem } from "../../source.ts";
import type { FetchedResponse } from "../../backends/web/guarded-request.ts";
import type { Visit } from "./fetch-page.ts";
import { maxCrawlDelayMs, retryAfterMs } from "./pace.ts";
import { addressOf, keyOf, nameOf, parsePageUrl } from "./page-address.ts";
import type { ListedPage } from "./parse-site-map.ts";
import { type KeptSiteMaps, readSite, type SitePages } from "./read-site.ts";
import type { SiteRules } from "./site-rules.ts";

export interface Listed {
  readonly url: URL;
  readonly entry: Entry;
}

interface SitesOptions {
  readonly urls: readonly URL[];
  readonly maxPages: number;
  readonly refreshMs: number;
  readonly direct: boolean;
  readonly runtime: Runtime;
  readonly visit: Visit;
  /** Undefined if robots.txt is not obeyed. */
  readonly rules: SiteRules | undefined;
  allows(url: URL): boolean;
  /** Ends every request. */
  readonly signal: AbortSignal;
  /** Called when the pages were read again, before the result is returned. */
  changed(): void;
}

export interface Sites {
  /** All pages, by address. Reads the sites if that was never done; throws if one cannot be read. */
  pages(): Promise<readonly Listed[]>;
  /** The pages that are known now. */
  readonly known: readonly Listed[];
  /** Reads all sites again. Sites that cannot be read keep their pages. */
  refresh(): Promise<void>;
  readonly problems: readonly SourceProblem[];
}

interface SiteState {
  readonly url: URL;
  pages: readonly Listed[] | undefined;
  kept: KeptSiteMaps;
  problems: readonly SourceProblem[];
  failure: ResourceError | undefined;
}

/** Largest sitemap that is read, decompressed. */
export const maxSiteMapBytes = 5 * 1024 * 1024;
/** After a failure, a site that was never read is requested again only after this time. */
const retryMs = 10_000;
const dayMs = 86_400_000;

export function createSites(options: SitesOptions): Sites {
  const { urls, refreshMs, runtime } = options;
  const states = urls.map((url): SiteState => ({
    url,
    pages: undefined,
    kept: new Map(),
    problems: [],
    failure: undefined,
  }));
  let known: readonly Listed[] = [];
  let reading: Promise<void> | undefined;
  let nextMs = -Infinity;
  /** A hostile robots.txt has rules that take long to compare with every page. */
  const pause = createTimeSlices(10);

  async function readAll(): Promise<void> {
    await inParallel(states, 4, async (state) => {
      try {
        const { pages, problems, kept } = await readPages(state);
        Object.assign(state, { pages, problems, kept, failure: undefined });
      } catch (cause) {
        state.failure = toResourceError(cause);
        if (options.signal.aborted) return;
        runtime.log("warn", "the list of a site's pages cannot be read; it will be retried", {
          site: state.url.host,
          cause,
        });
      }
    });
    const once = new Map<string, Listed>();
    for (const { pages = [] } of states)
      for (const page of pages) if (!once.has(keyOf(page.entry))) once.set(keyOf(page.entry), page);
    known = [...once.values()].sort((one, other) => compareAddresses(one.entry.path, other.entry.path));
    const isComplete = states.every(({ pages }) => pages !== undefined);
    nextMs = runtime.monotonicMs() + (isComplete ? refreshMs : retryMs);
    options.changed();
  }

  async function readPages({ url, kept }: SiteState): Promise<Pick<SiteState, "pages" | "problems" | "kept">> {
    const delayMs = (await options.rules?.(url))?.crawlDelayMs ?? 0;
    if (delayMs > maxCrawlDelayMs) {
      const says = `is not crawled: its robots.txt asks for ${delayMs / 1000} seconds between requests`;
      return { pages: [], kept, problems: [{ path: url.host, says, advice: "list single pages with pages" }] };
    }
    const found = await readFirst(url, kept);
    const { pages, problems } = await listable(url, found.pages);
    return { pages, problems: [...found.problems, ...problems], kept: found.kept };
  }

  /** The site's own list; for a bare host, the usual places. */
  async function readFirst(url: URL, kept: KeptSiteMaps): Promise<SitePages> {
    const places = url.pathname === "/" ? ["/sitemap.xml", "/llms.txt"] : [url.href];
    for (const place of places) {
      try {
        return await readSite(new URL(place, url), kept, {
          fetch: fetchSiteMap,
          mayFetch: options.allows,
          maxPages: options.maxPages,
          maxBytes: maxSiteMapBytes,
        });
      } catch (cause) {
        if (toResourceError(cause).kind !== "not-found") throw cause;
      }
    }
    throw lastingFailure(`${quote(url.host)} has no list of pages at ${places.join(" or ")}`);
  }

  async function fetchSiteMap(url: URL, validators: Readonly<Record<string, string>>): Promise<FetchedResponse> {
    const headersFor = ({ href }: URL) => ({
      Accept: "application/xml, text/*;q=0.9, */*;q=0.5",
      ...(href === url.href && validators),
    });
    const visited = await options.visit(url, headersFor, { isCrawl: true, signal: options.signal });
    if (visited.status !== 304) refuseFailure(visited, `${url.host}${url.pathname}`, runtime.now());
    return visited;
  }

  async function listable(site: URL, pages: SitePages["pages"]): Promise<Pick<SiteState, "pages" | "problems">> {
    const listed: Listed[] = [];
    const leftOut = new Map<string, number>();
    for (const page of pages) {
      await pause();
      const found = await listedOrReason(page);
      if (typeof found === "string") leftOut.set(found, (leftOut.get(found) ?? 0) + 1);
      else listed.push(found);
    }
    const problems = [...leftOut].map(([reason, count]) => ({
      path: site.host,
      says: `names pages ${reason}, which are left out: ${count}`,
    }));
    return { pages: listed, problems };
  }

  async function listedOrReason(page: SitePages["pages"][number]): Promise<Listed | string> {
    try {
      const url = parsePageUrl(page.url, options, page.base);
      const entry = entryOf(url, page, runtime.now());
      if (!options.allows(url)) return "on hosts that are not allowed";
      const robots = await options.rules?.(url);
      if (robots && !robots.allows(`${url.pathname}${url.search}`)) return "that robots.txt disallows";
      return { url, entry };
    } catch (cause) {
      return toResourceError(cause).kind === "invalid"
        ? "whose URLs cannot be listed"
        : "of hosts whose robots.txt cannot be read";
    }
  }

  function refresh(): Promise<void> {
    reading ??= readAll().finally(() => {
      reading = undefined;
    });
    return reading;
  }

  return {
    async pages() {
      const isFirst = states.some(({ pages }) => pages === undefined);
      if (runtime.monotonicMs() >= nextMs) {
        const read = refresh();
        if (isFirst) await read;
      } else if (isFirst && reading) await reading;
      const failed = states.find(({ pages }) => pages === undefined);
      if (failed)
        throw failed.failure ?? new ResourceError("unavailable", `${quote(failed.url.host)} was not read yet`);
      return known;
    },
    get known() {
      return known;
    },
    refresh,
    get problems() {
      return states.flatMap(({ url, problems, failure }) => [
        ...problems,
        ...(failure ? [{ path: url.host, says: `cannot be read at present: ${failure.message}` }] : []),
      ]);
    },
  };
}

function entryOf(url: URL, { title, description, lastModified }: ListedPage, nowMs: number): Entry {
  const modifiedMs = lastModified === undefined ? Number.NaN : Date.parse(lastModified);
  // A page may change again on the day that is named.
  const isPast = lastModified !== undefined && (lastModified.length > 10 || modifiedMs + 2 * dayMs < nowMs);
  return {
    ...addressOf(url),
    name: nameOf(url),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(!Number.isNaN(modifiedMs) && {
      annotations: { lastModified: new Date(modifiedMs).toISOString() },
      ...(isPast && { version: `lastmod:${modifiedMs}` }),
    }),
  };
}

export function refuseFailure({ status, headers }: FetchedResponse, path: string, nowMs: number): void {
  if (status >= 200 && status < 300) return;
  if (status === 404 || status === 410) throw notFound(path);
  if (status === 401 || status === 403) throw denied(`the site denies access to the page (status ${status})`);
  const afterMs = retryAfterMs(headers["retry-after"], nowMs);
  const details = afterMs === undefined ? {} : { retryAfterMs: afterMs };
  if (status === 429) throw new ResourceError("busy", "the site limits requests; try again later", { details });
  throw new ResourceError("unavailable", `the site responded with status ${status}`, {
    passing: status >= 500,
    details,
  });
}
