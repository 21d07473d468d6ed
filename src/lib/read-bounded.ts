/** Reads a body of unknown length. */

/** Undefined if it has more bytes than `most`; the rest is not read. */
export async function takeUpTo(most: number, body: AsyncIterable<Uint8Array> | null): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body ?? []) {
    size += piece.length;
    if (size > most) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
