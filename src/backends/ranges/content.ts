/** Classifies the bytes of a file: text if it decodes without loss, else binary. */
import { isAscii, isUtf8 } from "node:buffer";
import { isTextType, mimeOfName } from "../../lib/mime.ts";
import { isSure, mayBe, sniff } from "../../lib/sniff.ts";
import { decodeExactly, findEncoding, type FoundEncoding } from "../../lib/text-encoding.ts";
import type { Part } from "../../source.ts";

export interface ContentKind {
  readonly mimeType: string;
  /** Absent for binary content. */
  readonly text?: FoundEncoding;
}

const escape = 0x1b;

/** Copies the bytes, because the buffer may be overwritten later. */
export function toPart(name: string, bytes: Buffer): Part {
  const named = mimeOfName(name);
  const isSevenBit = isAscii(bytes);
  if ((isSevenBit || isUtf8(bytes)) && !bytes.includes(0) && !isOfItsName(bytes, named)) {
    const mimeType = textType(named);
    if (!isSevenBit && !isMarked(bytes)) return { body: { text: bytes.toString("utf8") }, mimeType };
    if (isSevenBit && !bytes.includes(escape)) return { body: { text: bytes.toString("latin1") }, mimeType };
  }
  const kind = classifyContent(name, bytes, false);
  const text = kind.text && decodeExactly(bytes.subarray(kind.text.markBytes), kind.text.encoding);
  if (text === undefined) return bytesPart(bytes, kind.text ? "application/octet-stream" : kind.mimeType);
  const meta = kind.text && encodingMeta(kind.text);
  return meta ? { body: { text }, mimeType: kind.mimeType, meta } : { body: { text }, mimeType: kind.mimeType };
}

/** The type of content, judged by its name and its beginning; `mayGoOn` if there is more content after `head`. */
export function classifyContent(name: string, head: Uint8Array, mayGoOn: boolean): ContentKind {
  const named = mimeOfName(name);
  if (isOfItsName(head, named)) return { mimeType: named as string };
  const text = isSure(head) && !isUtf8(head) ? undefined : findEncoding(head, mayGoOn);
  return text ? { mimeType: textType(named), text } : { mimeType: binaryType(head, named) };
}

export function bytesPart(bytes: Uint8Array, mimeType: string): Part {
  return { body: { bytes: Uint8Array.prototype.slice.call(bytes) }, mimeType };
}

const encodingMetas = new Map<string, Readonly<Record<string, unknown>>>();

/** The encoding's name, with `-bom` if a byte order mark was removed. Undefined for plain UTF-8. */
export function encodingMeta({ encoding, markBytes }: FoundEncoding): Readonly<Record<string, unknown>> | undefined {
  const name = markBytes > 0 ? `${encoding}-bom` : encoding;
  if (name === "utf-8") return undefined;
  let meta = encodingMetas.get(name);
  if (!meta) encodingMetas.set(name, (meta = { "pressmark/encoding": name }));
  return meta;
}

function isMarked(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}

function textType(named: string | undefined): string {
  return named !== undefined && isTextType(named) ? named : "text/plain";
}

/** Whether name and content agree on a binary type although the bytes are valid text, such as a plain PDF. */
function isOfItsName(bytes: Uint8Array, named: string | undefined): boolean {
  return named !== undefined && bytes.length > 0 && !isTextType(named) && sniff(bytes) === named;
}

function binaryType(bytes: Uint8Array, named: string | undefined): string {
  const sniffed = sniff(bytes);
  if (sniffed !== undefined) return named !== undefined && mayBe(sniffed, named) ? named : sniffed;
  return named !== undefined && !isTextType(named) ? named : "application/octet-stream";
}
