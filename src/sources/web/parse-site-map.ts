/** Parses lists of a site's pages: sitemap.xml (https://www.sitemaps.org/protocol.html), an index of them, llms.txt (https://llmstxt.org), or one URL per line. */
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
        // Elements of extensions, such as the URLs of images, are one level deeper.
        if (open.length !== 3) return;
        const name = open[2]!;
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
    const page = parseLink(line);
    if (page) pages.push(page);
    else if (/^https?:\/\/\S+$/.test(line.trim())) pages.push({ url: line.trim() });
  }
  return pages.length > 0 ? { pages, siteMaps: [] } : undefined;
}

/** `- [title](url): description`, by the rules of CommonMark: brackets in pairs, or a URL in angle brackets. */
function parseLink(line: string): ListedPage | undefined {
  const titleAt = /^\s{0,12}[-*+]\s{1,4}\[/.exec(line)?.[0].length;
  if (titleAt === undefined) return undefined;
  const titleEnd = pairedEnd(line, titleAt, "[", "]");
  if (line[titleEnd + 1] !== "(") return undefined;
  const rest = line.slice(titleEnd + 2).trimStart();
  const isQuoted = rest.startsWith("<");
  const urlEnd = isQuoted ? rest.indexOf(">") : pairedEnd(rest, 0, "(", ")", /\s/);
  const end = rest.indexOf(")", urlEnd);
  if (urlEnd < 0 || end < 0) return undefined;
  const title = line.slice(titleAt, titleEnd).trim().slice(0, maxTextLength);
  const description = rest
    .slice(end + 1)
    .replace(/^\s?[:–—-]?/, "")
    .trim()
    .slice(0, maxTextLength);
  return {
    url: rest.slice(isQuoted ? 1 : 0, urlEnd),
    ...(title && { title }),
    ...(description && { description }),
  };
}

/** Where the pair that was opened before `from` is closed, or where `stop` matches; -1 if nowhere. */
function pairedEnd(text: string, from: number, open: string, close: string, stop?: RegExp): number {
  let depth = 1;
  for (let at = from; at < text.length; at += 1) {
    const char = text[at]!;
    if (char === "\\") at += 1;
    else if (char === open) depth += 1;
    else if (char === close) depth -= 1;
    if (depth === 0 || stop?.test(char)) return at;
  }
  return -1;
}
