/** Decodes a header that repeats a value of the body. */

const sentinelStart = "=?base64?";
const sentinelEnd = "?=";

/** Decodes values that a header cannot carry directly: base64 of UTF-8 between two marks. Undefined if it is not base64. */
export function decodeHeader(value: string): string | undefined {
  if (!value.startsWith(sentinelStart) || !value.endsWith(sentinelEnd)) return value;
  const encoded = value.slice(sentinelStart.length, -sentinelEnd.length);
  const bytes = Buffer.from(encoded, "base64");
  // One spelling only: others on the way may compare the encoded value.
  if (bytes.toString("base64") !== encoded) return undefined;
  return bytes.toString("utf8");
}
