/** Number of bytes of texts in UTF-8 and of byte arrays. */
export function byteLength(pieces: readonly (string | Uint8Array)[]): number {
  let length = 0;
  for (const piece of pieces) length += typeof piece === "string" ? Buffer.byteLength(piece) : piece.length;
  return length;
}
