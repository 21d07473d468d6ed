/** Where a list goes on: sealed, so that a cursor can be neither read nor made up, and fits only the question it was given for. */
import { invalid, ResourceError } from "../errors.ts";
import type { Address } from "../source.ts";

export interface Position {
  /** The mount that is being listed. */
  readonly mount: string;
  /** The source's own cursor of the page that is being used up; absent for its first. */
  readonly cursor?: string;
  /** The last address given from that page; absent when none was. */
  readonly last?: Address;
  /** How many pages were given before. */
  readonly page: number;
}

export interface Cursors {
  /** Equal positions of one question give equal cursors, under the same key also after a restart. */
  seal(position: Position, question: string): string;
  /** What `seal` did not make with this key for this question throws "invalid". */
  open(cursor: string, question: string): Position;
}

const version = 1;
const nonceLength = 12;
const tagLength = 16;
/** Texts are filled up to a multiple of this, so that the length of a cursor says nothing of what was passed over. */
const fill = 256;
const maxLength = 65_536;

/** The key has 32 bytes. Nothing is loaded or derived before the first cursor. */
export function createCursors(key: Uint8Array): Cursors {
  if (key.length !== 32) throw invalid(`the key for cursors must have 32 bytes; this one has ${key.length}`);
  let made: ReturnType<typeof derive> | undefined;
  const tools = () => (made ??= derive(key));

  return {
    seal(position, question) {
      const { crypto, sealing, naming } = tools();
      const text = pack(position);
      const header = headerOf(question);
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
        throw new ResourceError("unexpected", "the place in the list is too long for a cursor");
      return cursor;
    },

    open(cursor, question) {
      if (cursor.length > maxLength) throw unfit();
      const sealed = Buffer.from(cursor, "base64url");
      // Decoding forgives stray characters and bits; a second spelling of a cursor is no cursor.
      if (sealed.length < 1 + nonceLength + tagLength || sealed[0] !== version) throw unfit();
      if (sealed.toString("base64url") !== cursor) throw unfit();
      const { crypto, sealing } = tools();
      try {
        const nonce = sealed.subarray(1, 1 + nonceLength);
        const decipher = crypto.createDecipheriv("aes-256-gcm", sealing, nonce, { authTagLength: tagLength });
        decipher.setAAD(headerOf(question));
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

/** Begins with its own length, so that no header and text run into each other. */
function headerOf(question: string): Buffer {
  const asked = Buffer.from(question, "utf8");
  const length = Buffer.alloc(4);
  length.writeUInt32BE(asked.length);
  return Buffer.concat([Buffer.of(version), length, asked]);
}

type Packed = [mount: string, page: number, cursor: string | null, path: string | null, query: Address["query"] | null];

function pack({ mount, page, cursor, last }: Position): Buffer {
  const packed: Packed = [mount, page, cursor ?? null, last?.path ?? null, last?.query ?? null];
  const text = Buffer.from(JSON.stringify(packed), "utf8");
  return Buffer.concat([text, Buffer.alloc((fill - (text.length % fill)) % fill, " ")]);
}

/** Only ever given what `pack` made: the seal has been checked. */
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
  return invalid("the cursor does not fit this list; start again from the first page");
}
