/** Finds keys with SCAN: the list, the children of a path, and whether there is anything below one. */
import { invalid, notFound } from "../../errors.ts";
import { Lru } from "../../lib/lru.ts";
import { mimeOfName } from "../../lib/mime.ts";
import { directoryType } from "../../resources.ts";
import type { Page } from "../../resources.ts";
import { segmentsOf } from "../../source.ts";
import type { Entry, ListRequest } from "../../source.ts";
import type { Query, RedisConnection } from "./connection.ts";
import type { KeyPaths } from "./key-paths.ts";
import { isWrongType } from "./errors.ts";
import { describeValue, lengthCommands, type RedisType, toRedisType } from "./types.ts";

export interface Keyspace {
  list(request: ListRequest, signal: AbortSignal): Promise<Page<Entry>>;
  /** Throws "not-found" once all keys were looked at and none is below the path. */
  children(path: string, request: ListRequest, signal: AbortSignal): Promise<Page<Entry>>;
  /** The entry of the key at this path; undefined if there is none. */
  find(path: string, signal: AbortSignal): Promise<Entry | undefined>;
  /** Whether a key is below this path; "unknown" if none was among the keys that a call may look at. */
  hasBelow(path: string, signal: AbortSignal): Promise<boolean | "unknown">;
  /** Paths of keys that start like this, in order; some of them if there are many. */
  startingWith(path: string, limit: number, signal: AbortSignal): Promise<readonly string[]>;
  /** The key at this path, unless it is not served. */
  keyAt(path: string): Buffer | undefined;
  /** The path of a key, unless it is not served. */
  pathOf(key: Buffer): string | undefined;
  /** Types of modules that were met and left out. */
  readonly leftOutTypes: ReadonlySet<string>;
}

interface KeyspaceOptions {
  readonly connection: Pick<RedisConnection, "send" | "sendAll">;
  readonly paths: KeyPaths;
  readonly isServed: (path: string) => boolean;
  /** How many keys one call may look at to find out whether there are any below a path. */
  readonly maxScanned: number;
}

/** How many keys one SCAN looks at. More would delay other clients of the server. */
const keysPerScan = 1000;
/** How many times a page calls SCAN. */
const scansPerPage = 10;
/** The URI of a longer key might be refused. */
const maxKeyBytes = 8192;

export function createKeyspace({ connection, paths, isServed, maxScanned }: KeyspaceOptions): Keyspace {
  const leftOutTypes = new Set<string>();
  /** A key below each directory that was seen: while it exists, so does the directory. */
  const witnesses = new Lru<string, Buffer>({ maxEntries: 10_000 });

  function pathOf(key: Buffer): string | undefined {
    if (key.length > maxKeyBytes) return undefined;
    const path = paths.pathOf(key);
    return isServed(path) ? path : undefined;
  }

  function keyAt(path: string): Buffer | undefined {
    const key = paths.keyOf(path);
    return key !== undefined && key.length <= maxKeyBytes && isServed(path) ? key : undefined;
  }

  /** One step of a scan: served keys by path, and the next cursor; undefined at the end. */
  async function scan(cursor: string, prefix: Buffer, count: number, signal: AbortSignal) {
    const match = prefix.length === 0 ? [] : ["MATCH", Buffer.concat([escapeGlob(prefix), Buffer.from("*")])];
    const reply = await connection.send(["SCAN", cursor, ...match, "COUNT", count], signal);
    const [next, keys] = reply as [Buffer, Buffer[]];
    const found = new Map<string, Buffer>();
    for (const key of keys) {
      const path = pathOf(key);
      if (path === undefined) continue;
      found.set(path, key);
      for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1))
        witnesses.set(path.slice(0, slash), key);
    }
    const following = next.toString();
    return { found, next: following === "0" ? undefined : following };
  }

  /** In the same order; undefined for a key that does not exist or has the type of a module. */
  async function entriesOf(found: readonly (readonly [string, Buffer])[], signal: AbortSignal) {
    const types = await connection.sendAll(
      found.map(([, key]): Query => ["TYPE", key]),
      signal,
    );
    const known = found.flatMap(([path, key], index) => {
      const name = String(types[index]);
      const type = toRedisType(name);
      if (type === undefined && name !== "none") leftOutTypes.add(name);
      return type === undefined ? [] : [{ path, key, type }];
    });
    // A value that was replaced meanwhile by one of another type has no length now.
    const lengths = await Promise.all(
      known.map(({ key, type }) => connection.send([lengthCommands[type], key], signal).catch(lengthUnknown)),
    );
    const entries = new Map<string, Entry>();
    for (const [index, { path, type }] of known.entries()) entries.set(path, toEntry(path, type, lengths[index]));
    return entries;
  }

  async function hasBelow(path: string, signal: AbortSignal): Promise<boolean | "unknown"> {
    const prefix = paths.prefixBelow(path);
    if (prefix === undefined) return false;
    const witness = witnesses.get(path);
    if (witness && (await connection.send(["EXISTS", witness], signal)) === 1) return true;
    let cursor: string | undefined = "0";
    for (let looked = 0; looked < maxScanned; looked += keysPerScan) {
      const { found, next }: Awaited<ReturnType<typeof scan>> = await scan(cursor, prefix, keysPerScan, signal);
      if (found.size > 0) return true;
      if (next === undefined) return false;
      cursor = next;
    }
    return "unknown";
  }

  return {
    leftOutTypes,
    keyAt,
    pathOf,
    hasBelow,

    async list({ cursor, limit }, signal) {
      const found = new Map<string, Buffer>();
      let next: string | undefined = checkCursor(cursor);
      const count = Math.min(Math.max(limit, 10), keysPerScan);
      for (let scans = 0; next !== undefined && scans < scansPerPage && found.size < limit; scans += 1) {
        const step: Awaited<ReturnType<typeof scan>> = await scan(next, Buffer.alloc(0), count, signal);
        for (const [path, key] of step.found) found.set(path, key);
        next = step.next;
      }
      const items = [...(await entriesOf([...found], signal)).values()];
      return next === undefined ? { items } : { items, next };
    },

    async children(path, { cursor, limit }, signal) {
      const prefix = paths.prefixBelow(path);
      if (prefix === undefined) throw notFound(path);
      const inside = path === "" ? "" : `${path}/`;
      let isKnown = path === "" || (cursor?.endsWith(foundMark) ?? false);
      let next: string | undefined = checkCursor(cursor?.replace(foundMark, ""));
      /** Direct children, and whether something is below each. */
      const below = new Map<string, boolean>();
      for (let scans = 0; next !== undefined && scans < scansPerPage && below.size < limit; scans += 1) {
        const step: Awaited<ReturnType<typeof scan>> = await scan(next, prefix, keysPerScan, signal);
        for (const each of step.found.keys()) {
          const slash = each.indexOf("/", inside.length);
          const child = slash < 0 ? each : each.slice(0, slash);
          below.set(child, slash >= 0 || (below.get(child) ?? false));
        }
        next = step.next;
      }
      isKnown ||= below.size > 0;
      if (!isKnown && next === undefined) throw notFound(path);
      const keys = [...below.keys()].flatMap((child) => {
        const key = keyAt(child);
        return key === undefined ? [] : [[child, key] as const];
      });
      const entries = await entriesOf(keys, signal);
      const items = [...below].flatMap(([child, hasChildren]): Entry[] => {
        const entry = entries.get(child);
        if (entry) return [hasChildren ? { ...entry, hasChildren } : entry];
        return hasChildren ? [{ path: child, mimeType: directoryType }] : [];
      });
      return next === undefined ? { items } : { items, next: isKnown ? next + foundMark : next };
    },

    async find(path, signal) {
      const key = keyAt(path);
      return key === undefined ? undefined : (await entriesOf([[path, key]], signal)).get(path);
    },

    async startingWith(start, limit, signal) {
      // The last segment is not complete, and an escape in it neither.
      const slash = start.lastIndexOf("/");
      const prefix = paths.prefixBelow(slash < 0 ? "" : start.slice(0, slash));
      if (prefix === undefined) return [];
      const found = new Set<string>();
      let next: string | undefined = "0";
      for (let scans = 0; next !== undefined && scans < scansPerPage && found.size < limit; scans += 1) {
        const step: Awaited<ReturnType<typeof scan>> = await scan(next, prefix, keysPerScan, signal);
        for (const path of step.found.keys()) if (path.startsWith(start)) found.add(path);
        next = step.next;
      }
      return [...found].sort().slice(0, limit);
    },
  };
}

/** Ends a cursor of children after one of them was found. */
const foundMark = "+";

function checkCursor(cursor = "0"): string {
  if (!/^\d{1,20}$/.test(cursor)) throw invalid("the cursor is not one of this mount; begin without one");
  return cursor;
}

function toEntry(path: string, type: RedisType, length: unknown): Entry {
  const name = segmentsOf(path).at(-1) ?? "";
  const description = typeof length === "number" ? describeValue(type, length) : undefined;
  if (type !== "string") return { path, mimeType: "application/json", ...(description && { description }) };
  return { path, mimeType: mimeOfName(name), ...(typeof length === "number" && { size: length }) };
}

function lengthUnknown(cause: unknown): undefined {
  if (!isWrongType(cause)) throw cause;
}

/** Bytes that mean themselves in a pattern. */
function escapeGlob(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("latin1").replace(/[*?[\]\\^-]/g, "\\$&"), "latin1");
}
