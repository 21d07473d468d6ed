/** Ranges of a part that is already in memory. */
import type { Address, Part } from "../../source.ts";
import type { ContentKind } from "./content.ts";
import { parseReadQuery, readRange, type Stretch } from "./range.ts";

interface CutOptions {
  readonly maxBytes: number;
  readonly signal: AbortSignal;
}

/** The lines or bytes that the query names, counted in the part as UTF-8. Undefined if it names none. */
export async function cutPart(
  part: Part,
  { path, query = {} }: Address,
  options: CutOptions,
): Promise<Part | undefined> {
  const { lines, bytes, ...others } = query;
  const range = parseReadQuery({ ...(lines !== undefined && { lines }), ...(bytes !== undefined && { bytes }) })?.range;
  if (!range) return undefined;
  const { body, mimeType = "application/octet-stream" } = part;
  const all = "text" in body ? Buffer.from(body.text, "utf8") : Buffer.from(body.bytes);
  const kind: ContentKind = "text" in body ? { mimeType, text: { encoding: "utf-8", markBytes: 0 } } : { mimeType };
  const stretch: Stretch = { size: all.length, read: (from, length) => all.subarray(from, from + length) };
  const prefix = Object.entries(others)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}&`)
    .join("");
  return readRange(stretch, range, { path, kind, prefix, ...options });
}
