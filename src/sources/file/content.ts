/** What the bytes of a file are: text where that says exactly the same, bytes otherwise. */
import { isAscii, isUtf8 } from "node:buffer";
import { isTextType, mimeOfName } from "../../lib/mime.ts";
import { mayBe, sniff } from "../../lib/sniff.ts";
import type { Part } from "../../source.ts";

/** The bytes are copied: they may be overwritten afterwards. */
export function toPart(name: string, bytes: Buffer): Part {
  const named = mimeOfName(name);
  if (isUtf8(bytes) && !bytes.includes(0) && !isOfItsName(bytes, named)) {
    const mimeType = named !== undefined && isTextType(named) ? named : "text/plain";
    if (isAscii(bytes)) return { body: { text: bytes.toString("latin1") }, mimeType };
    const isMarked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    if (!isMarked) return { body: { text: bytes.toString("utf8") }, mimeType };
    return { body: { text: bytes.toString("utf8", 3) }, mimeType, meta: { encoding: "utf-8-bom" } };
  }
  return { body: { bytes: Uint8Array.prototype.slice.call(bytes) }, mimeType: binaryType(bytes, named) };
}

/** Whether name and content agree on something that is no text, though it could be read as such: a plain PDF. */
function isOfItsName(bytes: Buffer, named: string | undefined): boolean {
  return named !== undefined && bytes.length > 0 && !isTextType(named) && sniff(bytes) === named;
}

function binaryType(bytes: Buffer, named: string | undefined): string {
  const sniffed = sniff(bytes);
  if (sniffed !== undefined) return named !== undefined && mayBe(sniffed, named) ? named : sniffed;
  return named !== undefined && !isTextType(named) ? named : "application/octet-stream";
}
