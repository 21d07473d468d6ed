/** Reads a file: all of it, a range, or the text of a document. */
import { read as readFd } from "node:fs";
import { Lru } from "../../lib/lru.ts";
import { invalid, isDirectoryError, quote, ResourceError } from "../../errors.ts";
import type { Address, Entry, Part } from "../../source.ts";
import type { Confine, ServedPath } from "./confine.ts";
import { type ContentKind, classifyContent, toPart } from "../ranges/content.ts";
import type { Disk } from "./disk.ts";
import { pictureTypes } from "../documents/document-types.ts";
import { type Extract, isChanged, isDocumentType } from "../documents/extract.ts";
import { type ContentRange, type ReadQuery, readRange, formatContentRange, type Stretch } from "../ranges/range.ts";
import { createLineIndex, type LineIndex } from "../ranges/range-lines.ts";
import { run, settled, type Steps } from "./steps.ts";

/** The template with all query parameters. */
export const fileTemplate = "{+path}{?lines,bytes,as}";

interface FileReader {
  /** The whole file. Undefined if there is no file. */
  whole(path: string): Steps<Part[] | undefined>;
  /** A range of the file, or its text. */
  part(path: string, readQuery: ReadQuery, signal: AbortSignal): Steps<Part[] | undefined>;
  /** The entry for a file, or for a range of it. Undefined for a range of a folder. */
  entry(at: Address, location: ServedPath, readQuery: ReadQuery | undefined): Entry | undefined;
}

interface FileReaderOptions {
  readonly confine: Confine;
  readonly disk: Disk;
  readonly maxBytes: number;
  readonly extract: Extract;
  /** Recognizes the text of pictures, if that is switched on. */
  readonly pictures?: Extract | undefined;
  entry(path: string, location: ServedPath): Entry;
}

/** A file that is open during the visit. */
interface OpenFile {
  readonly location: ServedPath;
  readonly fd: number;
  readonly size: number;
  readonly name: string;
}

/** A document whose text is requested. */
interface Document {
  readonly location: ServedPath;
  readonly mimeType: string;
  readonly version: string | undefined;
}

/** The result of a request for a part of a file. */
type Found =
  | { readonly parts: Part[] }
  | { readonly document: Document }
  /** The file is plain text, and all of it is requested. */
  | { readonly isPlain: true };

/** The file was replaced between check and opening. */
const again = "again";
const attempts = 8;

/** How much of a file is read to detect its type. */
const headBytes = 64 * 1024;
/** Larger documents are not read for their text. */
const maxDocumentBytes = 64 * 1024 * 1024;
const maxIndexes = 16;

export function createFileReader({ confine, disk, maxBytes, extract, pictures, entry }: FileReaderOptions): FileReader {
  /** By version, least recently used first. */
  const indexes = new Lru<string, LineIndex>({ maxEntries: maxIndexes });

  function* wholeOnce(path: string): Steps<Part[] | typeof again | undefined> {
    return yield* confine.visit<Part[] | typeof again>(path, function* (location) {
      refuseFolder(path, location);
      const fd = yield* confine.open(location);
      if (fd === undefined) return again;
      try {
        const size = Number(location.stats.size);
        const bytes = size > maxBytes ? undefined : yield* settled(disk.read(fd, size, maxBytes));
        const name = nameOf(path);
        if (bytes && bytes.length <= maxBytes) return toParts(location, toPart(name, bytes));
        const length = Math.max(size, bytes?.length ?? 0);
        throw tooLarge(path, length, yield* kindOf({ location, fd, size: length, name }));
      } finally {
        disk.close(fd);
      }
    });
  }

  function* partOnce(path: string, readQuery: ReadQuery, signal: AbortSignal): Steps<Found | typeof again | undefined> {
    return yield* confine.visit<Found | typeof again>(path, function* (location) {
      refuseFolder(path, location);
      const fd = yield* confine.open(location);
      if (fd === undefined) return again;
      try {
        return yield* readPart(
          path,
          readQuery,
          { location, fd, size: Number(location.stats.size), name: nameOf(path) },
          signal,
        );
      } finally {
        disk.close(fd);
      }
    });
  }

  function* readPart(path: string, readQuery: ReadQuery, file: OpenFile, signal: AbortSignal): Steps<Found> {
    const { location, fd, size } = file;
    const kind = yield* kindOf(file);
    if (readQuery.asText && extractFor(kind.mimeType)) return { document: documentOf(path, kind.mimeType, file) };
    if (readQuery.asText && !kind.text) {
      const how = pictureTypes.has(kind.mimeType) ? ', or set "ocr" of its mount to recognize text' : "";
      throw invalid(`cannot extract text from ${quote(path)}, which is ${kind.mimeType}; read it without "as"${how}`);
    }
    if (!readQuery.range) return { isPlain: true };
    const stretch: Stretch = { size, read: (from, length) => readAt(fd, from, Math.min(length, size - from)) };
    const index = indexOf(entry(path, location).version);
    const part = yield* settled(readRange(stretch, readQuery.range, { path, kind, maxBytes, signal, index }));
    return { parts: toParts(location, part) };
  }

  function extractFor(mimeType: string): Extract | undefined {
    if (isDocumentType(mimeType)) return extract;
    return pictureTypes.has(mimeType) ? pictures : undefined;
  }

  function indexOf(version: string | undefined): LineIndex {
    if (version === undefined) return createLineIndex();
    const known = indexes.get(version) ?? createLineIndex();
    indexes.set(version, known);
    return known;
  }

  function documentOf(path: string, mimeType: string, { location, size }: OpenFile): Document {
    const version = versionOf(path, location, mimeType);
    if (!extractFor(mimeType)?.knows(version) && size > maxDocumentBytes)
      throw new ResourceError(
        "too-large",
        `${quote(path)} has ${size} bytes; text is extracted from at most ${maxDocumentBytes}; request a range of bytes`,
        { details: { reason: "too-large", size, maxBytes: maxDocumentBytes, template: fileTemplate } },
      );
    return { location, mimeType, version };
  }

  function versionOf(path: string, location: ServedPath, mimeType: string): string | undefined {
    const { version } = entry(path, location);
    // One file may have two names with different types.
    return version === undefined ? undefined : `${version} ${mimeType}`;
  }

  /** Undefined if the document has changed or is gone. */
  function* documentBytes(path: string, { mimeType, version }: Document): Steps<Buffer | undefined> {
    return yield* confine.visit<Buffer | undefined>(path, function* (location) {
      if (location.kind === "folder" || versionOf(path, location, mimeType) !== version) return undefined;
      const size = Number(location.stats.size);
      const fd = size > maxDocumentBytes ? undefined : yield* confine.open(location);
      if (fd === undefined) return undefined;
      try {
        return yield* settled(readAt(fd, 0, size));
      } finally {
        disk.close(fd);
      }
    });
  }

  async function textPart(path: string, document: Document, range: ContentRange | undefined, signal: AbortSignal) {
    const bytes = async () => run(documentBytes(path, document));
    const { mimeType, text } = await extractFor(document.mimeType)!.text({ path, ...document, bytes }, signal);
    const kind: ContentKind = { mimeType, text: { encoding: "utf-8", markBytes: 0 } };
    if (!range) {
      if (text.length > maxBytes) throw tooLarge(path, text.length, kind, "as=text&");
      return { body: { text: text.toString("utf8") }, mimeType };
    }
    const stretch: Stretch = { size: text.length, read: (from, length) => text.subarray(from, from + length) };
    return readRange(stretch, range, { path, kind, maxBytes, signal, prefix: "as=text&" });
  }

  /** The error details list ranges that can be read instead. */
  function tooLarge(path: string, size: number, { text, mimeType }: ContentKind, prefix = ""): ResourceError {
    const most = Math.min(maxBytes, 1024 * 1024);
    const ranges = [
      ...(text ? [formatContentRange({ unit: "lines", first: 1, last: 1000 })] : []),
      formatContentRange({ unit: "bytes", first: 0, last: most - 1 }),
      formatContentRange({ unit: "bytes", first: size - Math.min(most, 64 * 1024), last: size - 1 }),
    ].map((range) => prefix + range);
    if (prefix === "" && isDocumentType(mimeType)) ranges.unshift("as=text");
    return new ResourceError(
      "too-large",
      `${quote(path)} has ${size} bytes; at most ${maxBytes} can be read in one request; request a part, as in ${quote(`?${ranges[0]}`)}`,
      { details: { reason: "too-large", size, maxBytes, template: fileTemplate, next: ranges[0], ranges } },
    );
  }

  function* whole(path: string): Steps<Part[] | undefined> {
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const parts = yield* wholeOnce(path);
      if (parts !== again) return parts;
    }
    return undefined;
  }

  return {
    whole,

    *part(path, readQuery, signal) {
      for (let attempt = 0; attempt < attempts; attempt += 1) {
        const found = yield* partOnce(path, readQuery, signal);
        if (found === undefined) return undefined;
        if (found === again) continue;
        if ("parts" in found) return found.parts;
        if ("isPlain" in found) return yield* whole(path);
        try {
          const part = yield* settled(textPart(path, found.document, readQuery.range, signal));
          return toParts(found.document.location, part);
        } catch (cause) {
          if (!isChanged(cause)) throw cause;
        }
      }
      return undefined;
    },

    entry({ path, query }, location, readQuery) {
      const described = entry(path, location);
      if (!readQuery || !query) return described;
      if (location.kind === "folder") return undefined;
      const { size: _size, mimeType: _mimeType, ...rest } = described;
      return { ...rest, query };
    },
  };
}

function* kindOf({ fd, size, name }: OpenFile): Steps<ContentKind> {
  const head = yield* settled(readAt(fd, 0, Math.min(size, headBytes)));
  return classifyContent(name, head, size > head.length);
}

function refuseFolder(path: string, { kind }: ServedPath): void {
  if (kind === "folder") throw isDirectoryError(path);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function toParts({ direct, path }: ServedPath, part: Part): Part[] {
  return [direct ? part : { ...part, reveals: { path } }];
}

/** Fewer bytes only at the end of the file. */
async function readAt(fd: number, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafeSlow(Math.max(0, length));
  for (let end = 0; end < buffer.length;) {
    const count = await new Promise<number>((resolve, reject) => {
      readFd(fd, buffer, end, buffer.length - end, from + end, (cause, read) =>
        cause ? reject(cause) : resolve(read),
      );
    });
    if (count === 0) return buffer.subarray(0, end);
    end += count;
  }
  return buffer;
}
