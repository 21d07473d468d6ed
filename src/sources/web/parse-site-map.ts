/** Parses lists of a site's pages: sitemap.xml (https://www.sitemaps.org/protocol.html), an index of them, llms.txt (https://llmstxt.org), or one URL per line. */
import { cutAt } from "../../lib/cut-at.ts";
import { scanXml } from "../../backends/documents/xml.ts";
import { DocumentError } from "../../backends/documents/document-error.ts";

export interface ListedPage {
  /** As written. */
  readonly url: string;
  readonly title?: string;
  readonly description?: string;
  /** As written. */
  readonly lastModified?: string;
}

export interface SiteMap {
  readonly pages: readonly ListedPage[];
  /** Further sitemaps, as written. */
  readonly siteMaps: readonly string[];
  /** Why the rest could not be read. */
  readonly fault?: string;
}

const maxFieldLength = 8000;
const maxTextLength = 500;

/** At most `max` pages and sitemaps. Undefined if the text is neither. */
export function parseSiteMap(text: string, max: number): SiteMap | undefined {
  const start = text.trimStart().slice(0, 1000);
  if (/^<(?:!doctype\s+html|html)[\s>]/i.test(start)) return undefined;
  return start.startsWith("<") ? parseXml(text, max) : parseLines(text, max);
}

/** Thrown by the scanner's handler to stop it. */
const enough = Symbol("enough");

function parseXml(text: string, max: number): SiteMap | undefined {
  const pages: ListedPage[] = [];
  const siteMaps: string[] = [];
  const open: string[] = [];
  let isSiteMap = false;
  let fields: Record<string, string> = {};
  let fault: string | undefined;
  try {
    scanXml(text, {
      open(name) {
        if (open.length === 0) isSiteMap = name === "urlset" || name === "sitemapindex";
        open.push(name);
        if (open.length === 2) fields = {};
      },
      text(piece) {
        const [, entry, name, ...deeper] = open;
        // Elements of extensions, such as the URLs of images, are one level deeper.
        if (entry === undefined || name === undefined || deeper.length > 0) return;
        fields[name] = `${fields[name] ?? ""}${piece}`.slice(0, maxFieldLength);
      },
      close(name) {
        const depth = open.length;
        open.pop();
        const url = fields["loc"]?.trim() ?? "";
        if (depth !== 2 || url === "") return;
        const lastModified = fields["lastmod"]?.trim().slice(0, 40);
        if (name === "sitemap") siteMaps.push(url);
        else if (name === "url") pages.push({ url, ...(lastModified && { lastModified }) });
        if (pages.length + siteMaps.length >= max) throw enough;
      },
    });
  } catch (cause) {
    if (cause instanceof DocumentError) fault = cause.message;
    else if (cause !== enough) throw cause;
  }
  return isSiteMap ? { pages, siteMaps, ...(fault !== undefined && { fault }) } : undefined;
}

function parseLines(text: string, max: number): SiteMap | undefined {
  const pages: ListedPage[] = [];
  for (const line of text.split(/\r\n?|\n/)) {
    if (pages.length >= max) break;
    if (line.length > maxFieldLength) continue;
    const link = /^\s{0,12}[-*+]\s{1,4}\[([^\]]*)\]\(([^)]*)\)(.*)$/.exec(line);
    if (link) {
      const [, title = "", target = "", rest = ""] = link;
      const url = cutAt(target.trim(), /\s/);
      const description = rest
        .replace(/^\s?[:–—-]?/, "")
        .trim()
        .slice(0, maxTextLength);
      pages.push({
        url,
        ...(title.trim() && { title: title.trim().slice(0, maxTextLength) }),
        ...(description && { description }),
      });
    } else if (/^https?:\/\/\S+$/.test(line.trim())) pages.push({ url: line.trim() });
  }
  return pages.length > 0 ? { pages, siteMaps: [] } : undefined;
}
