/** Finds keys with SCAN: the list, the children of a path, and whether there is anything below one. */
import { notFound } from "../../errors.ts";
import { Lru } from "../../lib/lru.ts";
import { mimeOfName } from "../../lib/mime.ts";
import { directoryType } from "../../resources.ts";
import type { Page } from "../../resources.ts";
import { segmentsOf } from "../../source.ts";
import type { Entry, ListRequest } from "../../source.ts";
import type { RedisCommand, RedisConnection } from "./connection.ts";
import { indexKeys } from "./index-keys.ts";
import type { KeyPaths } from "./key-paths.ts";
import { checkCursor, keysPerScan, scanKeys, type ScanStep } from "./scan-keys.ts";
import { describeValue, lengthCommands, type RedisType, toRedisType } from "./types.ts";

export interface Keyspace {
  list(request: ListRequest, signal: AbortSignal): Promise<Page<Entry>>;
  /** Throws "not-found" once all keys were looked at and none is below the path. */
  children(path: string, request: ListRequest, signal: AbortSignal): Promise<Page<Entry>>;
  /** The key at this path, or the directory, if a key below it was seen; undefined otherwise. */
  find(path: string, signal: AbortSignal): Promise<Entry | undefined>;
  /** Whether a key is below this path; "unknown" if none was among the keys that a call may look at. */
  hasBelow(path: string, signal: AbortSignal): Promise<boolean | "unknown">;
  /** Paths of keys that start like this, in order; some of them if there are many. */
  startingWith(path: string, limit: number, signal: AbortSignal): Promise<readonly string[]>;
  /** The key at this path, unless it is not served. */
  keyAt(path: string): Buffer | undefined;
  /** The path of a key, unless it is not served. */
  pathOf(key: Buffer): string | undefined;
  /** What is left out of the first keys of the database, besides what `include` and `exclude` leave out. */
  sample(signal: AbortSignal): Promise<LeftOutKeys>;
}

export interface LeftOutKeys {
  /** Types of modules. */
  readonly types: ReadonlySet<string>;
  /** Numbers of keys: of too many bytes, of too many parts, and those that the user may not read. */
  readonly tooLong: number;
  readonly tooDeep: number;
  readonly refused: number;
}

interface KeyspaceOptions {
  readonly connection: Pick<RedisConnection, "send" | "sendAll">;
  readonly paths: KeyPaths;
  readonly isServed: (path: string) => boolean;
  /** How many keys one call may look at to find out whether there are any below a path. */
  readonly maxScanned: number;
}

/** A path of a page. */
interface Candidate {
  readonly path: string;
  /** A key below it that this call has seen. */
  below?: Buffer | undefined;
}

/** How many times a page calls SCAN. */
const scansPerPage = 10;
/** Up to so many keys, all are looked at to know which of them have others below. */
const smallDatabase = keysPerScan * scansPerPage;
/** The URI of a longer key might be refused. */
export const maxKeyBytes = 8192;
/** Each part is a directory to descend into, so a key of separators alone would be thousands of them. */
export const maxParts = 100;
const noPrefix = Buffer.alloc(0);

export function createKeyspace({ connection, paths, isServed, maxScanned }: KeyspaceOptions): Keyspace {
  /** For a directory that was seen, a key below it: while that exists, so does the directory. */
  const seenBelow = new Lru<string, Buffer>({ maxEntries: 100_000 });

  const isTooDeep = (key: Buffer): boolean => paths.hasMoreParts(key, maxParts);

  function pathOf(key: Buffer): string | undefined {
    if (key.length > maxKeyBytes || isTooDeep(key)) return undefined;
    const path = paths.pathOf(key);
    return isServed(path) ? path : undefined;
  }

  function keyAt(path: string): Buffer | undefined {
    const key = paths.keyOf(path);
    return key && pathOf(key) === undefined ? undefined : key;
  }

  const scan = (cursor: string, prefix: Buffer, signal: AbortSignal, count?: number): Promise<ScanStep> =>
    scanKeys(connection, { cursor, prefix, ...(count !== undefined && { count }) }, signal);

  async function isSmall(signal: AbortSignal): Promise<boolean> {
    return Number(await connection.send(["DBSIZE"], signal)) <= smallDatabase;
  }

  /** Keys of a small database that a page from `cursor` to `next` has not looked at; some of the page may be among them. */
  async function* otherKeys(cursor: string, next: string | undefined, prefix: Buffer, signal: AbortSignal) {
    const starts = [next, ...(cursor === "0" ? [] : ["0"])];
    for (let start of starts)
      // After many keys were deleted, SCAN may go through a large and empty table.
      for (let scans = 0; start !== undefined && scans < 2 * scansPerPage; scans += 1) {
        const step: ScanStep = await scan(start, prefix, signal);
        yield step.keys;
        start = step.next;
      }
  }

  /** Keys and directories at these paths, without those that do not exist, may not be read, or have the type of a module. */
  async function entriesOf(wanted: readonly Candidate[], signal: AbortSignal): Promise<Entry[]> {
    const candidates = wanted.map(({ path, below }) => {
      if (below) seenBelow.set(path, below);
      // A key that this call has seen needs no second look: it may be gone by now while others are there.
      return { path, key: keyAt(path), isBelow: below !== undefined, earlier: below ? undefined : seenBelow.get(path) };
    });
    const queries = candidates.flatMap(({ key, earlier }): RedisCommand[] => [
      ...(key ? [["TYPE", key] as const] : []),
      ...(earlier ? [["EXISTS", earlier] as const] : []),
    ]);
    const replies = (await connection.sendAll(queries, signal)).values();
    const found = candidates.map(({ path, key, isBelow, earlier }) => {
      const type = key && toRedisType(String(replies.next().value));
      const isThere = earlier !== undefined && replies.next().value === 1;
      if (earlier && !isThere) seenBelow.delete(path);
      return { path, key, type, hasChildren: isBelow || isThere };
    });
    const lengths = await connection.sendAll(
      found.flatMap(({ key, type }): RedisCommand[] => (key && type ? [[lengthCommands[type], key]] : [])),
      signal,
    );
    const following = lengths.values();
    return found.flatMap(({ path, key, type, hasChildren }): Entry[] => {
      if (!key || !type) return hasChildren ? [{ path, mimeType: directoryType }] : [];
      const entry = toEntry(path, type, following.next().value);
      return [hasChildren ? { ...entry, hasChildren } : entry];
    });
  }

  async function hasBelow(path: string, signal: AbortSignal): Promise<boolean | "unknown"> {
    const prefix = paths.prefixBelow(path);
    if (prefix === undefined) return false;
    const earlier = seenBelow.get(path);
    if (earlier && (await connection.sendAll([["EXISTS", earlier]], signal))[0] === 1) return true;
    let cursor: string | undefined = "0";
    for (let looked = 0; looked < maxScanned; looked += keysPerScan) {
      const { keys, next }: ScanStep = await scan(cursor, prefix, signal);
      const below = keys.find((key) => pathOf(key) !== undefined);
      if (below) {
        seenBelow.set(path, below);
        return true;
      }
      if (next === undefined) return false;
      cursor = next;
    }
    return "unknown";
  }

  return {
    keyAt,
    pathOf,
    hasBelow,

    async list({ cursor, limit }, signal) {
      const start = checkCursor(cursor);
      let next: string | undefined = start;
      const isComplete = await isSmall(signal);
      const found = new Map<string, Candidate>();
      const keys: Buffer[] = [];
      const count = Math.min(Math.max(limit, 10), keysPerScan);
      for (let scans = 0; next !== undefined && scans < scansPerPage && found.size < limit; scans += 1) {
        const step: ScanStep = await scan(next, noPrefix, signal, count);
        for (const key of step.keys) {
          const path = pathOf(key);
          if (path === undefined) continue;
          found.set(path, { path });
          const slash = path.lastIndexOf("/");
          if (slash > 0) seenBelow.set(path.slice(0, slash), key);
        }
        keys.push(...step.keys);
        next = step.next;
      }
      if (isComplete) {
        for await (const others of otherKeys(start, next, noPrefix, signal)) keys.push(...others);
        const findKey = indexKeys(keys, (key) => pathOf(key) !== undefined);
        for (const candidate of found.values()) {
          const prefix = paths.prefixBelow(candidate.path);
          candidate.below = prefix && findKey(prefix);
        }
      }
      const entries = await entriesOf([...found.values()], signal);
      const items = entries.filter(({ mimeType }) => mimeType !== directoryType);
      return next === undefined ? { items } : { items, next };
    },

    async children(path, { cursor, limit }, signal) {
      const prefix = paths.prefixBelow(path);
      if (prefix === undefined) throw notFound(path);
      const start = checkCursor(cursor?.replace(foundMark, ""));
      let next: string | undefined = start;
      const nameAt = path === "" ? 0 : path.length + 1;
      /** By the bytes of the part below the path, so that of many keys in one directory only one is looked at closely. */
      const found = new Map<string, Candidate>();
      function note(key: Buffer, isOnPage: boolean): void {
        const end = paths.partEnd(key, prefix!.length);
        const name = key.toString("latin1", prefix!.length, end);
        const isBelow = end < key.length;
        const known = found.get(name);
        if (known ? known.below || !isBelow : !isOnPage) return;
        const each = pathOf(key);
        if (each === undefined) return;
        const slash = each.indexOf("/", nameAt);
        const child = known ?? { path: slash < 0 ? each : each.slice(0, slash) };
        if (isBelow) child.below = key;
        found.set(name, child);
      }
      for (let scans = 0; next !== undefined && scans < scansPerPage && found.size < limit; scans += 1) {
        const step: ScanStep = await scan(next, prefix, signal);
        for (const key of step.keys) note(key, true);
        next = step.next;
      }
      const isKnown = path === "" || found.size > 0 || cursor?.endsWith(foundMark);
      if (!isKnown && next === undefined) throw notFound(path);
      if ((next !== undefined || start !== "0") && found.size > 0 && (await isSmall(signal)))
        for await (const others of otherKeys(start, next, prefix, signal)) for (const key of others) note(key, false);
      const items = await entriesOf([...found.values()], signal);
      return next === undefined ? { items } : { items, next: isKnown ? next + foundMark : next };
    },

    async find(path, signal) {
      const isExpected = seenBelow.get(path) !== undefined;
      const [entry] = await entriesOf([{ path }], signal);
      if (!entry || entry.hasChildren || entry.mimeType === directoryType) return entry;
      // The key below that was seen earlier may be gone while others are there.
      const mayLook = isExpected || (await isSmall(signal));
      return mayLook && (await hasBelow(path, signal)) === true ? { ...entry, hasChildren: true } : entry;
    },

    async startingWith(start, limit, signal) {
      // The last segment is not complete, and an escape in it neither.
      const slash = start.lastIndexOf("/");
      const prefix = paths.prefixBelow(slash < 0 ? "" : start.slice(0, slash));
      if (prefix === undefined) return [];
      const found = new Set<string>();
      let next: string | undefined = "0";
      for (let scans = 0; next !== undefined && scans < scansPerPage && found.size < limit; scans += 1) {
        const step: ScanStep = await scan(next, prefix, signal);
        for (const key of step.keys) {
          const path = pathOf(key);
          if (path?.startsWith(start)) found.add(path);
        }
        next = step.next;
      }
      return [...found].sort().slice(0, limit);
    },

    async sample(signal) {
      const sample = { types: new Set<string>(), tooLong: 0, tooDeep: 0, refused: 0 };
      let next: string | undefined = "0";
      for (let scans = 0; next !== undefined && scans < scansPerPage; scans += 1) {
        const step: ScanStep = await scan(next, noPrefix, signal);
        for (const key of step.keys)
          if (key.length > maxKeyBytes) sample.tooLong += 1;
          else if (isTooDeep(key)) sample.tooDeep += 1;
        const served = step.keys.filter((key) => pathOf(key) !== undefined);
        const types = await connection.sendAll(
          served.map((key): RedisCommand => ["TYPE", key]),
          signal,
        );
        for (const type of types)
          if (type === null) sample.refused += 1;
          else if (String(type) !== "none" && !toRedisType(String(type))) sample.types.add(String(type));
        next = step.next;
      }
      return sample;
    },
  };
}

/** Ends a cursor of children after one of them was found. */
const foundMark = "+";

/** `length` is no number if the value was replaced meanwhile by one of another type. */
function toEntry(path: string, type: RedisType, length: unknown): Entry {
  const name = segmentsOf(path).at(-1) ?? "";
  const description = typeof length === "number" ? describeValue(type, length) : undefined;
  if (type !== "string") return { path, mimeType: "application/json", ...(description && { description }) };
  return { path, mimeType: mimeOfName(name), ...(typeof length === "number" && { size: length }) };
}
