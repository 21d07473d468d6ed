/** Encodes addresses as bytes that a database sorts in list order: see lib/address-order. */
import { readTerm, writeTerm } from "./bytes.ts";

/** The bytes of a path: comparing them compares the paths as UTF-16 does, except that the slash comes before everything. */
export function toKey(path: string): Uint8Array {
  const bytes = new Uint8Array(path.length * 3);
  const shifted = path.replace(upToSlash, (sign) =>
    sign === "/" ? "\0" : String.fromCharCode(sign.charCodeAt(0) + 1),
  );
  return bytes.slice(0, writeTerm(shifted, bytes));
}

/** The inverse of `toKey`. */
export function fromKey(key: Uint8Array): string {
  return readTerm(key, 0, key.length).replace(upToSlash, (sign) =>
    sign === "\0" ? "/" : String.fromCharCode(sign.charCodeAt(0) - 1),
  );
}

/** The code units from 0 to that of the slash, which comes directly before the digit 0. */
const upToSlash = /[^0-\uffff]/g;

/** Range of the keys of everything below a path; the end is not included. */
export function keysBelow(path: string): readonly [from: Uint8Array, to: Uint8Array] {
  // Everything below the mount itself: every key that is not empty.
  if (path === "") return [Uint8Array.of(0), Uint8Array.of(0xff)];
  const key = toKey(path);
  return [Uint8Array.of(...key, 0), Uint8Array.of(...key, 1)];
}

/** One canonical text for each query, with sorted names. "" if there is no query. */
export function encodeQuery(query: Readonly<Record<string, string>> | undefined): string {
  if (!query) return "";
  const names = Object.keys(query).sort();
  return names.length === 0 ? "" : JSON.stringify(names.map((name) => [name, query[name]]));
}

/** The inverse of `encodeQuery`. */
export function readQuery(text: string): Record<string, string> | undefined {
  return text === "" ? undefined : Object.fromEntries(JSON.parse(text) as [string, string][]);
}
