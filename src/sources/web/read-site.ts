/** Reads which pages a site has, from its sitemaps or llms.txt. */
import { createGunzip } from "node:zlib";
import { Readable } from "node:stream";
import { lastingFailure, quote, toResourceError } from "../../errors.ts";
import type { SourceProblem } from "../../source.ts";
import { decodeXml } from "../../backends/documents/xml.ts";
import type { FetchedResponse } from "../../backends/web/guarded-request.ts";
import { type ListedPage, parseSiteMap, type SiteMap } from "./parse-site-map.ts";

export interface SiteReading {
  /** Requests a list of pages; conditionally if `validators` are given. */
  fetch(url: URL, validators: Readonly<Record<string, string>>): Promise<FetchedResponse>;
  /** Whether a further sitemap may be requested. */
  mayFetch(url: URL): boolean;
  readonly maxPages: number;
  readonly maxBytes: number;
}

interface KeptSiteMap {
  readonly map: SiteMap;
  readonly validators: Readonly<Record<string, string>>;
}

/** Sitemaps of the last reading, by URL. */
export type KeptSiteMaps = Map<string, KeptSiteMap>;

export interface SitePages {
  readonly pages: readonly (ListedPage & { readonly base: string })[];
  readonly problems: readonly SourceProblem[];
  readonly kept: KeptSiteMaps;
}

/** The specification has one level of indexes. */
const maxDepth = 3;
const maxSiteMaps = 50;
/** Problems of single sitemaps that are named. */
const maxNamed = 10;

/** Throws if the list of the site itself cannot be read. If a further sitemap cannot be read, its last content is used. */
export async function readSite(site: URL, before: KeptSiteMaps, reading: SiteReading): Promise<SitePages> {
  const { maxPages } = reading;
  const pages: (ListedPage & { readonly base: string })[] = [];
  const problems: SourceProblem[] = [];
  const kept: KeptSiteMaps = new Map();
  const waiting: { readonly url: URL; readonly depth: number }[] = [];
  const seen = new Set<string>();
  let foreign = 0;
  let skipped = 0;
  const problem = (url: URL, says: string, advice?: string) => {
    if (problems.length < maxNamed)
      problems.push({ path: `${url.host}${url.pathname}`, says, ...(advice && { advice }) });
  };

  function take(url: URL, depth: number, found: KeptSiteMap): void {
    kept.set(url.href, found);
    const { map } = found;
    if (map.fault !== undefined) problem(url, `is read only in part: ${map.fault}`);
    for (const page of map.pages) {
      if (pages.length < maxPages) pages.push({ ...page, base: url.href });
      else skipped += 1;
    }
    for (const each of map.siteMaps) {
      const next = URL.parse(each, url.href);
      if (!next || seen.has(next.href)) continue;
      seen.add(next.href);
      if (!reading.mayFetch(next)) foreign += 1;
      else if (depth >= maxDepth) problem(url, `names sitemaps more than ${maxDepth} levels deep, which are left out`);
      else waiting.push({ url: next, depth: depth + 1 });
    }
  }

  seen.add(site.href);
  take(site, 1, await fetchSiteMap(site, before, reading));
  let count = 1;
  for (let next = waiting.shift(); next && pages.length < maxPages && count < maxSiteMaps; next = waiting.shift()) {
    count += 1;
    const { url, depth } = next;
    try {
      take(url, depth, await fetchSiteMap(url, before, reading));
    } catch (cause) {
      const { kind, message } = toResourceError(cause);
      if (kind === "cancelled") throw cause;
      const last = kind === "not-found" || kind === "denied" ? undefined : before.get(url.href);
      problem(url, `cannot be read (${message}); ${last ? "its last content is used" : "its pages are left out"}`);
      if (last) take(url, depth, last);
    }
  }
  if (skipped > 0 || (pages.length >= maxPages && waiting.length > 0))
    problem(site, `names more than ${maxPages} pages; the others are left out`, "raise maxPages of the mount");
  else if (waiting.length > 0)
    problem(
      site,
      `leads to more than ${maxSiteMaps} sitemaps; the others are left out`,
      "name single sitemaps in sites",
    );
  if (foreign > 0)
    problem(site, `names sitemaps on other hosts, which are left out: ${foreign}`, "add their hosts to hosts");
  return { pages, problems, kept };
}

async function fetchSiteMap(url: URL, before: KeptSiteMaps, reading: SiteReading): Promise<KeptSiteMap> {
  const last = before.get(url.href);
  const { status, bytes, headers } = await reading.fetch(url, last?.validators ?? {});
  if (status === 304 && last) return last;
  const { text, fault } = await textOf(bytes, reading.maxBytes);
  const map = parseSiteMap(text, reading.maxPages + 1);
  if (!map) throw lastingFailure(`${quote(url.pathname)} is neither a sitemap nor a list of links such as llms.txt`);
  const [etag, modified] = [headers["etag"], headers["last-modified"]];
  return {
    map: fault === undefined ? map : { ...map, fault },
    validators: {
      ...(typeof etag === "string" && { "If-None-Match": etag }),
      ...(typeof modified === "string" && { "If-Modified-Since": modified }),
    },
  };
}

/** Decompresses `sitemap.xml.gz`. `fault` is present if this is not all of the text. */
async function textOf(bytes: Buffer, maxBytes: number): Promise<{ readonly text: string; readonly fault?: string }> {
  const long = `it has more than ${maxBytes} bytes`;
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b)
    return { text: decodeXml(bytes.subarray(0, maxBytes)), ...(bytes.length > maxBytes && { fault: long }) };
  const pieces: Buffer[] = [];
  let size = 0;
  let isDamaged = false;
  try {
    for await (const piece of Readable.from([bytes]).pipe(createGunzip()) as AsyncIterable<Buffer>) {
      pieces.push(piece);
      size += piece.length;
      if (size > maxBytes) break;
    }
  } catch {
    isDamaged = true;
  }
  const fault = size > maxBytes ? long : isDamaged ? "its compressed form is damaged or too long" : undefined;
  return { text: decodeXml(Buffer.concat(pieces).subarray(0, maxBytes)), ...(fault !== undefined && { fault }) };
}
