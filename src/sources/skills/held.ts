/** A file of a skill in memory: its bytes as they were read. */
import { encodeText } from "../../lib/text-encoding.ts";
import type { Encoding } from "../../lib/text-encoding.ts";
import type { Entry, Part } from "../../source.ts";

export interface HeldFile {
  readonly entry: Entry;
  readonly parts: readonly [Part];
  readonly digest: string;
  readonly size: number;
  /** The version of the file when it was read; absent if the next change might not alter it. */
  readonly seen: string | undefined;
}

const encodingKey = "pressmark/encoding";
const utf16Marks: Readonly<Record<string, readonly number[]>> = { "utf-16le": [0xff, 0xfe], "utf-16be": [0xfe, 0xff] };

/** Creates it from the parts of the file source. Undefined if the file has changed since it was seen. */
export function hold(seen: Entry, [part, ...more]: readonly Part[]): HeldFile | undefined {
  const exact = part === undefined || more.length > 0 ? undefined : exactly(part);
  if (exact === undefined || exact.bytes.length !== seen.size) return undefined;
  const digest = `sha256:${process.getBuiltinModule("node:crypto").hash("sha256", exact.bytes, "hex")}`;
  const { mimeType } = exact.part;
  const { path, size, annotations, reveals, version } = seen;
  return {
    entry: {
      path,
      mimeType,
      size,
      annotations,
      reveals,
      version: digest,
    },
    parts: [exact.part],
    digest,
    size,
    seen: version,
  };
}

/**
 * Text is served as text only if its UTF-8 equals the file byte by byte, including a byte order mark: hosts compare it with the digest. The
 * file source decodes other encodings as well, and guarantees that encoding gives the same bytes.
 */
function exactly(part: Part): { readonly part: Part; readonly bytes: Uint8Array } | undefined {
  const { body, meta, ...rest } = part;
  if ("bytes" in body) return { part, bytes: body.bytes };
  const name = String(meta?.[encodingKey] ?? "utf-8");
  const encoding = name.replace(/-bom$/, "") as Encoding;
  const isMarked = name !== encoding;
  if (encoding === "utf-8") {
    const text = isMarked ? `\ufeff${body.text}` : body.text;
    return { part: isMarked ? { ...rest, body: { text } } : part, bytes: Buffer.from(text, "utf8") };
  }
  const encoded = encodeText(body.text, encoding);
  if (encoded === undefined) return undefined;
  const bytes = Buffer.concat([Uint8Array.from(isMarked ? (utf16Marks[encoding] ?? []) : []), encoded]);
  return { part: { ...part, body: { bytes } }, bytes };
}
