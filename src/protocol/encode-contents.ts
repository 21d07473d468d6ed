/** The contents of a read as JSON text, remembering how large bodies were spelled. */
import type { Body, Content } from "../resources.ts";
import { base64 } from "./shape.ts";
import type { RevisionFeatures } from "./revision.ts";

/** From this length on, spelling a body again costs more than keeping its spelling. */
const minRemembered = 16 * 1024;

/** Lives exactly as long as the body itself: a source or a cache that hands out the same body saves the spelling. */
const spellings = new WeakMap<Body, Uint8Array>();

function format(body: Body): string | Uint8Array {
  const known = spellings.get(body);
  if (known) return known;
  const isText = "text" in body;
  const length = isText ? body.text.length : body.bytes.length;
  // Base64 needs no escapes.
  const spelled = isText ? JSON.stringify(body.text) : `"${base64(body.bytes)}"`;
  if (length < minRemembered) return spelled;
  const bytes = Buffer.from(spelled);
  spellings.set(body, bytes);
  return bytes;
}

export function encodeContents(contents: readonly Content[], has: RevisionFeatures): (string | Uint8Array)[] {
  const pieces: (string | Uint8Array)[] = [];
  let text = "[";
  for (const [index, { uri, mimeType, body, meta }] of contents.entries()) {
    text += `${index ? "," : ""}{"uri":${JSON.stringify(uri)}`;
    if (mimeType !== undefined) text += `,"mimeType":${JSON.stringify(mimeType)}`;
    text += "text" in body ? `,"text":` : `,"blob":`;
    const spelled = format(body);
    if (typeof spelled === "string") text += spelled;
    else {
      pieces.push(text, spelled);
      text = "";
    }
    text += has.titles && meta ? `,"_meta":${JSON.stringify(meta)}}` : "}";
  }
  pieces.push(`${text}]`);
  return pieces;
}
