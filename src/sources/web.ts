/** Web pages: listed pages, and any other page on allowed hosts. */
import type { z as Zod } from "zod";
import { inParallel } from "../lib/in-parallel.ts";
import { intOption } from "../lib/int-option.ts";
import { Lru } from "../lib/lru.ts";
import { denied, invalid, notFound, quote, ResourceError, unavailable } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { isDoneWithin } from "../lib/is-done-within.ts";
import { mayHoldSecret } from "../lib/url-secret.ts";
import { defineSource, pathOf, segmentsOf } from "../source.ts";
import type { Address, Entry, Source, SourceChange, SourceTemplate, Runtime } from "../source.ts";
import { createExtract } from "../backends/documents/extract.ts";
import { createPermit } from "../backends/web/addresses.ts";
import { createHosts } from "./web/hosts.ts";
import { type CachedPage, readPage } from "./web/read-page.ts";
import { parseRobots, type Robots } from "./web/robots.ts";
import { type FetchedResponse, type Resolve, resolveBySystem } from "../backends/web/guarded-request.ts";
import { createVisit } from "./web/fetch-page.ts";

function webOptions(z: typeof Zod) {
  return z.object({
    hosts: z
      .array(z.string().min(1))
      .default([])
      .describe('Hosts whose pages may be read: "docs.example.com", "*.example.com", "http://intranet:8080"'),
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
  // A host at a private address may trust every client in its network.
  usesCredentials: ({ allowAddresses, pages }) =>
    allowAddresses.length > 0 || pages.some((page) => mayHoldSecret(typeof page === "string" ? page : page.url)),

  async open(options, runtime) {
    return createWeb(options, runtime, resolveBySystem);
  },
});

const userAgent = "Pressmark (+https://modelcontextprotocol.io; reads pages for a person)";
const robotsMs = 60 * 60 * 1000;
const maxRobotsBytes = 500 * 1024;
/** Number of sites whose robots.txt is cached. */
const maxRobots = 100;
const maxPagesBytes = 16 * 1024 * 1024;
/** Longest accepted URL. */
const maxUrlLength = 8000;
/** Number of recently read pages that completion suggests. */
const maxRecent = 200;
/** Number of subscribed pages that are polled, in addition to the listed ones. */
const maxWatched = 1000;
const maxConcurrentChecks = 8;
/** The first poll is awaited this long; after that, changes are announced as lost. */
const armMs = 10_000;

const template: SourceTemplate = {
  template: "{host}/{+path}",
  name: "Page",
  description: "A page on an allowed host, as Markdown",
};

export function createWeb(options: WebOptions, runtime: Runtime, resolve: Resolve): Source {
  const listed = listPages(options);
  const hosts = createHosts([...options.hosts, ...listed.map(({ url }) => url.origin)]);
  const permit = createPermit(options.allowAddresses);
  const visiting = { permit, resolve, timeoutMs: options.timeoutMs, userAgent, log: runtime.log };
  const rules = new Lru<string, { readonly until: number; readonly robots: Promise<Robots> }>({
    maxEntries: maxRobots,
  });
  const visitRobots = createVisit({
    ...visiting,
    maxBytes: maxRobotsBytes,
    isCut: true,
    mayVisit: (url) => hosts.allows(url),
  });
  const visit = createVisit({ ...visiting, maxBytes: options.maxBytes, mayVisit });
  const cache = new Lru<string, CachedPage>({ maxSize: maxPagesBytes, sizeOf: ({ heldBytes }) => heldBytes });
  const extract = createExtract({ timeoutMs: 10_000 });
  const byKey = new Map(listed.map((each) => [keyOf(each.entry), each]));
  const closing = new AbortController();
  let isLogged = false;
  /** Recently read pages. */
  const recent = new Lru<string, WatchedPage>({ maxEntries: maxRecent });
  const watched = new Map<string, WatchedPage & { readonly ears: Set<AbortSignal> }>();

  async function mayVisit(url: URL): Promise<boolean> {
    if (!hosts.allows(url)) return false;
    if (options.robots && !(await robotsOf(url))(`${url.pathname}${url.search}`))
      throw denied("the robots.txt of the site disallows this page; if the site is yours, set robots: false");
    return true;
  }

  function robotsOf({ origin }: URL): Promise<Robots> {
    const known = rules.get(origin);
    if (known && known.until > runtime.monotonicMs()) return known.robots;
    // Not the caller's signal: the result is shared with concurrent callers.
    const robots = readRobots(new URL("/robots.txt", origin), closing.signal);
    const entry = { until: runtime.monotonicMs() + robotsMs, robots };
    rules.set(origin, entry);
    robots.catch(() => rules.get(origin) === entry && rules.delete(origin));
    return robots;
  }

  /** A missing robots.txt allows everything; an unavailable one allows nothing until it can be read. */
  async function readRobots(url: URL, signal: AbortSignal): Promise<Robots> {
    const { status, bytes } = await visitRobots(url, () => ({}), signal);
    if (status >= 500 || status === 429) throw unavailable(`robots.txt of the site cannot be read (status ${status})`);
    return parseRobots(status === 200 ? bytes.toString("utf8") : "", "pressmark");
  }

  async function fetchPage(at: Address, signal: AbortSignal): Promise<CachedPage> {
    const key = keyOf(at);
    const url = byKey.get(key)?.url ?? urlOf(at, hosts.schemeOf);
    if (!url || !hosts.allows(url)) throw notFound(at.path);
    const before = cache.get(url.href);
    const headersFor = ({ href }: URL) => ({
      Accept: "text/html, text/*;q=0.9, */*;q=0.5",
      ...(href === before?.href && before.validators),
    });
    const visited = await visit(url, headersFor, signal);
    const isSame = visited.status === 304 && visited.url.href === before?.href;
    if (!isSame) refuseFailure(visited, at.path);
    const page = isSame && before ? before : await readPage(visited, at.path, extract, signal);
    // A page without a validator must be fetched again anyway, so it is not cached.
    if (Object.keys(page.validators).length > 0 && page.heldBytes <= maxPagesBytes / 4) cache.set(url.href, page);
    else cache.delete(url.href);
    recent.set(key, { at, digest: page.digest });
    return page;
  }

  return {
    timeoutMs: options.timeoutMs,

    async list({ cursor, limit }) {
      const rest = listed.filter(({ entry }) => cursor === undefined || compareAddresses(entry.path, cursor) > 0);
      // Pages that differ only in their query stay on one page of the list, because a cursor continues after all of them.
      const end = rest.findIndex(({ entry }, index) => index >= limit && entry.path !== rest[index - 1]?.entry.path);
      const items = rest.slice(0, end < 0 ? rest.length : end).map(({ entry }) => entry);
      return { items, ...(end >= 0 && { next: items.at(-1)!.path }) };
    },

    async read(at, { signal }) {
      const { part } = await fetchPage(at, signal);
      return [part];
    },

    async stat(at, { signal }) {
      const known = byKey.get(keyOf(at));
      if (known) return known.entry;
      const { part, size, lastModified, digest } = await fetchPage(at, signal);
      return {
        ...at,
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
      const paths = [...byKey.values(), ...recent.values()].map((each) => ("at" in each ? each.at : each.entry));
      return [...new Set(paths.flatMap((at) => (at.query ? [] : [at.path])))].flatMap((path) => {
        const [host, ...rest] = path.split("/");
        const pagePath = rest.join("/");
        const isMatch = (given["host"] ?? host) === host && pagePath !== "" && pagePath.startsWith(value);
        return isMatch ? [{ value: pagePath, reveals: { path } }] : [];
      });
    },

    async watch(call) {
      const signal = AbortSignal.any([call.signal, closing.signal]);
      const seen: Seen = new Map();
      const first = checkAll(seen, signal);
      const isSeen = await isDoneWithin(first, armMs, runtime.wait, signal);
      return follow(seen, first, isSeen, signal);
    },

    lists: (at) => byKey.has(keyOf(at)),

    async follow(at, { signal }) {
      const key = keyOf(at);
      if (signal.aborted || byKey.has(key)) return;
      const known = watched.get(key);
      if (!known && watched.size >= maxWatched) {
        if (!isLogged)
          runtime.log("warn", `more than ${maxWatched} pages are subscribed to; further ones are not polled`);
        isLogged = true;
        return;
      }
      // The subscriber has just read the page; later changes must be announced.
      const each = known ?? { at, digest: recent.get(key)?.digest, ears: new Set() };
      watched.set(key, each);
      each.ears.add(signal);
      const leave = () => each.ears.delete(signal) && each.ears.size === 0 && watched.delete(key);
      signal.addEventListener("abort", leave, { once: true });
    },

    async close() {
      closing.abort();
      extract.close();
    },
  };

  async function* follow(
    seen: Seen,
    first: Promise<unknown>,
    isSeen: boolean,
    signal: AbortSignal,
  ): AsyncGenerator<SourceChange> {
    await first;
    if (!isSeen && !signal.aborted) yield { kind: "lost" };
    for (;;) {
      try {
        await runtime.wait(options.pollMs, signal);
      } catch {
        return;
      }
      yield* await checkAll(seen, signal);
    }
  }

  /** A page that cannot be reached counts as unchanged. */
  async function checkAll(seen: Seen, signal: AbortSignal): Promise<SourceChange[]> {
    const changes: SourceChange[] = [];
    const pages = new Map<string, WatchedPage>(
      [...byKey].map(([key, { entry }]) => [key, { at: entry, digest: undefined }]),
    );
    for (const [key, each] of watched) pages.set(key, each);
    for (const key of seen.keys()) if (!pages.has(key)) seen.delete(key);
    await inParallel([...pages], maxConcurrentChecks, async ([key, each]) => {
      if (!signal.aborted) await checkPage(key, each, seen, changes, signal);
    });
    return changes;
  }

  async function checkPage(
    key: string,
    { at, digest: first }: WatchedPage,
    seen: Seen,
    changes: SourceChange[],
    signal: AbortSignal,
  ): Promise<void> {
    const before = seen.has(key) ? seen.get(key) : (first ?? "not seen yet");
    try {
      const { digest } = await fetchPage({ path: at.path, query: at.query }, signal);
      // The list is that of the config, whether its pages exist or not.
      if (before === undefined) changes.push({ kind: "appeared", path: at.path, isUnlisted: true });
      else if (before !== digest) changes.push({ kind: "changed", path: at.path });
      seen.set(key, digest);
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind !== "not-found") return;
      if (before !== undefined) changes.push({ kind: "gone", path: at.path, isUnlisted: true });
      seen.set(key, undefined);
    }
  }
}

/** A page and its digest at the last poll. */
interface WatchedPage {
  readonly at: Address;
  readonly digest: string | undefined;
}

/** Page → digest at the last poll; undefined if the page did not exist, absent before the first poll. */
type Seen = Map<string, string | undefined>;

function keyOf({ path, query }: Address): string {
  return JSON.stringify([path, ...Object.entries(query ?? {})]);
}

interface Listed {
  readonly url: URL;
  readonly entry: Entry;
}

function listPages({ pages, direct }: Pick<WebOptions, "pages" | "direct">): readonly Listed[] {
  const listed = pages.map((page) => {
    const { url: given, ...about } = typeof page === "string" ? { url: page } : page;
    const { title, description, priority, audience }: Partial<Exclude<typeof page, string>> = about;
    const url = URL.parse(given);
    if (!url || !/^https?:$/.test(url.protocol))
      throw invalid(`${quote(given)} is not a page URL; write it with https://`);
    if (url.username !== "" || url.password !== "")
      throw invalid("the URL of a page may not contain a user name or password");
    if (direct && (url.protocol !== "https:" || url.port !== ""))
      throw invalid(`${quote(given)} cannot be listed with "direct": only https:// URLs without a port can`);
    url.hash = "";
    const entry: Entry = {
      ...addressOf(url),
      name: title ?? url.href.replace(/^https?:\/\//, ""),
      title,
      description,
      ...((priority !== undefined || audience !== undefined) && { annotations: { priority, audience } }),
    };
    return { url, entry };
  });
  const once = new Map(listed.map((each) => [keyOf(each.entry), each]));
  return [...once.values()].sort((one, other) => compareAddresses(one.entry.path, other.entry.path));
}

function addressOf(url: URL): Address {
  const query = Object.fromEntries(url.searchParams);
  try {
    const segments = url.pathname === "/" ? [] : url.pathname.slice(1).split("/").map(decodeURIComponent);
    const isAddressable = !segments.some((each) => each.includes("\0")) && !("" in query);
    if (isAddressable && Object.keys(query).length === url.searchParams.size)
      return { path: pathOf([url.host, ...segments]), ...(url.searchParams.size > 0 && { query }) };
  } catch {
    // Invalid percent escape.
  }
  throw invalid(
    `${quote(url.href)} cannot be listed: its query may not repeat a name, and every "%" must begin a valid escape`,
  );
}

/** Undefined if the address is not a page of any host. */
function urlOf({ path, query }: Address, schemeOf: (host: string) => string): URL | undefined {
  const [host = "", ...segments] = segmentsOf(path);
  // A bare host is its start page, which has no second address.
  if (!/^[\p{L}\p{N}.:[\]-]+$/u.test(host) || (segments.length === 1 && segments[0] === "")) return undefined;
  const pagePath = segments.map(encodeURIComponent).join("/");
  const search = query
    ? `?${Object.entries(query)
        .map((pair) => pair.map(encodeURIComponent).join("="))
        .join("&")}`
    : "";
  const url = URL.parse(`${schemeOf(host)}//${host}/${pagePath}${search}`);
  // Rejects a URL whose host was normalized: the access rules were checked for the host as written.
  return url && url.username === "" && url.host === host && url.href.length <= maxUrlLength ? url : undefined;
}

function refuseFailure({ status, headers }: FetchedResponse, path: string): void {
  if (status >= 200 && status < 300) return;
  if (status === 404 || status === 410) throw notFound(path);
  if (status === 401 || status === 403) throw denied(`the site denies access to the page (status ${status})`);
  if (status === 429) {
    const seconds = Number(headers["retry-after"]);
    const details = Number.isFinite(seconds) ? { retryAfterMs: Math.min(Math.max(seconds, 0), 86_400) * 1000 } : {};
    throw new ResourceError("busy", "the site limits requests; try again later", { details });
  }
  throw new ResourceError("unavailable", `the site responded with status ${status}`, { passing: status >= 500 });
}
