/** Reads one resource, or returns its metadata. */
import { type ErrorKind, invalid, notFound, quote, ResourceError } from "../errors.ts";
import { cutLines } from "../lib/cut-lines.ts";
import { type Lines, linesOf, withLines, withoutLines } from "../lib/line-range-uri.ts";
import { directoryType, hasChildren } from "../resources.ts";
import type { Call, Content, Freshness, ReadResult, Resource, Resources } from "../resources.ts";
import type { Address, Entry, Part } from "../source.ts";
import { underMount } from "./complete-template.ts";
import type { Access } from "./access.ts";
import type { RoutedMount, Location } from "./route.ts";
import { queryKey, mergeLists } from "./merge-lists.ts";

/** Reading a directory shows this many children, and counts up to the second number. */
const shownChildren = 100;
const countedChildren = 10_000;

export interface ResourceReader extends Pick<Resources, "read" | "stat"> {
  /** Returns the source's entry for a location that the caller may see. */
  findEntry(place: Location, uri: string, call: Call): Promise<Entry>;
  /** Finds a resource by its URI. A line range that its source does not know names the whole resource. */
  locate(uri: string, call: Call): Promise<LocatedEntry>;
}

interface LocatedEntry {
  readonly place: Location;
  readonly entry: Entry;
}

export function createResourceReader(access: Access): ResourceReader {
  async function read(uri: string, call: Call): Promise<ReadResult> {
    const lines = linesOf(uri);
    return lines ? readLines(uri, lines, call) : readExactly(uri, call);
  }

  /** Cuts the lines out of the whole text if the source does not know line ranges. */
  async function readLines(uri: string, lines: Lines, call: Call): Promise<ReadResult> {
    let missing: unknown = notFound(uri);
    const given = await readExactly(uri, call).catch((cause: unknown) => {
      if (!isMissing(cause)) throw cause;
      missing = cause;
      return undefined;
    });
    if (given?.contents.some(({ meta }) => meta?.["pressmark/range"] !== undefined)) return given;
    const whole = await readExactly(withoutLines(uri), call, { mayBeDirectory: false }).catch((cause: unknown) => {
      if (!given && !isMissing(cause)) throw cause;
      return undefined;
    });
    const text = onlyText(whole);
    // A source may have lines of its own: then it returns another text than the whole.
    if (given && (text === undefined || onlyText(given) !== text)) return given;
    const [content] = whole?.contents ?? [];
    if (!whole || !content || text === undefined) throw missing;
    return { ...whole, contents: [linesOfContent(content, text, lines, uri)] };
  }

  async function readExactly(uri: string, call: Call, { mayBeDirectory = true } = {}): Promise<ReadResult> {
    const { mount, at } = access.place(uri, call);
    let parts: readonly Part[];
    try {
      parts = await mount.source.read(at, call);
    } catch (cause) {
      if (isDirectory(cause) && !mayBeDirectory) throw notFound(uri);
      if (isDirectory(cause)) return readDirectory({ mount, at }, uri, call);
      // The error of a link could reveal that its target exists.
      if (!access.isOpen && isTelling(cause)) await findEntry({ mount, at }, uri, call);
      throw withUris(access.refusal(cause, { uri, mount, asked: "read" }, call), uri, mount);
    }
    const result = toReadResult(parts, { mount, at }, uri, call);
    if (result.contents.length === 0) throw notFound(uri);
    return result;
  }

  function toReadResult(parts: readonly Part[], { mount, at }: Location, uri: string, call: Call): ReadResult {
    const contents: Content[] = [];
    let ttlMs = Infinity;
    let scope: Freshness["scope"] = "public";
    for (const part of parts) {
      const own = uriOf(part, { mount, at }, uri, call);
      if (own === undefined || !access.mayReach(call, mount, part)) continue;
      contents.push(toContent(own, part));
      ttlMs = Math.min(ttlMs, part.freshness?.ttlMs ?? mount.freshness?.ttlMs ?? 0);
      // Private if either the part or the mount says so.
      const scopes = [part.freshness?.scope, mount.freshness?.scope];
      if (scopes.includes("private") || !scopes.includes("public")) scope = "private";
    }
    return { contents, ttlMs, scope: access.isOpen ? scope : "private" };
  }

  /** Undefined if the caller may not see the part. */
  function uriOf({ readFrom, at: own }: Part, { mount, at }: Location, uri: string, call: Call): string | undefined {
    if (readFrom !== undefined) {
      const other = access.routes.find(readFrom);
      return other && access.maySee(call, other.mount, other.at) ? readFrom : undefined;
    }
    if (own === undefined || isSame(own, at)) return uri;
    return access.maySee(call, mount, own) ? access.routes.format(mount, own) : undefined;
  }

  async function readDirectory({ mount, at }: Location, uri: string, call: Call): Promise<ReadResult> {
    const { source } = mount;
    if (source.children === undefined) throw notFound(uri);
    // A link may lead to a directory that the caller may not see.
    if (!access.isOpen) await findEntry({ mount, at }, uri, call);
    try {
      const run = {
        mount,
        page: async (request: { limit: number }) => (await source.children?.(at, request, call)) ?? { items: [] },
      };
      const { items, next } = await mergeLists(access, [run], call, { size: countedChildren, strict: true });
      const body = { text: JSON.stringify(toDirectory(uri, items, next !== undefined)) };
      return {
        contents: [{ uri, mimeType: "application/json", body }],
        ttlMs: mount.freshness?.ttlMs ?? 0,
        scope: access.isOpen ? (mount.freshness?.scope ?? "private") : "private",
      };
    } catch (cause) {
      throw access.refusal(cause, { uri, mount, asked: "children" }, call);
    }
  }

  async function findEntry({ mount, at }: Location, uri: string, call: Call): Promise<Entry> {
    const { source } = mount;
    try {
      if (source.stat) {
        const entry = await source.stat(at, call);
        if (!access.mayReach(call, mount, entry)) throw notFound(uri);
        return entry;
      }
      const [content] = toReadResult(await source.read(at, call), { mount, at }, uri, call).contents;
      if (content === undefined) throw notFound(uri);
      const { mimeType } = content;
      return { path: at.path, mimeType };
    } catch (cause) {
      if (isDirectory(cause) && source.children) return { path: at.path, mimeType: directoryType };
      throw access.refusal(cause, { uri, mount, asked: "stat" }, call);
    }
  }

  async function locate(uri: string, call: Call): Promise<LocatedEntry> {
    const place = access.place(uri, call);
    try {
      return { place, entry: await findEntry(place, uri, call) };
    } catch (cause) {
      if (!linesOf(uri) || !isMissing(cause)) throw cause;
      const wholePlace = access.place(withoutLines(uri), call);
      const { size: _, ...entry } = await findEntry(wholePlace, uri, call).catch((error: unknown) => {
        throw isMissing(error) ? cause : error;
      });
      if (entry.mimeType === directoryType) throw cause;
      return { place: wholePlace, entry };
    }
  }

  return {
    read,
    findEntry,
    locate,
    async stat(uri, call) {
      const { place, entry } = await locate(uri, call);
      return access.describe(uri, entry, place.mount, call);
    },
  };
}

/** Lines of a resource whose source has no ranges. */
function linesOfContent(content: Content, text: string, [first, wantedLast]: Lines, uri: string): Content {
  const cut = cutLines(text, first, wantedLast);
  if (!("text" in cut)) {
    const { total } = cut;
    throw invalid(`${quote(uri)} has ${total} ${total === 1 ? "line" : "lines"}, so there is none at ${first}`, {
      reason: "beyond-end",
      total,
    });
  }
  const { last, total } = cut;
  const width = last - first + 1;
  const next = withLines(uri, [last + 1, last + width]);
  const range = { lines: [first, last], total, ...(last < total && { next: next.slice(next.indexOf("?") + 1) }) };
  return { ...content, uri, body: { text: cut.text }, meta: { ...content.meta, "pressmark/range": range } };
}

/** Undefined if there are several contents, or bytes. */
function onlyText(result: ReadResult | undefined): string | undefined {
  const [content, ...others] = result?.contents ?? [];
  return content && others.length === 0 && "text" in content.body ? content.body.text : undefined;
}

function isMissing(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "not-found";
}

function isDirectory(cause: unknown): boolean {
  return cause instanceof ResourceError && cause.kind === "directory";
}

const tellingKinds: ReadonlySet<ErrorKind> = new Set(["too-large", "invalid", "unsupported", "unexpected"]);

/** Returns whether an error reveals more than that nothing exists. */
function isTelling(cause: unknown): boolean {
  return cause instanceof ResourceError && tellingKinds.has(cause.kind);
}

/**
 * The error for a resource that is too large says what to read instead. The source gives it without URIs: a template and queries.
 * The caller gets the listed template and complete URIs.
 */
function withUris(error: ResourceError, uri: string, mount: RoutedMount): ResourceError {
  if (error.kind !== "too-large" || error.details === undefined) return error;
  const { template, ranges } = error.details;
  const isRelative = typeof template === "string" && mount.source.templates?.some((each) => each.template === template);
  if (!isRelative && !Array.isArray(ranges)) return error;
  const mind = uri.indexOf("?");
  const bare = mind < 0 ? uri : uri.slice(0, mind);
  const details = {
    ...error.details,
    ...(isRelative && { template: underMount(template, mount) }),
    ...(Array.isArray(ranges) && { ranges: ranges.map((query) => `${bare}?${String(query)}`) }),
  };
  return new ResourceError(error.kind, error.message, { passing: error.passing, cause: error.cause, details });
}

function isSame(left: Address, right: Address): boolean {
  return left.path === right.path && queryKey(left) === queryKey(right);
}

/** The body object is passed on unchanged: a transport may have cached its encoding. */
function toContent(uri: string, { mimeType, body, meta }: Part): Content {
  if (meta === undefined) return mimeType === undefined ? { uri, body } : { uri, mimeType, body };
  return mimeType === undefined ? { uri, body, meta } : { uri, mimeType, body, meta };
}

function toDirectory(uri: string, items: readonly Resource[], uncounted: boolean) {
  return {
    uri,
    count: items.length,
    ...(uncounted && { countIsAtLeast: true }),
    children: items.slice(0, shownChildren).map((item) => ({
      uri: item.uri,
      name: item.name,
      mimeType: item.mimeType,
      size: item.size,
      ...(item.mimeType !== directoryType && hasChildren(item) && { hasChildren: true }),
    })),
    more: uncounted || items.length > shownChildren,
  };
}
