/**
 * A tag-by-tag parser for the XML in office documents. Document types are rejected, so there are no custom entities and no entity bombs.
 */
import { fromCode } from "../../lib/html-entities.ts";
import { DocumentError } from "./document-error.ts";

export interface XmlHandler {
  /** `name` has no prefix. */
  open(name: string, tag: XmlTag): void;
  /** Also called for an empty element. */
  close(name: string): void;
  text?(text: string): void;
}

interface XmlTag {
  /** The value of an attribute, by its name without prefix, or with it if two would be equal. */
  get(name: string): string | undefined;
}

const maxDepth = 10_000;

export function scanXml(source: string, { open, close, text }: XmlHandler): void {
  let depth = 0;
  for (let at = 0; at < source.length;) {
    const start = source.indexOf("<", at);
    const before = start < 0 ? source.length : start;
    if (text && before > at) text(decodeEntities(source.slice(at, before)));
    if (start < 0) return;
    const next = source.charCodeAt(start + 1);
    if (next === exclamation) {
      at = skipDeclaration(source, start, text);
      continue;
    }
    if (next === question) {
      at = after(source, "?>", start);
      continue;
    }
    const end = endOfTag(source, start + 1);
    if (next === slash) {
      depth -= 1;
      close(localName(source.slice(start + 2, end).trimEnd()));
    } else {
      const isEmpty = source.charCodeAt(end - 1) === slash;
      const tag = source.slice(start + 1, isEmpty ? end - 1 : end);
      const space = tag.search(/\s/);
      const name = localName(space < 0 ? tag : tag.slice(0, space));
      open(name, { get: (wanted) => (space < 0 ? undefined : attributeOf(tag, space, wanted)) });
      if (isEmpty) close(name);
      else if ((depth += 1) > maxDepth) throw new DocumentError("too-large", "its elements are nested too deeply");
    }
    at = end + 1;
  }
}

const exclamation = 0x21;
const question = 0x3f;
const slash = 0x2f;

function skipDeclaration(source: string, start: number, text: XmlHandler["text"]): number {
  if (source.startsWith("<!--", start)) return after(source, "-->", start + 4);
  if (!source.startsWith("<![CDATA[", start))
    throw new DocumentError("malformed", "it declares a document type, which is not allowed");
  const end = after(source, "]]>", start);
  text?.(source.slice(start + 9, end - 3));
  return end;
}

function after(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  if (found < 0) throw cutOff();
  return found + mark.length;
}

/** An attribute value may contain ">". */
function endOfTag(source: string, from: number): number {
  for (let at = from; at < source.length; at += 1) {
    const code = source.charCodeAt(at);
    if (code === greater) return at;
    if (code !== doubleQuote && code !== singleQuote) continue;
    at = source.indexOf(code === doubleQuote ? '"' : "'", at + 1);
    if (at < 0) break;
  }
  throw cutOff();
}

const greater = 0x3e;
const doubleQuote = 0x22;
const singleQuote = 0x27;

function localName(name: string): string {
  const colon = name.indexOf(":");
  return colon < 0 ? name : name.slice(colon + 1);
}

function attributeOf(tag: string, from: number, wanted: string): string | undefined {
  for (let at = from; ;) {
    const equals = tag.indexOf("=", at);
    if (equals < 0) return undefined;
    const name = tag.slice(at, equals).trim();
    let open = equals + 1;
    while (open < tag.length && tag.charCodeAt(open) <= 0x20) open += 1;
    const mark = tag.charAt(open);
    const close = mark === '"' || mark === "'" ? tag.indexOf(mark, open + 1) : -1;
    if (close < 0) return undefined;
    if (name === wanted || localName(name) === wanted) return decodeEntities(tag.slice(open + 1, close));
    at = close + 1;
  }
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{1,8}));/gi,
    (whole, decimal, hex, name: string | undefined) =>
      name === undefined
        ? fromCode(decimal ? Number(decimal) : Number.parseInt(hex as string, 16))
        : (entities[name] ?? whole),
  );
}

/** Decodes an XML file by its byte order mark, else as UTF-8. */
export function decodeXml(bytes: Uint8Array): string {
  const isWide = (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
  return new TextDecoder(isWide ? (bytes[0] === 0xff ? "utf-16le" : "utf-16be") : "utf-8").decode(bytes);
}

function cutOff(): DocumentError {
  return new DocumentError("malformed", "its XML is truncated");
}
