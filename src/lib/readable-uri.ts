/** URIs with their letters written out, as RFC 3987 allows: `notes://設計/決済.md` for `notes://%E8%A8%AD…`. */
import { visibleText } from "./visible-text.ts";

// In upper case only, so that encoding gives the same URI again.
const escapes = /(?:%[89A-F][0-9A-F])+/g;

/** Decodes visible characters beyond ASCII. `encodeReadableUri` gives the URI back. */
export function readableUri(uri: string): string {
  return hasOnlyAscii(uri) ? uri.replaceAll(escapes, decodeVisible) : uri;
}

/** The URI of a readable URI; any other URI is returned unchanged. */
export function encodeReadableUri(readable: string): string {
  return hasOnlyAscii(readable) || !readable.isWellFormed()
    ? readable
    : readable.replaceAll(/[^\0-\u007f]+/g, encodeURIComponent);
}

/** A part of a URI for display only: decodes all that is visible, spaces and slashes, too. */
export function decodeForDisplay(part: string): string {
  return part.replaceAll(/(?:%[0-9A-F]{2})+/gi, decodeVisible);
}

function decodeVisible(run: string): string {
  try {
    return [...decodeURIComponent(run)].map((each) => (isVisible(each) ? each : encodeURIComponent(each))).join("");
  } catch {
    return run;
  }
}

function isVisible(character: string): boolean {
  return visibleText(character) === character;
}

function hasOnlyAscii(text: string): boolean {
  return /^[\0-\u007f]*$/.test(text);
}
