/** Determines which files are documents, and their format. */
import { documentTypes } from "../../backends/documents/document-types.ts";
import { mimeOfName } from "../../lib/mime.ts";

/** "document": a PDF or an office document, whose text must be extracted first. */
export type DocumentFormat = "markdown" | "asciidoc" | "rst" | "text" | "html" | "document";

const byType: Readonly<Record<string, DocumentFormat>> = {
  "text/markdown": "markdown",
  "text/x-asciidoc": "asciidoc",
  "text/x-rst": "rst",
  "text/plain": "text",
  "text/html": "html",
};

/** Undefined for other files. */
export function documentFormatOf(path: string): DocumentFormat | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const type = mimeOfName(name);
  if (type === undefined || /\.log$/i.test(name)) return undefined;
  return byType[type] ?? (documentTypes.has(type) ? "document" : undefined);
}

/** The name without its extension. */
export function stemOf(path: string): string {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const dot = name.lastIndexOf(".");
  return dot > 0 ? name.slice(0, dot) : name;
}

/** Resolves a path written in a file to a path below the root; undefined if it is outside, or the root itself. */
export function resolveFrom(file: string, target: string): string | undefined {
  const segments = file.split("/").slice(0, -1);
  for (const segment of target.split("/")) {
    if (segment === "" || segment === ".") continue;
    if (segment !== "..") segments.push(segment);
    else if (segments.pop() === undefined) return undefined;
  }
  return segments.length === 0 ? undefined : segments.join("/");
}
