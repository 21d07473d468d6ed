/** Checks names and keys of records, so that every store accepts the same. */
import { invalid, quote } from "../errors.ts";

const maxBytes = 2000;

/** A key is well-formed text without NUL, of at most 2000 bytes. */
export function checkKey(key: string): void {
  if (!key.isWellFormed() || key.includes("\0"))
    throw invalid(`the key ${quote(key, 50)} contains a character that cannot be stored`);
  if (Buffer.byteLength(key) > maxBytes)
    throw invalid(`the key ${quote(key, 50)} is longer than ${maxBytes} bytes; shorten it`);
}

/** Kinds and logs are written by programmers: small letters, digits, and some punctuation. */
export function checkName(name: string): void {
  if (!/^[a-z][a-z0-9:._-]{0,99}$/.test(name)) throw invalid(`${quote(name, 50)} is not a valid kind of record`);
}

/** The order of keys: by code points, as in PostgreSQL's collation "C". */
export function compareKeys(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
