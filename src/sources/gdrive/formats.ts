/** Formats in which Google documents can be read. */
import { invalid, quote } from "../../errors.ts";

export interface ExportFormat {
  /** The type requested from Drive. */
  readonly exports: string;
  /** How the export is converted: unchanged, one sheet at a time, or extracted text. */
  readonly how: "text" | "bytes" | "sheets" | "extract";
  /** The type of the content. */
  readonly mimeType: string;
}

const apps = "application/vnd.google-apps";
const office = "application/vnd.openxmlformats-officedocument";
const docx = `${office}.wordprocessingml.document`;
const xlsx = `${office}.spreadsheetml.sheet`;
const pptx = `${office}.presentationml.presentation`;

const as = (mimeType: string, how: ExportFormat["how"] = "bytes"): ExportFormat => ({
  exports: mimeType,
  how,
  mimeType,
});

/** The first one is the default. */
const formats: Readonly<Record<string, Readonly<Record<string, ExportFormat>>>> = {
  [`${apps}.document`]: {
    markdown: as("text/markdown", "text"),
    text: as("text/plain", "text"),
    html: as("text/html", "text"),
    pdf: as("application/pdf"),
    docx: as(docx),
    odt: as("application/vnd.oasis.opendocument.text"),
    epub: as("application/epub+zip"),
  },
  [`${apps}.spreadsheet`]: {
    // For CSV, Drive exports only the first sheet without saying so.
    csv: { exports: xlsx, how: "sheets", mimeType: "text/csv" },
    xlsx: as(xlsx),
    pdf: as("application/pdf"),
    ods: as("application/vnd.oasis.opendocument.spreadsheet"),
  },
  [`${apps}.presentation`]: {
    // As text, Drive omits the notes.
    markdown: { exports: pptx, how: "extract", mimeType: "text/markdown" },
    text: as("text/plain", "text"),
    pptx: as(pptx),
    pdf: as("application/pdf"),
    odp: as("application/vnd.oasis.opendocument.presentation"),
  },
  [`${apps}.drawing`]: {
    svg: as("image/svg+xml", "text"),
    png: as("image/png"),
    pdf: as("application/pdf"),
  },
  [`${apps}.script`]: {
    json: { exports: "application/vnd.google-apps.script+json", how: "text", mimeType: "application/json" },
  },
};

/** Whether it is a Google document, which is exported, not downloaded. */
export function isNative(mimeType: string): boolean {
  return mimeType.startsWith(`${apps}.`);
}

/** Forms, sites and maps have no readable content. */
export function isReadable(mimeType: string): boolean {
  return !isNative(mimeType) || Object.hasOwn(formats, mimeType);
}

/** The type of a document in its default format. */
export function usualType(mimeType: string): string {
  return Object.values(formats[mimeType] ?? {})[0]?.mimeType ?? mimeType;
}

/** Throws "invalid" for an unsupported format. */
export function exportFormatOf(mimeType: string, requested: string | undefined): ExportFormat {
  const known = formats[mimeType] ?? {};
  const format =
    requested === undefined ? Object.values(known)[0] : Object.hasOwn(known, requested) ? known[requested] : undefined;
  if (format) return format;
  const names = Object.keys(known);
  const can = names.length === 0 ? "this file has no other formats" : `available: ${names.join(", ")}`;
  throw invalid(`cannot read this as format ${quote(requested ?? "", 40)}; ${can}`);
}

/** Formats of one type, or of all if the type is unknown. */
export function formatNames(mimeType: string | undefined): readonly string[] {
  if (mimeType !== undefined) return Object.keys(formats[mimeType] ?? {});
  return [...new Set(Object.values(formats).flatMap((each) => Object.keys(each)))];
}

/** Pictures are embedded in the Markdown and longer than all the text: their data is removed, the references stay. */
export function withoutPictures(markdown: string): string {
  return markdown.replaceAll(/^\[[^[\]\r\n]+\]:[ \t]*<data:[^<>\r\n]*>[ \t]*\r?\n?/gm, "");
}
