/** The body of an answer of which nobody knows how long it is. */

/** Undefined where it has more bytes than this; what is left of it is then not waited for. */
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
