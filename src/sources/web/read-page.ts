/** Converts a response: HTML to Markdown, other text to text, anything else to bytes. */
import { quote, ResourceError } from "../../errors.ts";
import { pageType, plainPageType } from "../../backends/documents/document-text.ts";
import { decodeHtml } from "../../backends/documents/html.ts";
import { needsSearch, pageToMarkdown, readHead } from "../../backends/documents/main-content.ts";
import { isTextType } from "../../lib/mime.ts";
import type { Freshness } from "../../resources.ts";
import type { Part } from "../../source.ts";
import type { Extract } from "../../backends/documents/extract.ts";
import type { FetchedResponse } from "../../backends/web/guarded-request.ts";

export interface CachedPage {
  readonly part: Part;
  /** Title of the page, if it is HTML and has one. */
  readonly title: string | undefined;
  /** Size of the response body. */
  readonly size: number;
  /** Approximate memory use. */
  readonly heldBytes: number;
  readonly digest: string;
  readonly lastModified: string | undefined;
  /** The final URL: its validators are valid only there. */
  readonly href: string;
  /** The headers of a conditional request. */
  readonly validators: Readonly<Record<string, string>>;
}

/** A larger page is converted in another process, which does not block the server. */
const maxHtmlHere = 64 * 1024;
const maxTitle = 300;
const htmlTypes = new Set(["text/html", "application/xhtml+xml"]);
const typePattern = /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/;

export async function readPage(
  visited: FetchedResponse,
  path: string,
  extract: Extract,
  signal: AbortSignal,
): Promise<CachedPage> {
  const { headers, bytes, url } = visited;
  const size = bytes.length;
  const digest = digestOf(bytes);
  const contentType = String(headers["content-type"] ?? "");
  const named = contentType.split(";")[0]!.trim().toLowerCase();
  const type = typePattern.test(named) ? named : "application/octet-stream";
  const charset = /;\s*charset\s*=\s*"?([\w-]{2,30})/i.exec(contentType)?.[1];
  const etag = headers["etag"];
  const modified = headers["last-modified"];
  const isHtml = htmlTypes.has(type);
  const html = isHtml ? (textIn(bytes, charset) ?? decodeHtml(bytes)) : undefined;
  const text =
    html !== undefined
      ? await markdownOf(html, url, path, extract, signal)
      : isTextType(type)
        ? textIn(bytes, charset ?? "utf-8")
        : undefined;
  const title = html === undefined ? undefined : titleOf(html, text ?? "", url);
  const part: Part = {
    body: text === undefined ? { bytes } : { text },
    mimeType: isHtml ? "text/markdown" : type,
    freshness: freshnessOf(String(headers["cache-control"] ?? ""), Number(headers["age"] ?? 0)),
    ...(isHtml && { meta: { "pressmark/originalType": type, ...(title && { "pressmark/title": title }) } }),
  };
  const when = typeof modified === "string" ? new Date(modified) : undefined;
  return {
    part,
    title,
    size,
    heldBytes: text === undefined ? size : 2 * text.length,
    digest,
    lastModified: when && !Number.isNaN(when.getTime()) ? when.toISOString() : undefined,
    href: url.href,
    validators: {
      ...(typeof etag === "string" && { "If-None-Match": etag }),
      ...(typeof modified === "string" && { "If-Modified-Since": modified }),
    },
  };
}

export function digestOf(bytes: Uint8Array): string {
  return process.getBuiltinModule("node:crypto").hash("sha256", bytes, "base64url");
}

/** The title of the page, without the name of the site that follows it on every page. */
function titleOf(html: string, markdown: string, { href }: URL): string | undefined {
  const { title } = readHead(html, href);
  // A line that begins with "#" in a code block is not a heading.
  const heading = /^(?:# (.+)|```|~~~~)/m.exec(markdown)?.[1]?.replaceAll("`", "");
  const found = heading !== undefined && (title === "" || title.startsWith(heading)) ? heading : title;
  return found === "" ? undefined : found.slice(0, maxTitle);
}

async function markdownOf(
  html: string,
  { href }: URL,
  path: string,
  extract: Extract,
  signal: AbortSignal,
): Promise<string> {
  if (html.length <= maxHtmlHere && !needsSearch(html)) return pageToMarkdown(html, href);
  const convert = async (type: string) => {
    const document = { mimeType: `${type}${href}`, version: undefined, path, bytes: Buffer.from(html) };
    return (await extract.text(document, signal)).text.toString("utf8");
  };
  try {
    return await convert(pageType).catch((cause: unknown) => {
      if (!isTooLarge(cause)) throw cause;
      return convert(plainPageType);
    });
  } catch (cause) {
    if (!isTooLarge(cause)) throw cause;
    throw new ResourceError("too-large", `${quote(path)} exceeds the limits of the conversion to Markdown`, {
      cause,
      details: { reason: "too-large" },
    });
  }
}

function isTooLarge(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "too-large";
}

function textIn(bytes: Uint8Array, charset: string | undefined): string | undefined {
  if (charset === undefined) return undefined;
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** `ageSeconds` is how long a proxy has already cached it. */
function freshnessOf(control: string, ageSeconds: number): Partial<Freshness> {
  const seconds = Number(/(?:^|[,\s])max-age=(\d{1,9})/i.exec(control)?.[1] ?? 0) - (ageSeconds > 0 ? ageSeconds : 0);
  const isKept = !/no-store|no-cache/i.test(control) && seconds > 0;
  return {
    ttlMs: isKept ? Math.min(seconds, 86_400) * 1000 : 0,
    scope: /private|no-store/i.test(control) ? "private" : "public",
  };
}
