/** Encodes the contents of a read as JSON, and caches the encoding of large bodies. */
import { hash } from "node:crypto";
import type { Body, Content } from "../resources.ts";
import { base64 } from "./shape.ts";
import type { RevisionFeatures } from "./revision.ts";

/** From this length on, encoding again costs more than caching. */
const minRemembered = 16 * 1024;

/** Lives as long as the body: a source or cache that returns the same body saves the encoding. */
const encodings = new WeakMap<Body, Uint8Array>();
const digests = new WeakMap<Body, string>();

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

function digestOf(body: Body): string {
  const known = digests.get(body);
  if (known !== undefined) return known;
  const encoded = format(body);
  const digest = hash("sha256", encoded, "base64url");
  if (typeof encoded !== "string") digests.set(body, digest);
  return digest;
}

/** Equal for contents with equal encodings, and for no others. */
export function validatorOf(contents: readonly Content[]): string {
  const all = contents.map(({ uri, mimeType, body, meta }) => [uri, mimeType, "text" in body, digestOf(body), meta]);
  return hash("sha256", JSON.stringify(all), "base64url");
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
