/** Web pages: listed pages and sites, and any other page on allowed hosts. */
import type { z as Zod } from "zod";
import { inParallel } from "../lib/in-parallel.ts";
import { intOption } from "../lib/int-option.ts";
import { Lru } from "../lib/lru.ts";
import { denied, notFound, ResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { isDoneWithin } from "../lib/is-done-within.ts";
import { mayHoldSecret } from "../lib/url-secret.ts";
import { serverCaller } from "../resources.ts";
import { defineSource } from "../source.ts";
import type { Address, Entry, Source, SourceChange, SourceTemplate, Runtime } from "../source.ts";
import { createExtract } from "../backends/documents/extract.ts";
import { createSourceWatches } from "../backends/source-watches.ts";
import { createPermit } from "../backends/web/addresses.ts";
import { type Resolve, resolveBySystem } from "../backends/web/guarded-request.ts";
import { createHosts } from "./web/hosts.ts";
import { createPace, maxCrawlDelayMs, type Turn } from "./web/pace.ts";
import { addressOf, keyOf, parsePageUrl, urlOf } from "./web/page-address.ts";
import { type CachedPage, digestOf, readPage } from "./web/read-page.ts";
import { createSiteRules } from "./web/site-rules.ts";
import { createSites, type Listed, maxSiteMapBytes, refuseFailure } from "./web/sites.ts";
import { createVisit } from "./web/fetch-page.ts";

function webOptions(z: typeof Zod) {
  return z.object({
    hosts: z
      .array(
        z.union([
          z.string().min(1),
          z.strictObject({
            host: z.string().min(1).describe("Host, without a wildcard"),
            headers: z
              .record(z.string(), z.string())
              .describe("Headers for this host only; write each value as a reference: ${env:NAME}"),
          }),
        ]),
      )
      .default([])
      .describe('Hosts whose pages may be read: "docs.example.com", "*.example.com", "http://intranet:8080"'),
    sites: z
      .array(z.string().min(1))
      .default([])
      .describe(
        "Sites whose pages are listed: URLs of a sitemap.xml or llms.txt, or of a host that has one; their hosts are allowed automatically",
      ),
    maxPages: intOption(z, 1, 5000, 500).describe("Number of pages that are listed of each site"),
    refreshMs: intOption(z, 60_000, 86_400_000, 3_600_000).describe(
      "Time after which the list of a site's pages is read again, in milliseconds",
    ),
    pages: z
      .array(
        z.union([
          z.string().min(1),
          z.strictObject({
            url: z.string().min(1).describe("URL of the page"),
            title: z.string().optional().describe("Title of the page"),
            description: z.string().optional().describe("Description of the page"),
            priority: z.number().min(0).max(1).optional().describe("Priority, from 0 to 1"),
            audience: z
              .array(z.enum(["user", "assistant"]))
              .optional()
              .describe("Audience of the page"),
          }),
        ]),
      )
      .default([])
      .describe("Pages to list; their hosts are allowed automatically"),
    direct: z
      .boolean()
      .default(false)
      .describe("List pages under their own https:// URLs, for clients that fetch them directly"),
    robots: z.boolean().default(true).describe("Obey robots.txt"),
    allowAddresses: z
      .array(z.string().min(1))
      .default([])
      .describe('Private addresses that may be contacted: "10.1.2.3", "10.1.0.0/16"'),
    maxBytes: intOption(z, 1, 64 * 1024 * 1024, 5 * 1024 * 1024).describe("Largest page that is read, in bytes"),
    timeoutMs: intOption(z, 1, 300_000, 20_000).describe(
      "Time limit for a page, including robots.txt, redirects and all attempts, in milliseconds",
    ),
    pollMs: intOption(z, 1000, 86_400_000, 300_000).describe(
      "Polling interval while pages are watched, in milliseconds",
    ),
  });
}

export type WebOptions = Zod.output<ReturnType<typeof webOptions>>;

export default defineSource<WebOptions>({
  name: "web",
  summary: "Web pages from allowed hosts",
  scheme: "web",
  options: webOptions,
  base: ({ direct }) => (direct ? "https://" : "web://"),
  // One instance, so that a host gets no more requests at once than it should.
  openedOnce: true,
  referencesOnly: ["headers"],
  // A host at a private address may trust every client in its network.
  usesCredentials: ({ allowAddresses, hosts, pages, sites }) =>
    allowAddresses.length > 0 ||
    hosts.some((host) => typeof host !== "string") ||
    [...pages, ...sites].some((page) => mayHoldSecret(typeof page === "string" ? page : page.url)),

  async open(options, runtime) {
    return createWeb(options, runtime, resolveBySystem);
  },
});

const userAgent = "Pressmark (+https://modelcontextprotocol.io; reads pages for a person)";
const maxRobotsBytes = 500 * 1024;
const maxPagesBytes = 16 * 1024 * 1024;
/** Number of recently read pages whose state is kept, in addition to the listed ones. */
const maxRecent = 200;
/** Number of subscribed pages that are polled, in addition to the listed ones. */
const maxWatched = 1000;
const maxConcurrentChecks = 8;
/** The first poll is awaited this long; after that, changes are announced as lost. */
const armMs = 10_000;
/** Pages whose titles are unknown are requested this long before they are listed without. */
const titlesMs = 2000;
const maxTitles = 20;
/** A page of a site is requested again after this time, even if its sitemap does not say that it changed. */
const recheckMs = 24 * 60 * 60 * 1000;
/** Number of pages that the index reads at once: each may wait for the crawl delay of those before it. */
const crawledAtOnce = 4;

const template: SourceTemplate = {
  template: "{host}/{+path}",
  name: "Page",
  description: "A page on an allowed host, as Markdown",
};

/** What is remembered of a page that was requested. */
interface KnownPage extends Pick<CachedPage, "href" | "validators" | "title"> {
  readonly at: Address;
  /** Undefined if the page did not exist. */
  readonly digest: string | undefined;
  readonly checkedMs: number;
  /** Of the sitemap when the page was requested. */
  readonly version: string | undefined;
}

export function createWeb(options: WebOptions, runtime: Runtime, resolve: Resolve): Source {
  const configured = listPages(options);
  const siteUrls = options.sites.map((site) => parsePageUrl(site, options));
  const hosts = createHosts([
    ...options.hosts,
    ...[...configured.map(({ url }) => url), ...siteUrls].map(({ origin }) => origin),
  ]);
  const closing = new AbortController();
  const { headersFor } = hosts;
  const permit = createPermit(options.allowAddresses);
  const visiting = { permit, resolve, timeoutMs: options.timeoutMs, userAgent, headersFor, log: runtime.log };
  const visitRobots = createVisit({ ...visiting, maxBytes: maxRobotsBytes, isCut: true, mayVisit: hosts.allows });
  // Not a caller's signal: the result is shared with concurrent callers.
  const rules = createSiteRules(runtime, (url) =>
    visitRobots(url, () => ({}), { isCrawl: false, signal: closing.signal }),
  );
  const pace = createPace(runtime, async (url) => (options.robots ? (await rules(url)).crawlDelayMs : 0));
  const visit = createVisit({ ...visiting, maxBytes: options.maxBytes, mayVisit, pace });
  const sites = createSites({
    ...options,
    urls: siteUrls,
    runtime,
    visit: createVisit({ ...visiting, maxBytes: maxSiteMapBytes + 1, isCut: true, mayVisit, pace }),
    rules: options.robots ? rules : undefined,
    allows: hosts.allows,
    signal: closing.signal,
    changed: relist,
  });
  const cache = new Lru<string, CachedPage>({ maxSize: maxPagesBytes, sizeOf: ({ heldBytes }) => heldBytes });
  const known = new Lru<string, KnownPage>({
    maxEntries: maxRecent + maxWatched + configured.length + siteUrls.length * options.maxPages,
  });
  const extract = createExtract({ timeoutMs: 10_000 });
  const watched = new Map<string, { readonly at: Address; readonly ears: Set<AbortSignal> }>();
  const hasOwnTitle = new Set(configured.flatMap(({ entry }) => (entry.title === undefined ? [] : [entry])));
  let polling = new AbortController();
  const watches = createSourceWatches(() => polling.abort());
  let listed = new Map<string, Listed>();
  let isLogged = false;
  let areTitlesWanted = true;
  relist();

  async function mayVisit(url: URL): Promise<boolean> {
    if (!hosts.allows(url)) return false;
    if (options.robots && !(await rules(url)).allows(`${url.pathname}${url.search}`))
      throw denied("the robots.txt of the site disallows this page; if the site is yours, set robots: false");
    return true;
  }

  /** Takes over the pages of the sites as they are now. */
  function relist(): void {
    const before = listed;
    const pages = [...configured, ...sites.known].sort((one, other) =>
      compareAddresses(one.entry.path, other.entry.path),
    );
    listed = new Map(pages.map((each) => [keyOf(each.entry), each]));
    // A page of the config keeps its title and priority.
    for (const each of configured) listed.set(keyOf(each.entry), each);
    if (before.size > 0 || watches.size > 0) watches.tell(differences(before, listed));
  }

  async function request(at: Address, turn: Turn, before: Pick<KnownPage, "href" | "validators"> | undefined) {
    const url = listed.get(keyOf(at))?.url ?? urlOf(at, hosts.schemeOf);
    if (!url || !hosts.allows(url)) throw notFound(at.path);
    const headers = ({ href }: URL) => ({
      Accept: "text/html, text/*;q=0.9, */*;q=0.5",
      ...(href === before?.href && before.validators),
    });
    const visited = await visit(url, headers, turn);
    const isSame = visited.status === 304 && visited.url.href === before?.href;
    if (!isSame) refuseFailure(visited, at.path, runtime.now());
    return { url, visited, isSame };
  }

  async function fetchPage(at: Address, turn: Turn): Promise<CachedPage> {
    const url = listed.get(keyOf(at))?.url ?? urlOf(at, hosts.schemeOf);
    const before = url && cache.get(url.href);
    const { visited, isSame, url: requested } = await request(at, turn, before);
    const page = isSame && before ? before : await readPage(visited, at.path, extract, turn.signal);
    // A page without a validator must be fetched again anyway, so it is not cached.
    if (Object.keys(page.validators).length > 0 && page.heldBytes <= maxPagesBytes / 4) cache.set(requested.href, page);
    else cache.delete(requested.href);
    learn(at, page);
    return page;
  }

  /** Remembers a response, and announces the change if the page is another than before. */
  function learn(
    at: Address,
    page: Pick<KnownPage, "href" | "validators" | "title" | "digest">,
    isBaseline = true,
  ): void {
    const key = keyOf(at);
    const before = known.get(key);
    const { path, query } = at;
    const { href, validators, title, digest } = page;
    const { version } = listed.get(key)?.entry ?? {};
    known.set(key, { at: { path, query }, href, validators, title, digest, version, checkedMs: runtime.monotonicMs() });
    if (before ? before.digest === digest : isBaseline) return;
    if (!listed.has(key) && !watched.has(key)) return;
    // The list is that of the config or the site, whether its pages exist or not.
    if (before && before.digest === undefined) watches.tell([{ kind: "appeared", path, isUnlisted: true }]);
    else if (digest === undefined)
      watches.tell([isAbove(path) ? { kind: "lost", isUnlisted: true } : { kind: "gone", path, isUnlisted: true }]);
    else watches.tell([{ kind: "changed", path }]);
  }

  /** Whether a listed page is below this path. A page that is gone says nothing about them. */
  function isAbove(path: string): boolean {
    for (const { entry } of listed.values()) if (entry.path.startsWith(`${path}/`)) return true;
    return false;
  }

  /** Looks for a change. A page that cannot be reached counts as unchanged. */
  async function check(at: Address, signal: AbortSignal, isBaseline: boolean): Promise<void> {
    const before = known.get(keyOf(at));
    try {
      const turn = { isCrawl: true, signal };
      const { visited, isSame } = await request(at, turn, before);
      const isEqual = isSame || digestOf(visited.bytes) === before?.digest;
      learn(at, isEqual && before ? before : await readPage(visited, at.path, extract, signal), isBaseline);
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind !== "not-found") return;
      learn(at, { href: "", validators: {}, title: undefined, digest: undefined }, isBaseline);
    }
  }

  async function checkAll(pages: readonly Address[], signal: AbortSignal, isBaseline: boolean): Promise<void> {
    await inParallel(pages, maxConcurrentChecks, async (at) => {
      if (!signal.aborted) await check(at, signal, isBaseline);
    });
  }

  /** Ends with the signal. */
  async function poll(signal: AbortSignal): Promise<void> {
    await Promise.allSettled([pollPages(signal), ...(siteUrls.length > 0 ? [pollSites(signal)] : [])]);
  }

  async function pollPages(signal: AbortSignal): Promise<void> {
    for (;;) {
      await runtime.wait(options.pollMs, signal);
      const pages = new Map([...configured.map(({ entry }): [string, Address] => [keyOf(entry), entry])]);
      for (const [key, { at }] of watched) pages.set(key, at);
      await checkAll([...pages.values()], signal, false);
    }
  }

  async function pollSites(signal: AbortSignal): Promise<void> {
    for (;;) {
      await runtime.wait(options.refreshMs, signal);
      await sites.refresh();
      const due = sites.known.filter(({ entry }) => {
        const page = known.get(keyOf(entry));
        const { version } = entry;
        return (
          !page ||
          version === undefined ||
          version !== page.version ||
          runtime.monotonicMs() - page.checkedMs >= recheckMs
        );
      });
      await checkAll(
        due.map(({ entry }) => entry),
        signal,
        false,
      );
    }
  }

  /** The entry with the title of the page itself, if that is known and the config has none. */
  function shown({ entry }: Listed): Entry {
    const { title } = known.get(keyOf(entry)) ?? {};
    return title === undefined || hasOwnTitle.has(entry) ? entry : { ...entry, name: title, title };
  }

  /** A short list of pages shows their titles from the start. */
  async function learnTitles(): Promise<void> {
    if (!areTitlesWanted) return;
    areTitlesWanted = false;
    const untitled = configured.filter(({ entry }) => entry.title === undefined && !known.has(keyOf(entry)));
    if (untitled.length > maxTitles) return;
    await isDoneWithin(
      checkAll(
        untitled.map(({ entry }) => entry),
        closing.signal,
        true,
      ),
      titlesMs,
      runtime.wait,
    );
  }

  const timeoutMs = siteUrls.length > 0 ? options.timeoutMs + crawledAtOnce * maxCrawlDelayMs : options.timeoutMs;

  return {
    // Only a crawl waits longer than `options.timeoutMs`.
    timeoutMs,

    async list({ cursor, limit }) {
      if (siteUrls.length > 0) await sites.pages();
      await learnTitles();
      const rest = [...listed.values()].filter(
        ({ entry }) => cursor === undefined || compareAddresses(entry.path, cursor) > 0,
      );
      // Pages that differ only in their query stay on one page of the list, because a cursor continues after all of them.
      const end = rest.findIndex(({ entry }, index) => index >= limit && entry.path !== rest[index - 1]?.entry.path);
      const items = rest.slice(0, end < 0 ? rest.length : end).map(shown);
      return { items, ...(end >= 0 && { next: items.at(-1)!.path }) };
    },

    async read(at, { caller, signal }) {
      const { part } = await fetchPage(at, { isCrawl: caller === serverCaller, signal });
      return [part];
    },

    async stat(at, { caller, signal }) {
      if (siteUrls.length > 0) await sites.pages();
      const found = listed.get(keyOf(at));
      if (found) return shown(found);
      const { part, title, size, lastModified, digest } = await fetchPage(at, {
        isCrawl: caller === serverCaller,
        signal,
      });
      return {
        ...at,
        ...(title !== undefined && { name: title, title }),
        mimeType: part.mimeType,
        size,
        version: digest,
        ...(lastModified && { annotations: { lastModified } }),
      };
    },

    templates: [template],

    async complete({ variable, value, given }) {
      const beginning = value.toLowerCase();
      if (variable === "host")
        return hosts.names.filter((name) => name.startsWith(beginning)).map((each) => ({ value: each }));
      if (variable !== "path") return [];
      const paths = [...[...listed.values()].map(({ entry }) => entry), ...[...known.values()].map(({ at }) => at)];
      return [...new Set(paths.flatMap((at) => (at.query ? [] : [at.path])))].flatMap((path) => {
        const [host, ...rest] = path.split("/");
        const pagePath = rest.join("/");
        const isMatch = (given["host"] ?? host) === host && pagePath !== "" && pagePath.startsWith(value);
        return isMatch ? [{ value: pagePath, reveals: { path } }] : [];
      });
    },

    async watch(call) {
      const signal = AbortSignal.any([call.signal, closing.signal]);
      const isFirst = watches.size === 0;
      const queue = watches.join(signal);
      if (isFirst) polling = new AbortController();
      const pollSignal = AbortSignal.any([polling.signal, closing.signal]);
      const first = arm(signal);
      const isArmed = await isDoneWithin(first, armMs, runtime.wait, signal);
      if (!isArmed) void first.then(() => queue.push({ kind: "lost" }));
      if (isFirst) void first.then(() => (watches.size > 0 ? poll(pollSignal) : undefined));
      return queue;
    },

    lists: (at) => listed.has(keyOf(at)),

    async follow(at, { signal }) {
      const key = keyOf(at);
      if (signal.aborted || configured.some(({ entry }) => keyOf(entry) === key)) return;
      const followed = watched.get(key);
      if (!followed && watched.size >= maxWatched) {
        if (!isLogged)
          runtime.log("warn", `more than ${maxWatched} pages are subscribed to; further ones are not polled`);
        isLogged = true;
        return;
      }
      const each = followed ?? { at, ears: new Set() };
      watched.set(key, each);
      each.ears.add(signal);
      const leave = () => each.ears.delete(signal) && each.ears.size === 0 && watched.delete(key);
      signal.addEventListener("abort", leave, { once: true });
    },

    ...(siteUrls.length > 0 && {
      async problems() {
        await sites.pages().catch(() => undefined);
        return sites.problems;
      },
    }),

    async close() {
      closing.abort();
      extract.close();
    },
  };

  /** Later changes of the listed pages are noticed. Of a site, only pages that were read before are compared. */
  async function arm(signal: AbortSignal): Promise<void> {
    if (siteUrls.length > 0) await sites.pages().catch(() => undefined);
    await checkAll(
      configured.map(({ entry }) => entry),
      signal,
      true,
    );
  }
}

/** What a new list has more and less than the one before. */
function differences(before: ReadonlyMap<string, Listed>, after: ReadonlyMap<string, Listed>): SourceChange[] {
  const appeared = [...after].filter(([key]) => !before.has(key)).map(([, { entry }]) => entry);
  const gone = [...before].filter(([key]) => !after.has(key)).map(([, { entry }]) => entry);
  if (appeared.length + gone.length === 0) return [];
  const paths = new Set([...after.values()].map(({ entry }) => entry.path));
  const isAbove = ({ path }: Entry) => paths.has(path) || [...paths].some((other) => other.startsWith(`${path}/`));
  // A change names a path alone, and what is gone takes along what is below it.
  if (gone.length > 100 || [...appeared, ...gone].some(({ query }) => query) || gone.some(isAbove))
    return [{ kind: "lost" }];
  return [
    ...gone.map(({ path }): SourceChange => ({ kind: "gone", path })),
    ...appeared.map(({ path }): SourceChange => ({ kind: "appeared", path })),
  ];
}

function listPages({ pages, direct }: Pick<WebOptions, "pages" | "direct">): readonly Listed[] {
  const listed = pages.map((page) => {
    const { url: given, ...about } = typeof page === "string" ? { url: page } : page;
    const { title, description, priority, audience }: Partial<Exclude<typeof page, string>> = about;
    const url = parsePageUrl(given, { direct });
    const entry: Entry = {
      ...addressOf(url),
      name: title ?? url.href.replace(/^https?:\/\//, ""),
      title,
      description,
      ...((priority !== undefined || audience !== undefined) && { annotations: { priority, audience } }),
    };
    return { url, entry };
  });
  return [...new Map(listed.map((each) => [keyOf(each.entry), each])).values()];
}
