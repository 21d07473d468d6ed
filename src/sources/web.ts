/** Pages of the web: named ones, and any other of the hosts that are allowed. */
import { invalid, notFound, quote, ResourceError } from "../errors.ts";
import { compareAddresses } from "../lib/address-order.ts";
import { decodeHtml, htmlToMarkdown } from "../lib/documents/html.ts";
import { isTextType } from "../lib/mime.ts";
import type { Freshness } from "../resources.ts";
import { defineSource, pathOf, segmentsOf } from "../source.ts";
import type { Address, Entry, Part, Source, SourceChange, SourceTemplate, Tools } from "../source.ts";
import { createPermit } from "./web/addresses.ts";
import { createHosts } from "./web/hosts.ts";
import { createKept, type Kept } from "./web/kept.ts";
import { parseRobots, type Robots } from "./web/robots.ts";
import { createVisit, type Resolve, type Visited } from "./web/visit.ts";

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
      timeoutMs: z.int().min(1).max(300_000).default(20_000).describe("how long a page may take"),
      pollMs: z
        .int()
        .min(1000)
        .max(86_400_000)
        .default(300_000)
        .describe("how often pages are looked at again while someone watches"),
    }),
  base: ({ direct }) => (direct ? "https://" : "web://"),

  async open(options, tools) {
    const { lookup } = await import("node:dns/promises");
    return createWeb(options, tools, (name) => lookup(name, { all: true, order: "verbatim" }));
  },
});

const userAgent = "Pressmark (+https://modelcontextprotocol.io; reads pages for a person)";
const robotsMs = 60 * 60 * 1000;
const maxRobotsBytes = 500 * 1024;
/** Pages that were read lately are looked at again too, as long as they are so few. */
const maxFollowed = 200;
const looksAtOnce = 8;

const template: SourceTemplate = {
  template: "{host}/{+path}",
  name: "Page",
  description: "A page of one of the hosts that may be read, as Markdown",
};

export function createWeb(options: WebOptions, tools: Tools, resolve: Resolve): Source {
  const listed = listPages(options.pages);
  const hosts = createHosts([...options.hosts, ...listed.map(({ url }) => url.origin)]);
  const permit = createPermit(options.allowAddresses);
  const visiting = { permit, resolve, timeoutMs: options.timeoutMs, userAgent };
  const rules = new Map<string, { readonly until: number; readonly robots: Promise<Robots> }>();
  const visitRobots = createVisit({ ...visiting, maxBytes: maxRobotsBytes, mayVisit: (url) => hosts.allows(url) });
  const visit = createVisit({ ...visiting, maxBytes: options.maxBytes, mayVisit });
  const kept = createKept(16 * 1024 * 1024);
  const followed = new Map<string, URL>(listed.map(({ entry, url }) => [entry.path, url]));

  async function mayVisit(url: URL): Promise<boolean> {
    if (!hosts.allows(url)) return false;
    if (options.robots && !(await robotsOf(url))(`${url.pathname}${url.search}`))
      throw new ResourceError(
        "denied",
        `robots.txt of ${quote(url.host)} asks programs not to read ${quote(url.pathname)}; if it is yours, set robots: false`,
      );
    return true;
  }

  function robotsOf({ origin }: URL): Promise<Robots> {
    const known = rules.get(origin);
    if (known && known.until > tools.now()) return known.robots;
    // Not the caller's signal: the answer is for everyone who asks meanwhile.
    const robots = readRobots(new URL("/robots.txt", origin), new AbortController().signal);
    const entry = { until: tools.now() + robotsMs, robots };
    rules.set(origin, entry);
    robots.catch(() => rules.get(origin) === entry && rules.delete(origin));
    return robots;
  }

  /** A site without rules has none; one that cannot say its rules now is not read now. */
  async function readRobots(url: URL, signal: AbortSignal): Promise<Robots> {
    const { status, bytes, url: found } = await visitRobots(url, {}, signal);
    if (status >= 500)
      throw new ResourceError("unavailable", `${quote(found.host)} cannot say its robots.txt (${status})`);
    return parseRobots(status === 200 ? bytes.toString("utf8") : "", "pressmark");
  }

  async function fetchPage(at: Address, signal: AbortSignal): Promise<Kept> {
    const url = urlOf(at, hosts.schemeOf);
    if (!url || !hosts.allows(url)) throw notFound(at.path);
    const before = kept.get(url.href);
    const visited = await visit(url, { Accept: "text/html, text/*;q=0.9, */*;q=0.5", ...before?.validators }, signal);
    if (visited.status === 304 && before) return before;
    refuseFailure(visited, at.path);
    const page = toKept(visited);
    kept.set(url.href, page);
    if (!at.query && !followed.has(at.path) && followed.size < listed.length + maxFollowed) followed.set(at.path, url);
    return page;
  }

  return {
    async list({ cursor, limit }) {
      const rest = listed.filter(({ entry }) => cursor === undefined || compareAddresses(entry.path, cursor) > 0);
      const items = rest.slice(0, limit).map(({ entry }) => entry);
      return { items, ...(rest.length > limit && { next: items.at(-1)!.path }) };
    },

    async read(at, { signal }) {
      const { part } = await fetchPage(at, signal);
      return [part];
    },

    async stat(at, { signal }) {
      const known = at.query ? undefined : listed.find(({ entry }) => entry.path === at.path);
      if (known) return known.entry;
      const { part, size, lastModified, version } = await fetchPage(at, signal);
      return {
        ...at,
        ...(part.mimeType !== undefined && { mimeType: part.mimeType }),
        size,
        ...(version !== undefined && { version }),
        ...(lastModified && { annotations: { lastModified } }),
      };
    },

    templates: [template],

    async complete({ variable, value, given }) {
      const beginning = value.toLowerCase();
      if (variable === "host")
        return hosts.names.filter((name) => name.startsWith(beginning)).map((each) => ({ value: each }));
      if (variable !== "path") return [];
      return [...followed.keys()].flatMap((path) => {
        const [host, ...rest] = path.split("/");
        const way = rest.join("/");
        const isMeant = (given["host"] ?? host) === host && way !== "" && way.startsWith(value);
        return isMeant ? [{ value: way, reveals: { path } }] : [];
      });
    },

    async watch({ signal }) {
      /** What each page looked like last; absent until it was seen. */
      const seen = new Map<string, string | undefined>();
      await lookAtAll(seen, signal);
      return follow(seen, signal);
    },
  };

  async function* follow(seen: Map<string, string | undefined>, signal: AbortSignal): AsyncGenerator<SourceChange> {
    for (;;) {
      try {
        await tools.wait(options.pollMs, signal);
      } catch {
        return;
      }
      yield* await lookAtAll(seen, signal);
    }
  }

  /** A page that cannot be reached now is as it was. */
  async function lookAtAll(seen: Map<string, string | undefined>, signal: AbortSignal): Promise<SourceChange[]> {
    const changes: SourceChange[] = [];
    const waiting = followed.keys();
    const walk = async () => {
      for (const path of waiting) if (!signal.aborted) await lookAt(path, seen, changes, signal);
    };
    await Promise.all(Array.from({ length: looksAtOnce }, walk));
    return changes;
  }

  async function lookAt(
    path: string,
    seen: Map<string, string | undefined>,
    changes: SourceChange[],
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const { digest } = await fetchPage({ path }, signal);
      const before = seen.get(path);
      if (seen.has(path) && before !== digest)
        changes.push({ kind: before === undefined ? "appeared" : "changed", path });
      seen.set(path, digest);
    } catch (cause) {
      if (!(cause instanceof ResourceError) || cause.kind !== "not-found") return;
      if (seen.get(path) !== undefined) changes.push({ kind: "gone", path });
      seen.set(path, undefined);
    }
  }
}

interface Listed {
  readonly url: URL;
  readonly entry: Entry;
}

function listPages(pages: readonly (string | PageOption)[]): readonly Listed[] {
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
  const byPath = new Map(listed.map((each) => [each.entry.path + JSON.stringify(each.entry.query ?? {}), each]));
  return [...byPath.values()].sort((one, other) => compareAddresses(one.entry.path, other.entry.path));
}

function addressOf(url: URL): Address {
  const segments = url.pathname === "/" ? [] : url.pathname.slice(1).split("/").map(decodeURIComponent);
  const query = Object.fromEntries(url.searchParams);
  return { path: pathOf([url.host, ...segments]), ...(url.search !== "" && { query }) };
}

/** Undefined for what is no page of any host. */
function urlOf({ path, query }: Address, schemeOf: (host: string) => string): URL | undefined {
  const [host = "", ...segments] = segmentsOf(path);
  if (!/^[\p{L}\p{N}.:[\]-]+$/u.test(host)) return undefined;
  const way = segments.map(encodeURIComponent).join("/");
  const search = query
    ? `?${Object.entries(query)
        .map((pair) => pair.map(encodeURIComponent).join("="))
        .join("&")}`
    : "";
  const url = URL.parse(`${schemeOf(host.toLowerCase())}//${host}/${way}${search}`);
  // Another host than the one that is meant would be judged by another's rule.
  return url && url.username === "" && url.host === host.toLowerCase() ? url : undefined;
}

function refuseFailure({ status, headers, url }: Visited, path: string): void {
  if (status >= 200 && status < 300) return;
  const host = quote(url.host);
  if (status === 404 || status === 410) throw notFound(path);
  if (status === 401 || status === 403) throw new ResourceError("denied", `${host} refuses the page (${status})`);
  if (status === 429) {
    const seconds = Number(headers["retry-after"]);
    const details = Number.isFinite(seconds) ? { retryAfterMs: Math.min(seconds, 86_400) * 1000 } : {};
    throw new ResourceError("busy", `${host} asks us to come back later`, { details });
  }
  throw new ResourceError("unavailable", `${host} answered ${status}`, { passing: status >= 500 });
}

const htmlTypes = new Set(["text/html", "application/xhtml+xml"]);

function toKept({ headers, bytes }: Visited): Kept {
  const said = String(headers["content-type"] ?? "application/octet-stream");
  const type = said.split(";")[0]!.trim().toLowerCase();
  const charset = /;\s*charset\s*=\s*"?([\w-]{2,30})/i.exec(said)?.[1];
  const etag = headers["etag"];
  const modified = headers["last-modified"];
  const isHtml = htmlTypes.has(type);
  const text = isHtml
    ? htmlToMarkdown(textIn(bytes, charset) ?? decodeHtml(bytes))
    : isTextType(type)
      ? textIn(bytes, charset ?? "utf-8")
      : undefined;
  const part: Part = {
    body: text === undefined ? { bytes } : { text },
    mimeType: isHtml ? "text/markdown" : type,
    freshness: freshnessOf(String(headers["cache-control"] ?? "")),
    ...(isHtml && { meta: { "pressmark/originalType": type } }),
  };
  const when = typeof modified === "string" ? new Date(modified) : undefined;
  return {
    part,
    size: bytes.length,
    digest: process.getBuiltinModule("node:crypto").hash("sha256", bytes, "base64url"),
    version: typeof etag === "string" ? etag : undefined,
    lastModified: when && !Number.isNaN(when.getTime()) ? when.toISOString() : undefined,
    validators: {
      ...(typeof etag === "string" && { "If-None-Match": etag }),
      ...(typeof modified === "string" && { "If-Modified-Since": modified }),
    },
  };
}

function textIn(bytes: Uint8Array, charset: string | undefined): string | undefined {
  if (charset === undefined) return undefined;
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function freshnessOf(control: string): Partial<Freshness> {
  const seconds = Number(/(?:^|[,\s])max-age=(\d{1,9})/i.exec(control)?.[1] ?? Number.NaN);
  const isKept = !/no-store|no-cache/i.test(control) && Number.isFinite(seconds);
  return {
    ttlMs: isKept ? Math.min(seconds, 86_400) * 1000 : 0,
    scope: /private|no-store/i.test(control) ? "private" : "public",
  };
}
