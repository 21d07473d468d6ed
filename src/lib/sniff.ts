/** The type of a content by its first bytes. */

interface Magic {
  readonly type: string;
  readonly at: number;
  readonly bytes: readonly number[];
  /** A second mark that must also be present. */
  readonly also?: { readonly at: number; readonly bytes: readonly number[] };
}

/** Latin-1 characters are bytes. */
function magic(type: string, mark: string, at = 0, also?: { readonly at: number; readonly mark: string }): Magic {
  return { type, at, bytes: bytesOf(mark), ...(also && { also: { at: also.at, bytes: bytesOf(also.mark) } }) };
}

function bytesOf(mark: string): number[] {
  return Array.from(mark, (character) => character.charCodeAt(0));
}

// If one mark is a prefix of another, the longer one comes first.
const marks: readonly Magic[] = [
  magic("image/png", "\x89PNG\r\n\x1a\n"),
  magic("image/jpeg", "\xff\xd8\xff"),
  magic("image/gif", "GIF87a"),
  magic("image/gif", "GIF89a"),
  magic("image/webp", "RIFF", 0, { at: 8, mark: "WEBP" }),
  magic("audio/wav", "RIFF", 0, { at: 8, mark: "WAVE" }),
  magic("video/x-msvideo", "RIFF", 0, { at: 8, mark: "AVI " }),
  magic("image/avif", "ftypavif", 4),
  magic("image/heic", "ftypheic", 4),
  magic("image/heic", "ftypmif1", 4),
  magic("audio/mp4", "ftypM4A ", 4),
  magic("video/quicktime", "ftypqt  ", 4),
  magic("video/mp4", "ftyp", 4),
  magic("image/tiff", "II*\0"),
  magic("image/tiff", "MM\0*"),
  magic("image/vnd.microsoft.icon", "\0\0\x01\0"),
  magic("image/vnd.adobe.photoshop", "8BPS"),
  magic("application/pdf", "%PDF-"),
  magic("application/postscript", "%!PS"),
  magic("application/zip", "PK\x03\x04"),
  magic("application/zip", "PK\x05\x06"),
  magic("application/gzip", "\x1f\x8b\x08"),
  magic("application/x-bzip2", "BZh"),
  magic("application/x-xz", "\xfd7zXZ\0"),
  magic("application/zstd", "\x28\xb5\x2f\xfd"),
  magic("application/x-7z-compressed", "7z\xbc\xaf\x27\x1c"),
  magic("application/vnd.rar", "Rar!\x1a\x07"),
  magic("application/x-tar", "ustar", 257),
  magic("application/x-elf", "\x7fELF"),
  magic("application/wasm", "\0asm"),
  magic("application/vnd.sqlite3", "SQLite format 3\0"),
  magic("application/vnd.apache.parquet", "PAR1"),
  magic("application/vnd.apache.arrow.file", "ARROW1"),
  magic("application/x-ndarray", "\x93NUMPY"),
  magic("application/java-vm", "\xca\xfe\xba\xbe"),
  magic("application/x-mach-binary", "\xcf\xfa\xed\xfe"),
  magic("application/vnd.microsoft.portable-executable", "MZ"),
  magic("application/msword", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
  magic("audio/mpeg", "ID3"),
  magic("audio/mpeg", "\xff\xfb"),
  magic("audio/mpeg", "\xff\xf3"),
  magic("audio/flac", "fLaC"),
  magic("audio/ogg", "OggS"),
  magic("audio/midi", "MThd"),
  magic("video/webm", "\x1a\x45\xdf\xa3"),
  magic("font/woff2", "wOF2"),
  magic("font/woff", "wOFF"),
  magic("font/otf", "OTTO"),
  magic("font/ttf", "\0\x01\0\0\0"),
  magic("font/collection", "ttcf"),
];

/** Marks at the start of the content, by their first byte; the others are always checked. */
const byFirst = new Map<number, Magic[]>();
const later: Magic[] = [];
for (const mark of marks) {
  const first = mark.bytes[0] ?? 0;
  if (mark.at > 0) later.push(mark);
  else byFirst.set(first, [...(byFirst.get(first) ?? []), mark]);
}

/** The type that the bytes identify; undefined if none. For content that is not text. */
export function sniff(bytes: Uint8Array): string | undefined {
  const first = bytes[0];
  if (first === undefined) return undefined;
  for (const mark of byFirst.get(first) ?? []) if (bears(bytes, mark)) return mark.type;
  for (const mark of later) if (bears(bytes, mark)) return mark.type;
  return undefined;
}

/** Whether no text starts with the mark of `sniff` by chance: it is longer than a word, or not printable. */
export function isSure(bytes: Uint8Array): boolean {
  for (const mark of [...(byFirst.get(bytes[0] ?? -1) ?? []), ...later])
    if (bears(bytes, mark)) {
      const all = [...mark.bytes, ...(mark.also?.bytes ?? [])];
      return all.length > 4 || all.some((byte) => byte < 0x20 || byte > 0x7e);
    }
  return false;
}

function bears(bytes: Uint8Array, mark: Magic): boolean {
  return stands(bytes, mark.at, mark.bytes) && (!mark.also || stands(bytes, mark.also.at, mark.also.bytes));
}

function stands(bytes: Uint8Array, at: number, mark: readonly number[]): boolean {
  for (let index = 0; index < mark.length; index += 1) if (bytes[at + index] !== mark[index]) return false;
  return true;
}

/** Types whose content is a ZIP file or another container: the name is more specific. */
const containers: ReadonlyMap<string, readonly string[]> = new Map([
  [
    "application/zip",
    [
      "application/epub+zip",
      "application/java-archive",
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
      "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
      "application/vnd.openxmlformats-officedocument.presentationml.presentation",
      "application/vnd.oasis.opendocument.text",
      "application/vnd.oasis.opendocument.spreadsheet",
      "application/vnd.oasis.opendocument.presentation",
      "application/x-ndarray",
    ],
  ],
  ["application/msword", ["application/vnd.ms-excel", "application/vnd.ms-powerpoint"]],
  ["application/x-elf", ["application/x-sharedlib", "application/x-object"]],
  ["application/x-mach-binary", ["application/x-sharedlib", "application/x-object"]],
  ["video/webm", ["video/x-matroska"]],
  ["audio/ogg", ["video/ogg"]],
  ["video/mp4", ["audio/mp4", "video/quicktime", "image/heic", "image/avif"]],
]);

/** Whether content of the type `sniffed` may have the type that its name says. */
export function mayBe(sniffed: string, named: string): boolean {
  return sniffed === named || (containers.get(sniffed)?.includes(named) ?? false);
}
