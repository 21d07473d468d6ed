/** Buckets and keys as directories and resources: shared by all object stores. */
import { compareCodePoints } from "../../lib/address-order.ts";
import { isDirectoryError, notFound, quote, ResourceError, unsupported } from "../../errors.ts";
import { isTextType, mimeOfName } from "../../lib/mime.ts";
import { directoryType } from "../../resources.ts";
import { hasQuery, innerSlash } from "../../source.ts";
import type { Address, Entry, Part, Source, SourceTemplate, Suggestion, Runtime } from "../../source.ts";
import { classifyContent, toPart } from "../ranges/content.ts";
import { parseReadQuery, readRange, formatContentRange, type ContentRange, type Stretch } from "../ranges/range.ts";
import { listPage } from "./list-page.ts";
import type {
  ObjectBody,
  ObjectListRequest,
  ObjectPage,
  ObjectStore,
  ObjectWhere,
  StoredObject,
} from "./object-store.ts";
import { watchObjects } from "./watch-objects.ts";

export interface ObjectSourceOptions {
  readonly store: ObjectStore;
  /** Buckets to serve. Default: all that the credentials can list. */
  readonly buckets: readonly string[];
  /** Only keys that start with this prefix. */
  readonly prefix: string;
  /** The query parameter for the version of an object. */
  readonly versionName: "versionId" | "generation";
  readonly maxBytes: number;
  /** How long a link to an object that is too large is valid; 0 for no link. */
  readonly linkSeconds: number;
  readonly timeoutMs: number;
  readonly pollMs: number;
  readonly runtime: Runtime;
}

/** The target of a path. Without a bucket, the mount itself. */
interface Spot {
  readonly bucket: string | undefined;
  readonly key: string;
}

const mostPerPage = 1000;
/** Sorts behind everything with the same prefix. */
const last = "\u{10ffff}";
const headBytes = 64 * 1024;

export function createObjectSource(options: ObjectSourceOptions): Source {
  const { store, prefix, versionName, maxBytes, runtime } = options;
  const [only, ...others] = options.buckets;
  const single = others.length === 0 ? only : undefined;
  const leftOut = new Set<string>();

  function spotOf(path: string): Spot {
    if (single !== undefined) return { bucket: single, key: path };
    if (path === "") return { bucket: undefined, key: "" };
    const slash = path.indexOf("/");
    return slash < 0 ? { bucket: path, key: "" } : { bucket: path.slice(0, slash), key: path.slice(slash + 1) };
  }

  const pathAt = (bucket: string, key: string) => (single === undefined ? `${bucket}/${key}` : key);

  /** In path order. */
  async function bucketsOf(signal: AbortSignal): Promise<readonly string[]> {
    const names = options.buckets.length > 0 ? options.buckets : (await store.buckets(signal)).filter(isBucketName);
    return [...new Set(names)].sort(compareBuckets);
  }

  /** A page of keys below the prefix. Without configured buckets, those that we may not read are skipped. */
  async function pageOf(request: ObjectListRequest, signal: AbortSignal): Promise<ObjectPage> {
    try {
      return await listPage(store, request, signal);
    } catch (cause) {
      const isClosed = cause instanceof ResourceError && (cause.kind === "denied" || cause.kind === "not-found");
      if (!isClosed || options.buckets.length > 0) throw cause;
      if (!leftOut.has(request.bucket) && leftOut.size < 1000) {
        leftOut.add(request.bucket);
        runtime.log("warn", "a bucket is left out, because access to it is denied", {
          bucket: request.bucket,
          why: cause.message,
        });
      }
      return { objects: [], prefixes: [], more: false };
    }
  }

  /** The bucket and key of an address; "not-found" for everything that is not served. */
  async function wanted(at: Address, signal: AbortSignal): Promise<{ readonly bucket: string; readonly key: string }> {
    const { bucket, key } = spotOf(at.path);
    if (bucket === undefined) throw isDirectoryError(at.path);
    // Every slash of a key separates two segments.
    if (at.path.includes(innerSlash) || hasDots(key)) throw notFound(at.path);
    // A bucket has no second address with a slash at its end.
    if (single === undefined && at.path === `${bucket}/`) throw notFound(at.path);
    if (single === undefined && !(await bucketsOf(signal)).includes(bucket)) throw notFound(at.path);
    if (!key.startsWith(prefix) && !prefix.startsWith(key === "" ? "" : `${key}/`)) throw notFound(at.path);
    return { bucket, key };
  }

  function toEntry(bucket: string, { key, size, version, lastModified }: StoredObject): Entry {
    const name = key.slice(key.lastIndexOf("/") + 1);
    const mimeType = mimeOfName(name);
    return {
      path: pathAt(bucket, key),
      size,
      mimeType,
      version,
      ...(lastModified !== undefined && { annotations: { lastModified } }),
    };
  }

  function mayBeObject(key: string): boolean {
    return key !== "" && key.startsWith(prefix) && isServed({ key });
  }

  async function find(bucket: string, key: string, signal: AbortSignal): Promise<StoredObject | undefined> {
    if (!mayBeObject(key)) return undefined;
    const { objects } = await listPage(store, { bucket, prefix: key, folded: false, limit: 1 }, signal);
    return objects.find((object) => object.key === key);
  }

  async function isFolder(bucket: string, key: string, signal: AbortSignal): Promise<boolean> {
    const below = key === "" ? prefix : `${key}/`;
    const requested = prefix.startsWith(below) ? prefix : below;
    const { objects } = await listPage(store, { bucket, prefix: requested, folded: false, limit: 1 }, signal);
    return objects.length > 0 || key === "";
  }

  /** The query of an address. */
  function parseObjectQuery({ query = {} }: Address) {
    const { [versionName]: version, ...rest } = query;
    const request = parseReadQuery(rest);
    return request && !request.asText ? { version, range: request.range } : undefined;
  }

  /** For a missing object: a folder gets another error. */
  async function absent(cause: unknown, at: Address, where: ObjectWhere, signal: AbortSignal): Promise<unknown> {
    const isAbsent = cause instanceof ResourceError && cause.kind === "not-found";
    if (!isAbsent || hasQuery(at)) return cause;
    return (await isFolder(where.bucket, where.key, signal)) ? isDirectoryError(at.path) : cause;
  }

  async function readWhole(at: Address, where: ObjectWhere, signal: AbortSignal): Promise<Part> {
    const found = await store.get(where, signal);
    const bytes = found.size <= maxBytes ? await found.bytes(maxBytes) : await found.cancel();
    if (bytes) return described(partOf(where.key, bytes, found), found);
    if (options.linkSeconds > 0 && store.link) {
      const body = { text: `${await store.link(where, options.linkSeconds)}\r\n` };
      const says = `${found.size} bytes are too large for one read: this link is valid for ${options.linkSeconds} seconds`;
      // Only for this caller, and not cached longer than the link is valid.
      const freshness = { scope: "private", ttlMs: 0 } as const;
      return described({ body, mimeType: "text/uri-list", freshness }, found, says);
    }
    throw tooLarge(at.path, found, maxBytes);
  }

  async function readPart(at: Address, where: ObjectWhere, range: ContentRange, signal: AbortSignal): Promise<Part> {
    const head = await store.head(where, signal);
    if (head.packing !== undefined)
      throw unsupported(`${quote(at.path)} is compressed (${head.packing}), and can only be read completely`);
    // Otherwise parts of two different contents could be mixed.
    const same = { ...where, mark: head.mark };
    const stretch: Stretch = {
      size: head.size,
      async read(from, length) {
        const end = Math.min(from + length, head.size) - 1;
        return end < from ? Buffer.alloc(0) : store.slice(same, from, end, signal);
      },
    };
    const beginning = await stretch.read(0, headBytes);
    const kind = classifyContent(nameOf(where.key), beginning, head.size > beginning.length);
    const mimeType = specificType(head.mimeType) ?? kind.mimeType;
    return described(
      await readRange(stretch, range, { path: at.path, kind: { ...kind, mimeType }, maxBytes, signal }),
      head,
    );
  }

  return {
    timeoutMs: options.timeoutMs,
    order: compareCodePoints,

    async list({ cursor, limit }, { signal }) {
      const buckets = await bucketsOf(signal);
      const from = cursor === undefined ? undefined : spotOf(cursor);
      const at = from ? buckets.findIndex((bucket) => compareBuckets(bucket, from.bucket ?? "") >= 0) : 0;
      const bucket = at < 0 ? undefined : buckets[at];
      if (bucket === undefined) return { items: [] };
      const after = from?.bucket === bucket ? from.key : "";
      const request = { bucket, prefix, folded: false, limit: Math.min(limit, mostPerPage) };
      const page = await pageOf(after === "" ? request : { ...request, after }, signal);
      const items = page.objects.filter(isServed).map((object) => toEntry(bucket, object));
      const lastKey = page.objects.at(-1)?.key;
      if (page.more && lastKey !== undefined) return { items, next: pathAt(bucket, lastKey) };
      const following = buckets[at + 1];
      return following === undefined ? { items } : { items, next: `${following}/` };
    },

    cursorAfter: ({ path }) => path,

    async read(at, { signal }) {
      const request = parseObjectQuery(at);
      const spot = await wanted(at, signal);
      if (!request) throw notFound(at.path);
      if (spot.key === "") throw isDirectoryError(at.path);
      const where = { ...spot, version: request.version };
      if (!mayBeObject(spot.key)) throw await absent(notFound(at.path), at, where, signal);
      try {
        return [request.range ? await readPart(at, where, request.range, signal) : await readWhole(at, where, signal)];
      } catch (cause) {
        throw await absent(cause, at, where, signal);
      }
    },

    async stat(at, { signal }) {
      if (at.path === "" && !hasQuery(at)) return { path: "", mimeType: directoryType };
      if (at.path === "") throw notFound(at.path);
      const { bucket, key } = await wanted(at, signal);
      const request = parseObjectQuery(at);
      if (!request) throw notFound(at.path);
      if (request.version !== undefined) {
        if (!mayBeObject(key)) throw notFound(at.path);
        const { size, mark } = await store.head({ bucket, key, version: request.version }, signal);
        return { ...at, size, version: mark };
      }
      const object = await find(bucket, key, signal);
      if (object) return { ...toEntry(bucket, object), ...(hasQuery(at) && { query: at.query }) };
      if (hasQuery(at) || !(await isFolder(bucket, key, signal))) throw notFound(at.path);
      return { path: at.path, mimeType: directoryType };
    },

    async children(at, { cursor, limit }, { signal }) {
      const spot = spotOf(at.path);
      if (hasQuery(at)) throw notFound(at.path);
      if (spot.bucket === undefined) {
        const rest = (await bucketsOf(signal)).filter(
          (each) => cursor === undefined || compareBuckets(each, cursor) > 0,
        );
        const items = rest.slice(0, limit).map((path) => ({ path, mimeType: directoryType }));
        return { items, ...(rest.length > limit && { next: rest[limit - 1]! }) };
      }
      const { bucket, key } = await wanted(at, signal);
      const below = key === "" ? "" : `${key}/`;
      if (below.length < prefix.length) {
        // Above the prefix there is only one child.
        if (!(await isFolder(bucket, key, signal))) throw notFound(at.path);
        const step = prefix.indexOf("/", below.length);
        if (step >= 0) return { items: [{ path: pathAt(bucket, prefix.slice(0, step)), mimeType: directoryType }] };
      }
      const request = {
        bucket,
        prefix: below.length < prefix.length ? prefix : below,
        folded: true,
        limit: Math.min(limit, mostPerPage),
      };
      const page = await listPage(store, cursor === undefined ? request : { ...request, after: cursor }, signal);
      const objects = page.objects.filter(isServed);
      const names = new Set(objects.map((object) => object.key));
      const folders: string[] = [];
      for (const folder of page.prefixes) {
        const name = folder.slice(0, -1);
        // An address cannot be both; what is below the folder is still reachable. An object of that name may be on an earlier page.
        const wasBefore = cursor !== undefined && compareCodePoints(name, cursor) <= 0;
        // A key that starts with a slash lies in a folder without a name, which has no address.
        if (name !== "" && !names.has(name) && !(wasBefore && (await find(bucket, name, signal)))) folders.push(name);
      }
      // In the order of the store, whatever the size of a page: the name of a folder ends in a slash.
      const items = [
        ...objects.map((object): [string, Entry] => [object.key, toEntry(bucket, object)]),
        ...folders.map((folder): [string, Entry] => [
          `${folder}/`,
          { path: pathAt(bucket, folder), mimeType: directoryType },
        ]),
      ]
        .sort(([one], [other]) => compareCodePoints(one, other))
        .map(([, entry]) => entry);
      if (items.length === 0 && page.objects.length === 0 && cursor === undefined && key !== "")
        throw notFound(at.path);
      if (!page.more) return { items };
      const lastFolder = page.prefixes.at(-1);
      const next = [page.objects.at(-1)?.key, lastFolder && `${lastFolder}${last}`]
        .filter((each) => each !== undefined)
        .sort(compareCodePoints)
        .at(-1);
      return { items, next };
    },

    templates: [templateOf(single, versionName)],

    async complete({ variable, value, given }, { signal }) {
      if (variable === "bucket")
        return (await bucketsOf(signal))
          .filter((bucket) => bucket.startsWith(value))
          .map((bucket) => ({ value: bucket, reveals: { path: bucket } }));
      const bucket = single ?? given["bucket"];
      if (variable !== "key" || bucket === undefined || !(await bucketsOf(signal)).includes(bucket)) return [];
      const requested = value.length < prefix.length && prefix.startsWith(value) ? prefix : value;
      if (!requested.startsWith(prefix)) return [];
      const page = await listPage(store, { bucket, prefix: requested, folded: true, limit: 100 }, signal);
      const keys = page.objects.filter(isServed).map(({ key }) => key);
      return [...page.prefixes, ...keys].map((key): Suggestion => ({
        value: key,
        reveals: { path: pathAt(bucket, key.replace(/\/$/, "")) },
      }));
    },

    impliesDirectories: true,
    watch: ({ signal }) =>
      watchObjects(
        { list: pageOf, buckets: () => bucketsOf(signal), prefix, pathAt, pollMs: options.pollMs, runtime, isServed },
        signal,
      ),
  };
}

function templateOf(single: string | undefined, versionName: string): SourceTemplate {
  return {
    template: `${single === undefined ? "{bucket}/" : ""}{+key}{?${versionName},lines,bytes}`,
    name: "Object",
    description: "An object, an earlier version of it, or a range of its lines or bytes",
  };
}

/** A key that ends in a slash is only a folder marker. */
function isServed({ key }: Pick<StoredObject, "key">): boolean {
  return !key.endsWith("/");
}

/** Valid bucket names only; other text could change the meaning of a URL. */
function isBucketName(name: string): boolean {
  return /^[\w.-]+$/.test(name) && !hasDots(name);
}

function compareBuckets(left: string, right: string): number {
  return compareCodePoints(`${left}/`, `${right}/`);
}

/** Whether a segment would be resolved away in a URL. */
function hasDots(key: string): boolean {
  return key.split("/").some((segment) => segment === "." || segment === "..");
}

function partOf(key: string, bytes: Buffer, { mimeType }: ObjectBody): Part {
  const part = toPart(nameOf(key), bytes);
  const stated = specificType(mimeType);
  // The type that the store states, unless it says text for binary data.
  const fits = stated !== undefined && ("text" in part.body || !isTextType(stated));
  return fits ? { ...part, mimeType: stated } : part;
}

function described(part: Part, { meta }: { readonly meta: Readonly<Record<string, unknown>> }, says?: string): Part {
  const more = { ...part.meta, ...meta, ...(says !== undefined && { "pressmark/note": says }) };
  return Object.keys(more).length > 0 ? { ...part, meta: more } : part;
}

/** Types that stores use if none was given. */
const generic = new Set(["application/octet-stream", "binary/octet-stream", "application/x-www-form-urlencoded"]);

function specificType(mimeType: string | undefined): string | undefined {
  const type = mimeType?.split(";")[0]?.trim().toLowerCase();
  return type === undefined || type === "" || generic.has(type) ? undefined : type;
}

function nameOf(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

function tooLarge(path: string, { size, packing }: ObjectBody, maxBytes: number): ResourceError {
  if (packing !== undefined && size <= maxBytes)
    return new ResourceError("too-large", `${quote(path)} is compressed, and holds more than ${maxBytes} bytes`, {
      details: { reason: "too-large", maxBytes },
    });
  return new ResourceError(
    "too-large",
    `${quote(path)} has ${size} bytes; at most ${maxBytes} can be read in one call; read a range`,
    {
      details: {
        reason: "too-large",
        size,
        ranges: [formatContentRange({ unit: "bytes", first: 0, last: maxBytes - 1 })],
      },
    },
  );
}
