/** Encodes addresses as bytes that a database sorts in list order: see lib/address-order. */

/**
 * The bytes of a path: comparing them compares the paths. Each code unit is written as UTF-8 would write it alone, which sorts
 * as UTF-16 does, and the slash comes before everything.
 */
export function toKey(path: string): Uint8Array {
  const bytes = new Uint8Array(path.length * 3);
  let length = 0;
  for (let at = 0; at < path.length; at += 1) {
    const unit = path.charCodeAt(at);
    const code = unit === slash ? 0 : unit < slash ? unit + 1 : unit;
    if (code < 0x80) bytes[length++] = code;
    else {
      if (code < 0x800) bytes[length++] = 0xc0 | (code >> 6);
      else {
        bytes[length++] = 0xe0 | (code >> 12);
        bytes[length++] = 0x80 | ((code >> 6) & 0x3f);
      }
      bytes[length++] = 0x80 | (code & 0x3f);
    }
  }
  return bytes.slice(0, length);
}

/** The inverse of `toKey`. */
export function fromKey(key: Uint8Array): string {
  let path = "";
  for (let at = 0; at < key.length;) {
    const first = key[at++]!;
    let code = first;
    if (first >= 0xe0) code = ((first & 0x0f) << 12) | ((key[at++]! & 0x3f) << 6) | (key[at++]! & 0x3f);
    else if (first >= 0xc0) code = ((first & 0x1f) << 6) | (key[at++]! & 0x3f);
    path += String.fromCharCode(code === 0 ? slash : code <= slash ? code - 1 : code);
  }
  return path;
}

/** Range of the keys of everything below a path; the end is not included. */
export function keysBelow(path: string): readonly [from: Uint8Array, to: Uint8Array] {
  // Everything below the mount itself: every key that is not empty.
  if (path === "") return [Uint8Array.of(0), Uint8Array.of(0xff)];
  const key = toKey(path);
  return [Uint8Array.of(...key, 0), Uint8Array.of(...key, 1)];
}

const slash = 0x2f;

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
