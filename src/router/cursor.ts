/** Encrypted list positions: a cursor can be neither read nor forged, and is valid only for the request that returned it. */
import { invalid, ResourceError } from "../errors.ts";
import { createTextSeal } from "../lib/sealed-text.ts";
import type { Address } from "../source.ts";

export interface Position {
  /** The mount that is being listed. */
  readonly mount: string;
  /** The source's cursor of the page in use; absent for its first. */
  readonly cursor?: string;
  /** The last address returned from that page; absent if none was. */
  readonly last?: Address;
  /** Number of entries requested for that page, in a list without order: with fewer, the last address might not be among them. */
  readonly limit?: number;
  /** Number of pages returned before. */
  readonly page: number;
}

export interface Cursors {
  /** Equal positions of one request give equal cursors, with the same key also after a restart. */
  seal(position: Position, request: string): string;
  /** Throws "invalid" for anything that `seal` did not make with this key for this request. */
  open(cursor: string, request: string): Position;
}

/** The key has 32 bytes. */
export function createCursors(key: Uint8Array): Cursors {
  if (key.length !== 32) throw invalid(`the cursor key must have 32 bytes; it has ${key.length}`);
  const { seal, open } = createTextSeal(key, "cursor");
  return {
    seal(position, request) {
      const cursor = seal(pack(position), request);
      if (cursor === undefined) throw new ResourceError("unexpected", "the list position is too long for a cursor");
      return cursor;
    },

    open(cursor, request) {
      const text = open(cursor, request);
      if (text === undefined) throw unfit();
      return unpack(text);
    },
  };
}

type Packed = [
  mount: string,
  page: number,
  cursor: string | null,
  path: string | null,
  query: Address["query"] | null,
  limit?: number,
];

function pack({ mount, page, cursor, last, limit }: Position): string {
  const packed: Packed = [mount, page, cursor ?? null, last?.path ?? null, last?.query ?? null];
  if (limit !== undefined) packed.push(limit);
  return JSON.stringify(packed);
}

/** Gets only what `pack` made: the seal has been checked. */
function unpack(text: string): Position {
  const [mount, page, cursor, path, query, limit]: Packed = JSON.parse(text);
  return {
    mount,
    page,
    ...(cursor !== null && { cursor }),
    ...(path !== null && { last: { path, ...(query && { query }) } }),
    ...(limit !== undefined && { limit }),
  };
}

export function unfit(): ResourceError {
  return invalid("the cursor is not valid for this list; start again from the first page");
}
