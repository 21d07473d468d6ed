/** Encrypted list positions: a cursor can be neither read nor forged, and is valid only for the request that returned it. */
import { invalid, ResourceError } from "../errors.ts";
import type { Address } from "../source.ts";

export interface Position {
  /** The mount that is being listed. */
  readonly mount: string;
  /** The source's cursor of the page in use; absent for its first. */
  readonly cursor?: string;
  /** The last address returned from that page; absent if none was. */
  readonly last?: Address;
  /** Number of pages returned before. */
  readonly page: number;
}

export interface Cursors {
  /** Equal positions of one request give equal cursors, with the same key also after a restart. */
  seal(position: Position, request: string): string;
  /** Throws "invalid" for anything that `seal` did not make with this key for this request. */
  open(cursor: string, request: string): Position;
}

const version = 1;
const nonceLength = 12;
const tagLength = 16;
/** Texts are padded to a multiple of this, so that the length of a cursor reveals nothing about hidden entries. */
const fill = 256;
const maxLength = 65_536;

/** The key has 32 bytes. Crypto is loaded and keys are derived when the first cursor is used. */
export function createCursors(key: Uint8Array): Cursors {
  if (key.length !== 32) throw invalid(`the cursor key must have 32 bytes; it has ${key.length}`);
  let made: ReturnType<typeof derive> | undefined;
  const tools = () => (made ??= derive(key));

  return {
    seal(position, request) {
      const { crypto, sealing, naming } = tools();
      const text = pack(position);
      const header = headerOf(request);
      const nonce = crypto.createHmac("sha256", naming).update(header).update(text).digest().subarray(0, nonceLength);
      const cipher = crypto.createCipheriv("aes-256-gcm", sealing, nonce, { authTagLength: tagLength });
      cipher.setAAD(header);
      const sealed = Buffer.concat([
        Buffer.of(version),
        nonce,
        cipher.update(text),
        cipher.final(),
        cipher.getAuthTag(),
      ]);
      const cursor = sealed.toString("base64url");
      if (cursor.length > maxLength)
        throw new ResourceError("unexpected", "the list position is too long for a cursor");
      return cursor;
    },

    open(cursor, request) {
      if (cursor.length > maxLength) throw unfit();
      const sealed = Buffer.from(cursor, "base64url");
      // The decoder ignores stray characters and bits; only the canonical form of a cursor is valid.
      if (sealed.length < 1 + nonceLength + tagLength || sealed[0] !== version) throw unfit();
      if (sealed.toString("base64url") !== cursor) throw unfit();
      const { crypto, sealing } = tools();
      try {
        const nonce = sealed.subarray(1, 1 + nonceLength);
        const decipher = crypto.createDecipheriv("aes-256-gcm", sealing, nonce, { authTagLength: tagLength });
        decipher.setAAD(headerOf(request));
        decipher.setAuthTag(sealed.subarray(-tagLength));
        const text = decipher.update(sealed.subarray(1 + nonceLength, -tagLength));
        return unpack(Buffer.concat([text, decipher.final()]).toString("utf8"));
      } catch {
        throw unfit();
      }
    },
  };
}

function derive(key: Uint8Array) {
  const crypto = process.getBuiltinModule("node:crypto");
  const derived = (use: string) => crypto.createHmac("sha256", key).update(use).digest();
  return { crypto, sealing: derived("pressmark cursor: sealing"), naming: derived("pressmark cursor: nonce") };
}

/** Begins with its own length, so that header and text cannot be confused. */
function headerOf(request: string): Buffer {
  const bytes = Buffer.from(request, "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(bytes.length);
  return Buffer.concat([Buffer.of(version), length, bytes]);
}

type Packed = [mount: string, page: number, cursor: string | null, path: string | null, query: Address["query"] | null];

function pack({ mount, page, cursor, last }: Position): Buffer {
  const packed: Packed = [mount, page, cursor ?? null, last?.path ?? null, last?.query ?? null];
  const text = Buffer.from(JSON.stringify(packed), "utf8");
  return Buffer.concat([text, Buffer.alloc((fill - (text.length % fill)) % fill, " ")]);
}

/** Gets only what `pack` made: the seal has been checked. */
function unpack(text: string): Position {
  const [mount, page, cursor, path, query]: Packed = JSON.parse(text);
  return {
    mount,
    page,
    ...(cursor !== null && { cursor }),
    ...(path !== null && { last: { path, ...(query && { query }) } }),
  };
}

export function unfit(): ResourceError {
  return invalid("the cursor is not valid for this list; start again from the first page");
}
