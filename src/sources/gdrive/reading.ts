/** Reads a file of Drive: Google documents are exported, other files are read as stored. */
import { createHash } from "node:crypto";
import { invalid, notFound, quote, ResourceError } from "../../errors.ts";
import { createSlots } from "../../lib/create-slots.ts";
import { sheetsType } from "../../backends/documents/document-text.ts";
import { isTextType } from "../../lib/mime.ts";
import type { FoundEncoding } from "../../lib/text-encoding.ts";
import type { Address, Part } from "../../source.ts";
import { bytesPart, classifyContent, toPart } from "../../backends/ranges/content.ts";
import { type Extract, isDocumentType } from "../../backends/documents/extract.ts";
import {
  parseReadQuery,
  type ContentRange,
  type ReadQuery,
  readRange,
  formatContentRange,
  type Stretch,
} from "../../backends/ranges/range.ts";
import type { DriveApi } from "./drive-api.ts";
import type { DriveFileFacts } from "./entries.ts";
import { type ExportFormat, exportFormatOf, isNative, withoutPictures } from "./formats.ts";
import type { LedgerRow } from "./rows.ts";
import { isTooLargeToExport } from "./refusal.ts";

interface DriveReaderOptions {
  readonly api: DriveApi;
  readonly extract: Extract;
  readonly maxBytes: number;
}

type Readable = DriveFileFacts & Pick<LedgerRow, "resourceKey">;

/** The query of an address. */
export interface DriveReadRequest extends ReadQuery {
  readonly format: string | undefined;
  /** The name of one sheet of a spreadsheet. */
  readonly sheet: string | undefined;
}

interface Sheet {
  readonly name: string;
  readonly csv: string;
}

export const driveFileTemplate = "file/{id}{?format,sheet,lines,bytes,as}";

/** Most bytes of an exported or converted file, which is read in one piece. */
const maxWholeBytes = 64 * 1024 * 1024;
/** Most documents held in memory while their text is extracted. */
const maxDocumentsAtOnce = 4;
const headBytes = 64 * 1024;
const utf8: FoundEncoding = { encoding: "utf-8", markBytes: 0 };

/** Undefined for a query that is not valid here. */
export function parseDriveReadRequest({ query = {} }: Address): DriveReadRequest | undefined {
  const { format, sheet, ...rest } = query;
  const request = parseReadQuery(rest);
  return request && { ...request, format, sheet };
}

export function createDriveReader({ api, extract, maxBytes }: DriveReaderOptions) {
  const slot = createSlots(maxDocumentsAtOnce);

  async function exported(file: Readable, mimeType: string, path: string, signal: AbortSignal): Promise<Buffer> {
    let bytes: Buffer | undefined;
    try {
      bytes = await api.exported(file, mimeType, maxWholeBytes, signal);
    } catch (cause) {
      if (!isTooLargeToExport(cause)) throw cause;
      bytes = await api.downloaded(file, mimeType, maxWholeBytes, signal);
    }
    if (!bytes) throw tooLarge(path, maxWholeBytes + 1, maxWholeBytes, undefined);
    return bytes;
  }

  /** A text in memory, or a range of it. */
  async function cut(text: string, mimeType: string, at: Cut): Promise<Part> {
    const { path, range, prefix, signal } = at;
    const bytes = Buffer.from(text);
    if (range)
      return readRange(stretchOf(bytes), range, { path, kind: { mimeType, text: utf8 }, maxBytes, signal, prefix });
    if (bytes.length > maxBytes) throw tooLarge(path, bytes.length, maxBytes, prefix, "lines");
    return { body: { text }, mimeType };
  }

  async function readSheets(bytes: Buffer, request: DriveReadRequest, at: Cut): Promise<readonly Part[]> {
    const version = `${hashOf(bytes)} sheets`;
    const { text } = await extract.text({ mimeType: sheetsType, version, bytes, path: at.path }, at.signal);
    const all = JSON.parse(text.toString("utf8")) as readonly Sheet[];
    const sheets = request.sheet === undefined ? all : all.filter(({ name }) => name === request.sheet);
    if (sheets.length === 0 && request.sheet !== undefined)
      throw invalid(`there is no sheet ${quote(request.sheet)}; available: ${sheetNames(all)}`);
    const joined = sheets.map(({ csv }) => csv).join("\n");
    // With a line range, all sheets count as one text.
    if (at.range || sheets.length < 2) return [await cut(joined, "text/csv", at)];
    if (Buffer.byteLength(joined) > maxBytes) await cut(joined, "text/csv", at);
    return sheets.map(({ name, csv }) => ({
      body: { text: csv },
      mimeType: "text/csv",
      at: { path: at.path, query: { sheet: name } },
      meta: { "pressmark/sheet": name },
    }));
  }

  async function readNative(
    file: Readable,
    format: ExportFormat,
    request: DriveReadRequest,
    at: Cut,
  ): Promise<readonly Part[]> {
    const bytes = await exported(file, format.exports, at.path, at.signal);
    switch (format.how) {
      case "sheets":
        return readSheets(bytes, request, at);
      case "extract": {
        const found = await extract.text(
          { mimeType: format.exports, version: hashOf(bytes), bytes, path: at.path },
          at.signal,
        );
        return [await cut(found.text.toString("utf8"), format.mimeType, at)];
      }
      case "text": {
        const text = bytes.toString("utf8").replace(/^\ufeff/, "");
        const isMarkdown = format.mimeType === "text/markdown";
        return [await cut(isMarkdown ? withoutPictures(text) : text, format.mimeType, at)];
      }
      case "bytes":
        return [await cutBytes(bytes, format.mimeType, at)];
    }
  }

  async function cutBytes(bytes: Buffer, mimeType: string, at: Cut): Promise<Part> {
    const { path, range, prefix, signal } = at;
    if (range) return readRange(stretchOf(bytes), range, { path, kind: { mimeType }, maxBytes, signal, prefix });
    if (bytes.length > maxBytes) throw tooLarge(path, bytes.length, maxBytes, prefix);
    return bytesPart(bytes, mimeType);
  }

  async function readStored(file: Readable, at: Cut): Promise<Part> {
    const { path, range, signal } = at;
    const { size = 0, name, mimeType } = file;
    if (!range) {
      const bytes = size > maxBytes ? undefined : await api.media(file, maxBytes, signal);
      if (!bytes) throw tooLarge(path, Math.max(size, maxBytes + 1), maxBytes, undefined);
      return withType(toPart(name, bytes), mimeType);
    }
    const stretch: Stretch = {
      size,
      async read(from, length) {
        const end = Math.min(from + length, size) - 1;
        return end < from ? Buffer.alloc(0) : api.slice(file, from, end, signal);
      },
    };
    const beginning = await stretch.read(0, headBytes);
    const kind = classifyContent(name, beginning, size > beginning.length);
    const part = await readRange(stretch, range, { path, kind, maxBytes, signal });
    return withType(part, mimeType);
  }

  async function readText(file: Readable, at: Cut): Promise<Part> {
    const { path, signal } = at;
    const { mimeType } = file;
    if (!isDocumentType(mimeType)) throw invalid(`no text can be extracted from ${quote(path)}`);
    const version = `${file.md5 ?? `${file.id} ${file.version}`} text`;
    // A waiting document would occupy memory, so the slot comes first.
    const leave = await slot(signal);
    try {
      const bytes = extract.knows(version) ? undefined : await api.media(file, maxWholeBytes, signal);
      if (!bytes && !extract.knows(version)) throw tooLarge(path, maxWholeBytes + 1, maxWholeBytes, undefined);
      const found = await extract.text({ mimeType, version, path, bytes }, signal);
      return cut(found.text.toString("utf8"), found.mimeType, { ...at, prefix: "as=text&" });
    } finally {
      leave();
    }
  }

  return {
    async read(file: Readable, path: string, request: DriveReadRequest, signal: AbortSignal): Promise<readonly Part[]> {
      const { format, sheet, range, asText } = request;
      const prefix = [format && `format=${format}&`, sheet && `sheet=${encodeURIComponent(sheet)}&`].join("");
      const at: Cut = { path, range, prefix, signal };
      if (isNative(file.mimeType)) {
        const how = exportFormatOf(file.mimeType, format);
        if (sheet !== undefined && how.how !== "sheets") throw notFound(path);
        if (asText && how.how === "bytes") throw invalid('"as" and this "format" cannot be combined; remove one');
        return readNative(file, how, request, at);
      }
      if (sheet !== undefined) throw notFound(path);
      if (format !== undefined) exportFormatOf(file.mimeType, format);
      return [asText ? await readText(file, at) : await readStored(file, at)];
    },
  };
}

/** Hash of the exported bytes: Drive guarantees no version for its own documents. */
function hashOf(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("base64url");
}

interface Cut {
  readonly path: string;
  readonly range: ContentRange | undefined;
  readonly prefix: string;
  readonly signal: AbortSignal;
}

function stretchOf(bytes: Buffer): Stretch {
  return { size: bytes.length, read: (from, length) => bytes.subarray(from, from + length) };
}

const generic = new Set(["application/octet-stream", "text/plain"]);

/** The type that Drive states, unless it is generic, or says text for binary data. */
function withType(part: Part, given: string): Part {
  const fits = !generic.has(given) && ("text" in part.body || !isTextType(given));
  return fits ? { ...part, mimeType: given } : part;
}

function sheetNames(sheets: readonly Sheet[]): string {
  const shown = sheets.slice(0, 20).map(({ name }) => quote(name, 40));
  return shown.join(", ") + (sheets.length > shown.length ? " and more" : "");
}

function tooLarge(
  path: string,
  size: number,
  maxBytes: number,
  prefix: string | undefined,
  unit: ContentRange["unit"] = "bytes",
): ResourceError {
  const first = unit === "lines" ? { unit, first: 1, last: 500 } : { unit, first: 0, last: maxBytes - 1 };
  const canCut = size <= maxWholeBytes || prefix === undefined;
  return new ResourceError(
    "too-large",
    `${quote(path)} has ${size} bytes; at most ${maxBytes} can be read in one call${canCut ? "; read a range" : ""}`,
    {
      details: {
        reason: "too-large",
        size,
        template: driveFileTemplate,
        ...(canCut && { ranges: [`${prefix ?? ""}${formatContentRange(first)}`] }),
      },
    },
  );
}
