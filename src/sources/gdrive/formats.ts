/** What documents that live in Drive alone can be read as. */
import { invalid, quote } from "../../errors.ts";

export interface ExportFormat {
  /** What Drive is asked for. */
  readonly exports: string;
  /** How it is turned into what is read: by itself, a sheet at a time, or as the text of a document. */
  readonly how: "text" | "bytes" | "sheets" | "extract";
  /** What is read. */
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

/** The first is what is read unless another is asked for. */
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
    // Asked for CSV, Drive gives the first sheet and says nothing of the others.
    csv: { exports: xlsx, how: "sheets", mimeType: "text/csv" },
    xlsx: as(xlsx),
    pdf: as("application/pdf"),
    ods: as("application/vnd.oasis.opendocument.spreadsheet"),
  },
  [`${apps}.presentation`]: {
    // As text, Drive leaves out the notes.
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

/** Whether it is a document of Drive's own, which is exported and not downloaded. */
export function isNative(mimeType: string): boolean {
  return mimeType.startsWith(`${apps}.`);
}

/** Forms, sites and maps have nothing that could be read. */
export function isReadable(mimeType: string): boolean {
  return !isNative(mimeType) || Object.hasOwn(formats, mimeType);
}

/** What a document is read as unless it is asked for otherwise. */
export function usualType(mimeType: string): string {
  return Object.values(formats[mimeType] ?? {})[0]?.mimeType ?? mimeType;
}

/** Throws "invalid" for what a document cannot be read as. */
export function exportFormatOf(mimeType: string, asked: string | undefined): ExportFormat {
  const known = formats[mimeType] ?? {};
  const format = asked === undefined ? Object.values(known)[0] : Object.hasOwn(known, asked) ? known[asked] : undefined;
  if (format) return format;
  const names = Object.keys(known);
  const can =
    names.length === 0 ? "this file is read as it is, without a format" : `this one takes ${names.join(", ")}`;
  throw invalid(`"format" says what a document is read as: ${can}; ${quote(asked ?? "", 40)} is not among it`);
}

/** Of one type, or of all where it is not known. */
export function formatNames(mimeType: string | undefined): readonly string[] {
  if (mimeType !== undefined) return Object.keys(formats[mimeType] ?? {});
  return [...new Set(Object.values(formats).flatMap((each) => Object.keys(each)))];
}

/** Pictures stand in the Markdown as whole files, longer than all the text: they are left out, and their places stay. */
export function withoutPictures(markdown: string): string {
  return markdown.replaceAll(/^\[[^[\]\r\n]+\]:[ \t]*<data:[^<>\r\n]*>[ \t]*\r?\n?/gm, "");
}
