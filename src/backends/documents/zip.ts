/** The entries of a ZIP file, each unpacked on request, within a size limit. */
import { inflateRawSync } from "node:zlib";
import { DocumentError } from "./document-error.ts";

export interface Zip {
  readonly names: readonly string[];
  /** Undefined if there is no such entry. */
  read(name: string): Uint8Array | undefined;
}

interface ZipLimits {
  readonly maxEntries?: number;
  /** Limit for everything that is unpacked. */
  readonly maxBytes?: number;
}

interface Entry {
  readonly method: number;
  readonly isEncrypted: boolean;
  readonly packedBytes: number;
  readonly at: number;
}

const endMark = 0x06054b50;
const centralMark = 0x02014b50;
const localMark = 0x04034b50;
const endBytes = 22;

export function openZip(bytes: Uint8Array, { maxEntries = 10_000, maxBytes = 256 * 1024 * 1024 }: ZipLimits = {}): Zip {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = readDirectory(bytes, view, maxEntries);
  let left = maxBytes;

  function unpack(name: string, { method, isEncrypted, packedBytes, at }: Entry): Uint8Array {
    if (isEncrypted) throw new DocumentError("protected", "it is protected by a password");
    if (at + 30 > bytes.length || view.getUint32(at, true) !== localMark)
      throw malformed("an entry is not at its stated position");
    const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
    const packed = bytes.subarray(start, start + packedBytes);
    if (packed.length < packedBytes) throw malformed("it is truncated");
    if (method === 0) {
      left -= packed.length;
      if (left < 0) throw tooLarge(maxBytes);
      return packed;
    }
    if (method !== 8)
      throw malformed(`the entry ${JSON.stringify(name.slice(0, 80))} uses an unknown compression method`);
    try {
      const unpacked = inflateRawSync(packed, { maxOutputLength: Math.max(1, left) });
      left -= unpacked.length;
      return unpacked;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxBytes);
      throw malformed("an entry cannot be unpacked", cause);
    }
  }

  return {
    names: [...entries.keys()],
    read(name) {
      const entry = entries.get(name);
      return entry && unpack(name, entry);
    },
  };
}

function readDirectory(bytes: Uint8Array, view: DataView, maxEntries: number): Map<string, Entry> {
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  let at = view.getUint32(end + 16, true);
  if (count > maxEntries) throw new DocumentError("too-large", `it has more than ${maxEntries} entries`);
  if (at === 0xffffffff) throw malformed("it is a kind of ZIP file that is not supported");
  const entries = new Map<string, Entry>();
  const decoder = new TextDecoder();
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > bytes.length || view.getUint32(at, true) !== centralMark) throw malformed("its directory is damaged");
    const nameBytes = view.getUint16(at + 28, true);
    const extraBytes = view.getUint16(at + 30, true);
    const name = decoder.decode(bytes.subarray(at + 46, at + 46 + nameBytes)).replaceAll("\\", "/");
    entries.set(name, {
      method: view.getUint16(at + 10, true),
      isEncrypted: (view.getUint16(at + 8, true) & 1) === 1,
      packedBytes: view.getUint32(at + 20, true),
      at: view.getUint32(at + 42, true),
    });
    at += 46 + nameBytes + extraBytes + view.getUint16(at + 32, true);
  }
  return entries;
}

/** The end record comes last, except for a comment. */
function findEnd(view: DataView): number {
  const lowest = Math.max(0, view.byteLength - endBytes - 0xffff);
  for (let at = view.byteLength - endBytes; at >= lowest; at -= 1) if (view.getUint32(at, true) === endMark) return at;
  throw malformed("it is not a ZIP file, or is truncated");
}

function malformed(message: string, cause?: unknown): DocumentError {
  return new DocumentError("malformed", message, cause);
}

function tooLarge(maxBytes: number): DocumentError {
  return new DocumentError("too-large", `it unpacks to more than ${maxBytes} bytes`);
}
