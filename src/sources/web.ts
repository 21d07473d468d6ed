/** Pages of the web: named ones, and any other of the hosts that are allowed. */
import { invalid, notFound, quote, ResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { isDoneWithin } from "../lib/is-done-within.ts";
import { mayHoldSecret } from "../lib/url-secret.ts";
import { defineSource, pathOf, segmentsOf } from "../source.ts";
import type { Address, Entry, Source, SourceChange, SourceTemplate, Runtime } from "../source.ts";
import { createExtract } from "./file/extract.ts";
import { createPermit } from "./web/addresses.ts";
import { createHosts } from "./web/hosts.ts";
import { createKept, type CachedPage } from "./web/page-cache.ts";
import { readPage } from "./web/read-page.ts";
import { parseRobots, type Robots } from "./web/robots.ts";
import { createVisit, type Resolve, type FetchedPage } from "./web/fetch-page.ts";

export interface WebOptions {
  readonly hosts: readonly string[];
  readonly pages: readonly (string | PageOption)[];
  readonly direct: boolean;
  readonly robots: boolean;
  readonly allowAddresses: readonly string[];
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly pollMs: number;
}

export interface PageOption {
  readonly url: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly priority?: number | undefined;
  readonly audience?: readonly ("user" | "assistant")[] | undefined;
}

export default defineSource<WebOptions>({
  name: "web",
  summary: "Pages of the web, from hosts that are allowed",
  scheme: "web",
  options: (z) =>
    z.object({
      hosts: z
        .array(z.string().min(1))
        .default([])
        .describe('the hosts whose pages may be read: "docs.example.com", "*.example.com", "http://intranet:8080"'),
      pages: z
        .array(
          z.union([
            z.string().min(1),
            z.strictObject({
              url: z.string().min(1).describe("the page"),
              title: z.string().optional().describe("what it is called"),
              description: z.string().optional().describe("what it is about"),
              priority: z.number().min(0).max(1).optional().describe("how important it is"),
              audience: z
                .array(z.enum(["user", "assistant"]))
                .optional()
                .describe("whom it is for"),
            }),
          ]),
        )
        .default([])
        .describe("the pages to list; their hosts are allowed by that"),
      direct: z
        .boolean()
        .default(false)
        .describe("list pages under their own https:// addresses, for clients that fetch them by themselves"),
      robots: z.boolean().default(true).describe("heed what robots.txt asks for"),
      allowAddresses: z
        .array(z.string().min(1))
        .default([])
        .describe('addresses that are not public and may be asked all the same: "10.1.2.3", "10.1.0.0/16"'),
      maxBytes: z
        .int()
        .min(1)
        .max(64 * 1024 * 1024)
        .default(5 * 1024 * 1024)
        .describe("a larger page is not read"),
      timeoutMs: z
        .int()
        .min(1)
        .max(300_000)
        .default(20_000)
        .describe("how long a page may take, with robots.txt, redirects and all attempts"),
      pollMs: z
        .int()
        .min(1000)
        .max(86_400_000)
        .default(300_000)
        .describe("how often pages are looked at again while someone watches"),
    }),
  base: ({ direct }) => (direct ? "https://" : "web://"),
  // Who can reach an address that is not public has been let in already.
  usesCredentials: ({ allowAddresses, pages }) =>
    allowAddresses.length > 0 || pages.some((page) => mayHoldSecret(typeof page === "string" ? page : page.url)),

  async open(options, runtime) {
    const { lookup } = await import("node:dns/promises");
    return createWeb(options, runtime, (name) => lookup(name, { all: true, order: "verbatim" }));
  },
});

const userAgent = "Pressmark (+https://modelcontextprotocol.io; reads pages for a person)";
const robotsMs = 60 * 60 * 1000;
const maxRobotsBytes = 500 * 1024;
/** Of so many sites the rules are remembered. */
const maxRobots = 100;
/** No site has a page with a longer address. */
const maxUrlLength = 8000;
/** Pages that were read lately are suggested; so many of them. */
const maxRecent = 200;
/** So many pages are looked at again because someone listens to them, beside those that are listed. */
const maxHeard = 1000;
const looksAtOnce = 8;
/** A first look that takes longer is not waited for; what changes meanwhile is told as lost. */
const armMs = 10_000;

const template: SourceTemplate = {
  template: "{host}/{+path}",
  name: "Page",
  description: "A page of one of the hosts that may be read, as Markdown",
};

export function createWeb(options: WebOptions, runtime: Runtime, resolve: Resolve): Source {
  const listed = listPages(options);
  const hosts = createHosts([...options.hosts, ...listed.map(({ url }) => url.origin)]);
  const permit = createPermit(options.allowAddresses);
  const visiting = { permit, resolve, timeoutMs: options.timeoutMs, userAgent, log: runtime.log };
  const rules = new Map<string, { readonly until: number; readonly robots: Promise<Robots> }>();
  const visitRobots = createVisit({
    ...visiting,
    maxBytes: maxRobotsBytes,
    isCut: true,
    mayVisit: (url) => hosts.allows(url),
  });
  const visit = createVisit({ ...visiting, maxBytes: options.maxBytes, mayVisit });
  const kept = createKept(16 * 1024 * 1024);
  const extract = createExtract({ timeoutMs: 10_000 });
  const byKey = new Map(listed.map((each) => [keyOf(each.entry), each]));
  const closing = new AbortController();
  let isSaid = false;
  /** What was read lately, the oldest first. */
  const recent = new Map<string, Heard>();
  const heard = new Map<string, Heard & { readonly ears: Set<AbortSignal> }>();

  async function mayVisit(url: URL): Promise<boolean> {
    if (!hosts.allows(url)) return false;
    if (options.robots && !(await robotsOf(url))(`${url.pathname}${url.search}`))
      throw new ResourceError(
        "denied",
        "the robots.txt of the site asks programs not to read this page; if it is yours, set robots: false",
      );
    return true;
  }

  function robotsOf({ origin }: URL): Promise<Robots> {
    const known = rules.get(origin);
    if (known && known.until > runtime.monotonicMs()) return known.robots;
    // Not the caller's signal: the answer is for everyone who asks meanwhile.
    const robots = readRobots(new URL("/robots.txt", origin), closing.signal);
    const entry = { until: runtime.monotonicMs() + robotsMs, robots };
    setLast(rules, origin, entry, maxRobots);
    robots.catch(() => rules.get(origin) === entry && rules.delete(origin));
    return robots;
  }

  /** A site without rules has none; one that cannot say its rules now is not read now. */
  async function readRobots(url: URL, signal: AbortSignal): Promise<Robots> {
    const { status, bytes } = await visitRobots(url, () => ({}), signal);
    if (status >= 500 || status === 429)
      throw new ResourceError("unavailable", `the site cannot say its robots.txt (${status})`);
    return parseRobots(status === 200 ? bytes.toString("utf8") : "", "pressmark");
  }

  async function fetchPage(at: Address, signal: AbortSignal): Promise<CachedPage> {
    const key = keyOf(at);
    const url = byKey.get(key)?.url ?? urlOf(at, hosts.schemeOf);
    if (!url || !hosts.allows(url)) throw notFound(at.path);
    const before = kept.get(url.href);
    const headersFor = ({ href }: URL) => ({
      Accept: "text/html, text/*;q=0.9, */*;q=0.5",
      ...(href === before?.href && before.validators),
    });
    const visited = await visit(url, headersFor, signal);
    const isSame = visited.status === 304 && visited.url.href === before?.href;
    if (!isSame) refuseFailure(visited, at.path);
    const page = isSame && before ? before : await readPage(visited, at.path, extract, signal);
    kept.set(url.href, page);
    setLast(recent, key, { at, digest: page.digest }, maxRecent);
    return page;
  }

  return {
    timeoutMs: options.timeoutMs,

    async list({ cursor, limit }) {
      const rest = listed.filter(({ entry }) => cursor === undefined || compareAddresses(entry.path, cursor) > 0);
      // Pages that differ by their query alone stand on one page of the list: a cursor leads behind all of them.
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
        ...(part.mimeType !== undefined && { mimeType: part.mimeType }),
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
        const way = rest.join("/");
        const isMeant = (given["host"] ?? host) === host && way !== "" && way.startsWith(value);
        return isMeant ? [{ value: way, reveals: { path } }] : [];
      });
    },

    async watch(call) {
      const signal = AbortSignal.any([call.signal, closing.signal]);
      const seen: Seen = new Map();
      const first = lookAtAll(seen, signal);
      const isSeen = await isDoneWithin(first, armMs, runtime.wait, signal);
      return follow(seen, first, isSeen, signal);
    },

    lists: (at) => byKey.has(keyOf(at)),

    async follow(at, { signal }) {
      const key = keyOf(at);
      if (signal.aborted || byKey.has(key)) return;
      const known = heard.get(key);
      if (!known && heard.size >= maxHeard) {
        if (!isSaid)
          runtime.log("warn", `more than ${maxHeard} pages are listened to; further ones are not looked at again`);
        isSaid = true;
        return;
      }
      // Who listens has looked at it just now; what becomes of it since then is news.
      const each = known ?? { at, digest: recent.get(key)?.digest, ears: new Set() };
      heard.set(key, each);
      each.ears.add(signal);
      const leave = () => each.ears.delete(signal) && each.ears.size === 0 && heard.delete(key);
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
      yield* await lookAtAll(seen, signal);
    }
  }

  /** A page that cannot be reached now is as it was. */
  async function lookAtAll(seen: Seen, signal: AbortSignal): Promise<SourceChange[]> {
    const changes: SourceChange[] = [];
    const pages = new Map<string, Heard>([...byKey].map(([key, { entry }]) => [key, { at: entry, digest: undefined }]));
    for (const [key, each] of heard) pages.set(key, each);
    for (const key of seen.keys()) if (!pages.has(key)) seen.delete(key);
    const waiting = pages.entries();
    const walk = async () => {
      for (const [key, each] of waiting) if (!signal.aborted) await lookAt(key, each, seen, changes, signal);
    };
    await Promise.all(Array.from({ length: looksAtOnce }, walk));
    return changes;
  }

  async function lookAt(
    key: string,
    { at, digest: first }: Heard,
    seen: Seen,
    changes: SourceChange[],
    signal: AbortSignal,
  ): Promise<void> {
    const before = seen.has(key) ? seen.get(key) : (first ?? "not seen yet");
    try {
      const { digest } = await fetchPage({ path: at.path, ...(at.query && { query: at.query }) }, signal);
      if (before !== digest) changes.push({ kind: before === undefined ? "appeared" : "changed", path: at.path });
      seen.set(key, digest);
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind !== "not-found") return;
      if (before !== undefined) changes.push({ kind: "gone", path: at.path });
      seen.set(key, undefined);
    }
  }
}

/** A page, and what it was like when it was last looked at. */
interface Heard {
  readonly at: Address;
  readonly digest: string | undefined;
}

/** Page → what it looked like last; undefined when it was not there, absent until it was looked for. */
type Seen = Map<string, string | undefined>;

/** As the newest; of more than so many the oldest goes. */
function setLast<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}

function keyOf({ path, query }: Address): string {
  return JSON.stringify([path, ...Object.entries(query ?? {})]);
}

interface Listed {
  readonly url: URL;
  readonly entry: Entry;
}

function listPages({ pages, direct }: Pick<WebOptions, "pages" | "direct">): readonly Listed[] {
  const listed = pages.map((page) => {
    const {
      url: given,
      title,
      description,
      priority,
      audience,
    } = typeof page === "string" ? ({ url: page } as PageOption) : page;
    const url = URL.parse(given);
    if (!url || !/^https?:$/.test(url.protocol)) throw invalid(`${quote(given)} is no page; write it with https://`);
    if (url.username !== "" || url.password !== "") throw invalid("a page's address may hold no password");
    if (direct && (url.protocol !== "https:" || url.port !== ""))
      throw invalid(`${quote(given)} cannot be listed with direct: only https:// without a port can`);
    url.hash = "";
    const annotations = { ...(priority !== undefined && { priority }), ...(audience && { audience }) };
    const entry: Entry = {
      ...addressOf(url),
      name: title ?? url.href.replace(/^https?:\/\//, ""),
      ...(title !== undefined && { title }),
      ...(description !== undefined && { description }),
      ...(Object.keys(annotations).length > 0 && { annotations }),
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
    const isSpelled = !segments.some((each) => each.includes("\0")) && !("" in query);
    if (isSpelled && Object.keys(query).length === url.searchParams.size)
      return { path: pathOf([url.host, ...segments]), ...(url.searchParams.size > 0 && { query }) };
  } catch {
    // An escape that is none.
  }
  throw invalid(
    `${quote(url.href)} cannot be listed: no name may stand twice in its query, and every "%" begins an escape`,
  );
}

/** Undefined for what is no page of any host. */
function urlOf({ path, query }: Address, schemeOf: (host: string) => string): URL | undefined {
  const [host = "", ...segments] = segmentsOf(path);
  // The host alone is its first page; that has no second address.
  if (!/^[\p{L}\p{N}.:[\]-]+$/u.test(host) || (segments.length === 1 && segments[0] === "")) return undefined;
  const way = segments.map(encodeURIComponent).join("/");
  const search = query
    ? `?${Object.entries(query)
        .map((pair) => pair.map(encodeURIComponent).join("="))
        .join("&")}`
    : "";
  const url = URL.parse(`${schemeOf(host)}//${host}/${way}${search}`);
  // Another host than the one that is meant would be judged by another's rule, and so would another spelling of it.
  return url && url.username === "" && url.host === host && url.href.length <= maxUrlLength ? url : undefined;
}

function refuseFailure({ status, headers }: FetchedPage, path: string): void {
  if (status >= 200 && status < 300) return;
  if (status === 404 || status === 410) throw notFound(path);
  if (status === 401 || status === 403) throw new ResourceError("denied", `the site refuses the page (${status})`);
  if (status === 429) {
    const seconds = Number(headers["retry-after"]);
    const details = Number.isFinite(seconds) ? { retryAfterMs: Math.min(Math.max(seconds, 0), 86_400) * 1000 } : {};
    throw new ResourceError("busy", "the site asks us to come back later", { details });
  }
  throw new ResourceError("unavailable", `the site answered ${status}`, { passing: status >= 500 });
}
