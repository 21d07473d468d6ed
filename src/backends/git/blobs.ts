/** Entries and contents of the files of a commit. */
import { notFound, quote, ResourceError } from "../../errors.ts";
import { mimeOfName } from "../../lib/mime.ts";
import { directoryType } from "../../resources.ts";
import type { Address, Entry, Part } from "../../source.ts";
import { segmentsOf } from "../../source.ts";
import { classifyContent, toPart } from "../ranges/content.ts";
import { type ContentRange, readRange, formatContentRange } from "../ranges/range.ts";
import type { Objects } from "./objects.ts";
import type { Commit } from "./refs.ts";
import { lacking, type TreeEntry } from "./trees.ts";

/** A file of a commit. */
interface CommittedFile {
  readonly at: Address;
  /** Its own file name, which determines the type. */
  readonly name: string;
  readonly commit: Commit;
  readonly entry: TreeEntry;
  readonly range: ContentRange | undefined;
}

export interface Blobs {
  read(found: CommittedFile, signal: AbortSignal): Promise<Part>;
  /** The entry for a file, a link, a submodule or a folder; `reveals` is the address of the file itself. */
  describe(at: Address, entry: TreeEntry, reveals?: Address): Promise<Entry>;
  /** Clears the cache. */
  clear(): void;
}

/** Immutable content is fresh for this long and no longer, because the folder rules may hide it later. */
export const pinnedFreshness = { ttlMs: 60_000 };

/** Ranges are read from files up to this size; git returns only whole files. */
const maxRangedBytes = 64 * 1024 * 1024;
/** How long a large file is cached for the next range. */
const keptMs = 10_000;
const maxPointerBytes = 1024;
const linkType = "inode/symlink";

interface BlobOptions {
  /** Largest read, in bytes. */
  readonly maxBytes: number;
  /** The template that errors name for reading a part of a file. */
  readonly partTemplate: string;
}

export function createBlobs(contents: Objects, headers: Objects, { maxBytes, partTemplate }: BlobOptions): Blobs {
  /** The large file that was read last. */
  let large: { readonly hash: string; readonly bytes: Buffer; readonly timer: NodeJS.Timeout } | undefined;

  function clear(): void {
    clearTimeout(large?.timer);
    large = undefined;
  }

  async function whole({ at, name, entry, commit }: CommittedFile): Promise<Part> {
    const found = await contents.find(entry.hash, maxBytes);
    if (!found) throw lacking();
    if (!found.bytes) throw tooLarge(at.path, name, found.size, maxBytes, partTemplate);
    const { body, mimeType, meta } = toPart(name, found.bytes);
    const pointer = found.size <= maxPointerBytes ? lfsPointer(found.bytes) : undefined;
    const allMeta = {
      ...meta,
      ...(pointer && { "pressmark/lfs": pointer }),
      "pressmark/hash": entry.hash,
    };
    const part = { body, mimeType: mimeType!, meta: allMeta };
    return commit.isPinned ? { ...part, freshness: pinnedFreshness } : part;
  }

  async function bytesOf(path: string, name: string, hash: string): Promise<Buffer> {
    if (large?.hash === hash) return large.bytes;
    const found = await contents.find(hash, maxRangedBytes);
    if (!found) throw lacking();
    const { bytes } = found;
    if (!bytes) throw tooLarge(path, name, found.size, maxRangedBytes, partTemplate);
    if (bytes.length > maxBytes) {
      clear();
      large = { hash, bytes, timer: setTimeout(clear, keptMs).unref() };
    }
    return bytes;
  }

  async function ranged(path: string, name: string, { hash }: TreeEntry, range: ContentRange, signal: AbortSignal) {
    const bytes = await bytesOf(path, name, hash);
    const stretch = { size: bytes.length, read: (from: number, length: number) => bytes.subarray(from, from + length) };
    const kind = classifyContent(name, bytes.subarray(0, 64 * 1024), bytes.length > 64 * 1024);
    return readRange(stretch, range, { path, kind, maxBytes, signal });
  }

  /** Reads entries that are not files, and ranges of files. */
  async function special({ at, name, entry, range }: CommittedFile, signal: AbortSignal): Promise<Part> {
    if (range) return ranged(at.path, name, entry, range, signal);
    if (entry.kind === "submodule") {
      const text = JSON.stringify({ submodule: segmentsOf(at.path).slice(2).join("/"), commit: entry.hash });
      return { body: { text }, mimeType: "application/json", meta: submoduleMeta(entry) };
    }
    const target = (await contents.find(entry.hash, maxBytes))?.bytes?.toString("utf8");
    if (target === undefined) throw lacking();
    return { body: { text: target }, mimeType: linkType, meta: { "pressmark/link": target } };
  }

  return {
    clear,

    async read(found, signal) {
      const { at, commit, entry, range } = found;
      if (entry.kind === "file" && !range) return whole(found);
      if (entry.kind !== "file" && range) throw notFound(at.path);
      const { meta, ...part } = await special(found, signal);
      return {
        ...part,
        meta: { ...meta, "pressmark/hash": entry.hash },
        ...(commit.isPinned && { freshness: pinnedFreshness }),
      };
    },

    async describe(at, entry, reveals) {
      const { path, query } = at;
      if (entry.kind === "folder") return { path, mimeType: directoryType, version: entry.hash };
      const common = { path, query, reveals, version: entry.hash };
      if (entry.kind === "submodule") return { ...common, mimeType: "application/json", meta: submoduleMeta(entry) };
      if (entry.kind === "link") return { ...common, mimeType: linkType };
      if (query) return common;
      const mimeType = mimeOfName(segmentsOf(path).at(-1) ?? "");
      const size = (await headers.find(entry.hash))?.size;
      return { ...common, mimeType, size };
    },
  };
}

function submoduleMeta({ hash }: TreeEntry): Readonly<Record<string, unknown>> {
  return { "pressmark/submodule": hash };
}

/** The Git LFS object, if the file is an LFS pointer. */
function lfsPointer(bytes: Buffer): { readonly oid: string; readonly size: number } | undefined {
  const text = bytes.toString("latin1");
  if (!text.startsWith("version https://git-lfs.github.com/spec/v1\n")) return undefined;
  const oid = /^oid (sha256:[0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return oid === undefined || size === undefined ? undefined : { oid, size: Number(size) };
}

function tooLarge(path: string, name: string, size: number, most: number, template: string): ResourceError {
  const isText = /^(?:text\/|application\/(?:json|yaml|xml|toml))/.test(mimeOfName(name) ?? "");
  const ranges =
    size > maxRangedBytes
      ? []
      : [
          ...(isText ? [formatContentRange({ unit: "lines", first: 1, last: 1000 })] : []),
          formatContentRange({ unit: "bytes", first: 0, last: Math.min(most, 1024 * 1024) - 1 }),
        ];
  const instead =
    ranges[0] === undefined ? "serve it with the file source" : `request a part, as in ${quote(`?${ranges[0]}`)}`;
  return new ResourceError("too-large", `${quote(path)} has ${size} bytes; at most ${most} can be read; ${instead}`, {
    details: {
      reason: "too-large",
      size,
      maxBytes: most,
      template,
      ...(ranges[0] !== undefined && { next: ranges[0], ranges }),
    },
  });
}
