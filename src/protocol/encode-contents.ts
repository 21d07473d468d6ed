/** Encodes the contents of a read as JSON, and caches the encoding of large bodies. */
import type { Body, Content } from "../resources.ts";
import { base64 } from "./shape.ts";
import type { RevisionFeatures } from "./revision.ts";

/** From this length on, encoding again costs more than caching. */
const minRemembered = 16 * 1024;

/** Lives as long as the body: a source or cache that returns the same body saves the encoding. */
const encodings = new WeakMap<Body, Uint8Array>();

function format(body: Body): string | Uint8Array {
  const known = encodings.get(body);
  if (known) return known;
  const isText = "text" in body;
  const length = isText ? body.text.length : body.bytes.length;
  // Base64 needs no escapes.
  const encoded = isText ? JSON.stringify(body.text) : `"${base64(body.bytes)}"`;
  if (length < minRemembered) return encoded;
  const bytes = Buffer.from(encoded);
  encodings.set(body, bytes);
  return bytes;
}

export function encodeContents(contents: readonly Content[], has: RevisionFeatures): (string | Uint8Array)[] {
  const pieces: (string | Uint8Array)[] = [];
  let text = "[";
  for (const [index, { uri, mimeType, body, meta }] of contents.entries()) {
    text += `${index ? "," : ""}{"uri":${JSON.stringify(uri)}`;
    if (mimeType !== undefined) text += `,"mimeType":${JSON.stringify(mimeType)}`;
    text += "text" in body ? `,"text":` : `,"blob":`;
    const encoded = format(body);
    if (typeof encoded === "string") text += encoded;
    else {
      pieces.push(text, encoded);
      text = "";
    }
    text += has.titles && meta ? `,"_meta":${JSON.stringify(meta)}}` : "}";
  }
  pieces.push(`${text}]`);
  return pieces;
}
