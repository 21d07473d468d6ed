/** Documents whose text the server extracts for `?as=text`. */
import type { Content } from "../resources.ts";

export const documentType = /^application\/(?:pdf|vnd\.(?:openxmlformats|oasis))/;

/** True if this is a whole document as bytes: its text must be requested. */
export function isDocumentBytes(uri: string, contents: readonly Content[]): boolean {
  return (
    !uri.includes("?") &&
    contents.length > 0 &&
    contents.every(({ mimeType = "", body }) => "bytes" in body && documentType.test(mimeType))
  );
}
