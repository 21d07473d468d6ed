/** Converts a response: HTML to Markdown, other text to text, anything else to bytes. */
import { quote, ResourceError } from "../../errors.ts";
import { decodeHtml, htmlToMarkdown } from "../../backends/documents/html.ts";
import { isTextType } from "../../lib/mime.ts";
import type { Freshness } from "../../resources.ts";
import type { Part } from "../../source.ts";
import type { Extract } from "../../backends/documents/extract.ts";
import type { FetchedResponse } from "../../backends/web/guarded-request.ts";

export interface CachedPage {
  readonly part: Part;
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

/** A larger page is converted in a thread, which does not block the server. */
const maxHtmlHere = 64 * 1024;
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
  const digest = process.getBuiltinModule("node:crypto").hash("sha256", bytes, "base64url");
  const contentType = String(headers["content-type"] ?? "");
  const named = contentType.split(";")[0]!.trim().toLowerCase();
  const type = typePattern.test(named) ? named : "application/octet-stream";
  const charset = /;\s*charset\s*=\s*"?([\w-]{2,30})/i.exec(contentType)?.[1];
  const etag = headers["etag"];
  const modified = headers["last-modified"];
  const isHtml = htmlTypes.has(type);
  const text = isHtml
    ? await markdownOf(bytes, charset, path, extract, signal)
    : isTextType(type)
      ? textIn(bytes, charset ?? "utf-8")
      : undefined;
  const part: Part = {
    body: text === undefined ? { bytes } : { text },
    mimeType: isHtml ? "text/markdown" : type,
    freshness: freshnessOf(String(headers["cache-control"] ?? ""), Number(headers["age"] ?? 0)),
    ...(isHtml && { meta: { "pressmark/originalType": type } }),
  };
  const when = typeof modified === "string" ? new Date(modified) : undefined;
  return {
    part,
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

async function markdownOf(
  bytes: Buffer,
  charset: string | undefined,
  path: string,
  extract: Extract,
  signal: AbortSignal,
): Promise<string> {
  const html = textIn(bytes, charset);
  if (bytes.length <= maxHtmlHere) return htmlToMarkdown(html ?? decodeHtml(bytes));
  const document = { mimeType: "text/html", version: undefined, path };
  try {
    const found = await extract.text({ ...document, bytes: html === undefined ? bytes : Buffer.from(html) }, signal);
    return found.text.toString("utf8");
  } catch (cause) {
    if (!(cause instanceof ResourceError) || cause.kind !== "too-large") throw cause;
    throw new ResourceError("too-large", `${quote(path)} exceeds the limits of the conversion to Markdown`, {
      cause,
      details: { reason: "too-large" },
    });
  }
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
