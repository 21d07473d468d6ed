/** URIs of passages: lines of a resource or, if it is a document, of the text that is extracted from it. */
import { type Lines, withLines, withoutLines } from "./line-range-uri.ts";

interface PassageResource {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
}

/** Documents whose text the server extracts for `?as=text`. */
export const documentType = /^application\/(?:pdf|vnd\.(?:openxmlformats|oasis))/;

/** True if its text must be extracted, and can be. */
export function isDocument({ uri, mimeType = "", meta }: PassageResource): boolean {
  return !mimeType.startsWith("text/") && !uri.includes("?") && formsOf(meta).includes("text");
}

/** Lines of a document are those of its extracted text. */
export function passageUri(resource: PassageResource, lines: Lines): string {
  return withLines(isDocument(resource) ? extractedUri(resource.uri) : resource.uri, lines);
}

/** The URI of a search hit: its lines, or its resource if these lines cannot be requested. */
export function hitUri({ resource, lines }: { readonly resource: PassageResource; readonly lines?: Lines }): string {
  // The text that was searched is then the summary, which has other lines than the text.
  const isSummary = formsOf(resource.meta).includes("summary");
  return lines && !isSummary ? passageUri(resource, lines) : resource.uri;
}

/** Without the range and the form: the URI of the resource that a passage is from. */
export function wholeUri(uri: string): string {
  return withoutLines(uri).replace(/\?as=text$/, "");
}

/** The text that the server extracts. */
export function extractedUri(uri: string): string {
  return `${uri}?as=text`;
}

interface DocumentPart {
  readonly mimeType?: string | undefined;
  readonly body: { readonly bytes: unknown } | { readonly text: unknown };
}

/** True if this is a whole document as bytes: its text must be requested. */
export function isDocumentBytes(uri: string, contents: readonly DocumentPart[]): boolean {
  return (
    !uri.includes("?") &&
    contents.length > 0 &&
    contents.every(({ mimeType = "", body }) => "bytes" in body && documentType.test(mimeType))
  );
}

function formsOf(meta: PassageResource["meta"]): readonly unknown[] {
  const forms = meta?.["pressmark/as"];
  return Array.isArray(forms) ? forms : [];
}
