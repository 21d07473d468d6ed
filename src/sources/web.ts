/** Web pages: listed pages and sites, and any other page on allowed hosts. */
import { join } from "node:path";
import { canonicalJson } from "../lib/canonical-json.ts";
import { denied, unavailable } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { isDoneWithin } from "../lib/is-done-within.ts";
import { cacheFolder, systemPathsOf } from "../lib/system-paths.ts";
import { mayHoldSecret } from "../lib/url-secret.ts";
import { type Call, serverCaller } from "../resources.ts";
import { defineSource } from "../source.ts";
import type { Address, Entry, Source, SourceTemplate, Runtime } from "../source.ts";
import { createSourceWatches } from "../backends/source-watches.ts";
import { createPermit } from "../backends/web/addresses.ts";
import { type Resolve, resolveBySystem } from "../backends/web/guarded-request.ts";
import { createHosts } from "./web/hosts.ts";
import { type KnownPage, openKnownPages } from "./web/known-pages.ts";
import { differences, isAbove, listPages } from "./web/listing.ts";
import { createPace, maxCrawlDelayMs } from "./web/pace.ts";
import { keyOf, parsePageUrl, redirectTarget, urlOf } from "./web/page-address.ts";
import { createPageReader } from "./web/page-reader.ts";
import { digestOf } from "./web/read-page.ts";
import { createSiteRules } from "./web/site-rules.ts";
import { createSites, type Listed, maxSiteMapBytes } from "./web/sites.ts";
import { createVisit } from "./web/fetch-page.ts";
import { type WebOptions, webOptions } from "./web/web-options.ts";

export type { WebOptions } from "./web/web-options.ts";

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
/** Number of recently read pages that are remembered, in addition to the listed ones. */
const maxRecent = 200;
/** Number of subscribed pages that are polled, in addition to the listed ones. */
const maxWatched = 1000;
/** The first poll is awaited this long; after that, changes are announced as lost. */
const armMs = 10_000;
/** Pages whose titles are unknown are requested this long before they are listed without. */
const titlesMs = 2000;
const maxTitles = 20;
/** A page of a site is requested again after this time, even if its sitemap does not say that it changed. */
const recheckMs = 24 * 60 * 60 * 1000;
/** Pages of a site that may have changed are requested conditionally this long before the index reads the others. */
const conditionalMs = 60_000;
/** Number of pages that the index reads at once: each may wait for the crawl delay of those before it. */
const crawledAtOnce = 4;
const saveMs = 30_000;

const template: SourceTemplate = {
  template: "{host}/{+path}",
  name: "Page",
  description: "A page on an allowed host, as Markdown",
};

/** @internal `resolve` finds the addresses of a host. */
export function createWeb(options: WebOptions, runtime: Runtime, resolve: Resolve): Source {
  const configured = listPages(options);
  const siteUrls = options.sites.map((site) => parsePageUrl(site, options));
  const hasSites = siteUrls.length > 0;
  const origins = [...configured.map(({ url }) => url), ...siteUrls].map(({ origin }) => origin);
  const hosts = createHosts([...options.hosts, ...origins]);
  const closing = new AbortController();
  const visiting = {
    permit: createPermit(options.allowAddresses),
    resolve,
    timeoutMs: options.timeoutMs,
    userAgent,
    headersFor: hosts.headersFor,
    log: runtime.log,
  };
  const visitRobots = createVisit({ ...visiting, maxBytes: maxRobotsBytes, isCut: true, mayVisit: hosts.allows });
  const rules = createSiteRules(runtime, (url) =>
    // Not a caller's signal: the result is shared with concurrent callers.
    visitRobots(url, () => ({}), { isCrawl: false, signal: closing.signal }),
  );
  const pace = createPace(runtime, async (url) => (options.robots ? (await rules(url)).crawlDelayMs : 0));
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
  const known = openKnownPages(
    maxRecent + maxWatched + configured.length + siteUrls.length * options.maxPages,
    hasSites ? stateFile(options, runtime) : undefined,
  );
  const reader = createPageReader({
    runtime,
    visit: createVisit({ ...visiting, maxBytes: options.maxBytes, mayVisit, pace }),
    known,
    urlOf(at) {
      const page = listed.get(keyOf(at));
      // A line range is cut from the page; it is not sent to the site.
      if (!page && /^\d+-\d*$/.test(at.query?.["lines"] ?? "")) return undefined;
      const url = page?.url ?? urlOf(at, hosts.schemeOf);
      return url && hosts.allows(url) ? url : undefined;
    },
    versionOf: (key) => listed.get(key)?.entry.version,
    changed: tell,
  });
  const hasOwnTitle = new Set(configured.flatMap(({ entry }) => (entry.title === undefined ? [] : [entry])));
  const configuredKeys = new Set(configured.map(({ entry }) => keyOf(entry)));
  const watched = new Map<string, { readonly at: Address; readonly ears: Set<AbortSignal> }>();
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

  /** Takes over the pages of the sites as they are now. A page of the config keeps its title and priority. */
  function relist(): void {
    const before = listed;
    const pages = [...configured, ...sites.known.filter(({ entry }) => !configuredKeys.has(keyOf(entry)))];
    pages.sort((one, other) => compareAddresses(one.entry.path, other.entry.path));
    listed = new Map(pages.map((each) => [keyOf(each.entry), each]));
    watches.tell(differences(before, listed));
  }

  /** The list is that of the config or the site, whether its pages exist or not. */
  function tell(at: Address, kind: "appeared" | "changed" | "gone"): void {
    const key = keyOf(at);
    const { path } = at;
    if (!listed.has(key) && !watched.has(key)) return;
    if (kind === "changed") watches.tell([{ kind, path }]);
    // A page that is gone says nothing about the pages below it.
    else if (kind === "gone" && isAbove(path, listed)) watches.tell([{ kind: "lost", isUnlisted: true }]);
    else watches.tell([{ kind, path, isUnlisted: true }]);
  }

  const ageOf = ({ checkedMs }: KnownPage) => Math.abs(runtime.now() - checkedMs);

  /** The entry with the title of the page itself, unless the config has one, and with a version if its content is known. */
  function shown({ entry, url }: Listed): Entry {
    const page = known.get(keyOf(entry));
    if (!page) return entry;
    const reveals = page.href === "" ? undefined : redirectTarget(url, page.href);
    const { title, digest } = page;
    const isCurrent = entry.version === undefined && digest !== undefined && ageOf(page) < options.refreshMs;
    return {
      ...entry,
      ...(title !== undefined && !hasOwnTitle.has(entry) && { title }),
      ...(isCurrent && !configuredKeys.has(keyOf(entry)) && { version: versionOf(digest) }),
      ...(reveals && { reveals }),
    };
  }

  /** A person does not wait as long as a crawl: the sites may ask for long pauses between requests. */
  async function learnPages({ caller, signal }: Call): Promise<void> {
    if (!hasSites) return;
    const reading = sites.pages();
    if (caller === serverCaller) await reading;
    else if (!(await isDoneWithin(reading, options.timeoutMs, runtime.wait, signal)))
      throw unavailable("the list of the site's pages is still being read; try again later");
  }

  /** A short list of pages shows their titles from the start. */
  async function learnTitles(): Promise<void> {
    if (!areTitlesWanted) return;
    areTitlesWanted = false;
    const untitled = configured.map(({ entry }) => entry).filter((entry) => !hasOwnTitle.has(entry));
    if (untitled.length > maxTitles) return;
    await isDoneWithin(reader.check(untitled, closing.signal, true), titlesMs, runtime.wait, closing.signal);
  }

  /** Requests pages whose content is known from earlier conditionally, so that the index need not read what did not change. */
  async function recheck(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const due = sites.known.flatMap(({ entry }) => {
      const page = known.get(keyOf(entry));
      const isDue = page && entry.version === undefined && ageOf(page) >= options.refreshMs;
      return isDue && Object.keys(page.validators).length > 0 ? [entry] : [];
    });
    const checking = reader.check(due, AbortSignal.any([signal, over.signal]), true);
    await isDoneWithin(checking, conditionalMs, runtime.wait, signal);
    over.abort();
  }

  const save = () => known.save((key) => listed.has(key));

  async function saveAgain(signal: AbortSignal): Promise<void> {
    for (;;) {
      await runtime.wait(saveMs, signal);
      save();
    }
  }

  async function pollPages(signal: AbortSignal): Promise<void> {
    for (;;) {
      await runtime.wait(options.pollMs, signal);
      const pages = new Map(configured.map(({ entry }): [string, Address] => [keyOf(entry), entry]));
      for (const [key, { at }] of watched) pages.set(key, at);
      await reader.check([...pages.values()], signal, false);
    }
  }

  async function pollSites(signal: AbortSignal): Promise<void> {
    for (;;) {
      await runtime.wait(options.refreshMs, signal);
      await sites.refresh();
      const due = sites.known.filter(({ entry }) => {
        const page = known.get(keyOf(entry));
        const isSame = page && entry.version !== undefined && entry.version === page.version;
        return !isSame || ageOf(page) >= recheckMs;
      });
      const addresses = due.map(({ entry }) => entry);
      await reader.check(addresses, signal, false);
    }
  }

  /** Ends with the signal. */
  async function poll(signal: AbortSignal): Promise<void> {
    await Promise.allSettled([pollPages(signal), ...(hasSites ? [pollSites(signal), saveAgain(signal)] : [])]);
  }

  /** Later changes of the listed pages are noticed. */
  async function arm(signal: AbortSignal): Promise<void> {
    if (hasSites) await sites.pages().catch(() => undefined);
    const addresses = configured.map(({ entry }) => entry);
    await reader.check(addresses, signal, true);
  }

  return {
    // Only a crawl takes longer than `options.timeoutMs`.
    timeoutMs: options.timeoutMs + (hasSites ? crawledAtOnce * maxCrawlDelayMs : 0),

    async list({ cursor, limit, versions }, call) {
      await learnPages(call);
      if (call.caller === serverCaller && cursor === undefined && versions !== false) await recheck(call.signal);
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
      const { part, digest, reveals } = await reader.fetch(at, { isCrawl: caller === serverCaller, signal });
      return [{ ...part, version: versionOf(digest), ...(reveals && { reveals }) }];
    },

    async stat(at, call) {
      // A site that cannot be read says nothing about the pages of others.
      if (!listed.has(keyOf(at))) await learnPages(call).catch(() => undefined);
      const found = listed.get(keyOf(at));
      if (found) return shown(found);
      const page = await reader.fetch(at, { isCrawl: call.caller === serverCaller, signal: call.signal });
      const { part, title, size, lastModified, digest, reveals } = page;
      return {
        ...at,
        ...(title !== undefined && { title }),
        mimeType: part.mimeType,
        size,
        version: versionOf(digest),
        ...(lastModified && { annotations: { lastModified } }),
        ...(reveals && { reveals }),
      };
    },

    templates: [template],

    async complete({ variable, value, given }) {
      const beginning = value.toLowerCase();
      if (variable === "host")
        return hosts.names.filter((name) => name.startsWith(beginning)).map((each) => ({ value: each }));
      if (variable !== "path") return [];
      const addresses = [...[...listed.values()].map(({ entry }) => entry), ...[...known.values()].map(({ at }) => at)];
      return [...new Set(addresses.flatMap((at) => (at.query ? [] : [at.path])))].flatMap((path) => {
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
      if (signal.aborted || configuredKeys.has(key)) return;
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

    ...(hasSites && {
      async problems() {
        await sites.pages().catch(() => undefined);
        return sites.problems;
      },
    }),

    async close() {
      closing.abort();
      reader.close();
      save();
    },
  };
}

function versionOf(digest: string): string {
  return `sha256:${digest}`;
}

/** Mounts with the same pages and headers share a file: others may not see the same titles. */
function stateFile({ sites, pages, direct, hosts }: WebOptions, { env }: Runtime): string {
  const withHeaders = hosts.filter((host) => typeof host !== "string");
  const name = digestOf(Buffer.from(canonicalJson({ sites, pages, direct, withHeaders })));
  return join(cacheFolder(systemPathsOf(env)), "web", `${name}.json`);
}
