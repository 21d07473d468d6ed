/** Finds the differences between two trees in their bytes: most entries of a folder are the same in two commits, and are skipped. */

export interface RawEntry {
  readonly mode: string;
  readonly hash: string;
}

interface TreeDifference {
  readonly name: Buffer;
  readonly before?: RawEntry;
  readonly after?: RawEntry;
}

/** The position of an entry in its tree: mode, space, name, NUL, hash. */
interface Span {
  readonly from: number;
  readonly nameFrom: number;
  readonly nameTo: number;
  readonly to: number;
}

/** In tree order. A folder and a file of the same name are two differences. A truncated tree ends at its last complete entry. */
export function* differences(before: Buffer, after: Buffer, hashBytes: number): Generator<TreeDifference> {
  const start = sameUntil(before, after, hashBytes);
  let one = spanAt(before, start, hashBytes);
  let other = spanAt(after, start, hashBytes);
  while (one || other) {
    if (one && other) {
      if (before.compare(after, other.from, after.length, one.from, before.length) === 0) return;
      if (before.compare(after, other.from, other.to, one.from, one.to) === 0) {
        one = spanAt(before, one.to, hashBytes);
        other = spanAt(after, other.to, hashBytes);
        continue;
      }
    }
    const order = !one ? 1 : !other ? -1 : compareNames(before, one, after, other);
    const isBefore = one !== undefined && order <= 0;
    const isAfter = other !== undefined && order >= 0;
    yield {
      name: isBefore ? before.subarray(one!.nameFrom, one!.nameTo) : after.subarray(other!.nameFrom, other!.nameTo),
      ...(isBefore && { before: entryOf(before, one!) }),
      ...(isAfter && { after: entryOf(after, other!) }),
    };
    if (isBefore) one = spanAt(before, one!.to, hashBytes);
    if (isAfter) other = spanAt(after, other!.to, hashBytes);
  }
}

/** The start of the first entry that differs. */
function sameUntil(before: Buffer, after: Buffer, hashBytes: number): number {
  for (let from = 0; ;) {
    const nul = before.indexOf(0, from);
    const to = nul + 1 + hashBytes;
    if (nul < 0 || to > before.length || to > after.length) return from;
    if (before.compare(after, from, to, from, to) !== 0) return from;
    from = to;
  }
}

function spanAt(bytes: Buffer, from: number, hashBytes: number): Span | undefined {
  const nameTo = bytes.indexOf(0, from);
  const nameFrom = bytes.indexOf(0x20, from) + 1;
  const to = nameTo + 1 + hashBytes;
  return nameTo < 0 || nameFrom === 0 || nameFrom > nameTo || to > bytes.length
    ? undefined
    : { from, nameFrom, nameTo, to };
}

function entryOf(bytes: Buffer, { from, nameFrom, nameTo, to }: Span): RawEntry {
  return { mode: bytes.toString("latin1", from, nameFrom - 1), hash: bytes.toString("hex", nameTo + 1, to) };
}

/** Git sorts a folder as if its name ended with a slash. */
function compareNames(before: Buffer, one: Span, after: Buffer, other: Span): number {
  const length = Math.min(one.nameTo - one.nameFrom, other.nameTo - other.nameFrom);
  const order = before.compare(after, other.nameFrom, other.nameFrom + length, one.nameFrom, one.nameFrom + length);
  if (order !== 0) return order;
  return byteAt(before, one, length) - byteAt(after, other, length);
}

function byteAt(bytes: Buffer, { from, nameFrom, nameTo }: Span, at: number): number {
  if (nameFrom + at < nameTo) return bytes[nameFrom + at] as number;
  // The mode of a folder is 40000; all other modes have six digits.
  return nameFrom - 1 - from === 5 || bytes.toString("latin1", from, from + 2) === "04" ? 0x2f : 0;
}
