/** Finds keys with SCAN: the list, the children of a path, and whether there is anything below one. */
import { invalid, notFound } from "../../errors.ts";
import { Lru } from "../../lib/lru.ts";
import { mimeOfName } from "../../lib/mime.ts";
import { directoryType } from "../../resources.ts";
import type { Page } from "../../resources.ts";
import { segmentsOf } from "../../source.ts";
import type { Entry, ListRequest } from "../../source.ts";
import type { RedisCommand, RedisConnection } from "./connection.ts";
import type { KeyPaths } from "./key-paths.ts";
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

/** One step of a scan. */
interface ScanStep {
  /** Paths of served keys; some may occur twice. */
  readonly paths: readonly string[];
  /** Undefined at the end. */
  readonly next: string | undefined;
}

/** How many keys one SCAN looks at. More would delay other clients of the server. */
const keysPerScan = 1000;
/** How many times a page calls SCAN. */
const scansPerPage = 10;
/** Up to so many keys, all are looked at to know which of them have others below. */
const smallDatabase = keysPerScan * scansPerPage;
/** The URI of a longer key might be refused. */
const maxKeyBytes = 8192;

export function createKeyspace({ connection, paths, isServed, maxScanned }: KeyspaceOptions): Keyspace {
  const leftOutTypes = new Set<string>();
  /** A key below each path that was seen to have one: while it exists, there is something below. */
  const witnesses = new Lru<string, Buffer>({ maxEntries: 100_000 });

  function pathOf(key: Buffer): string | undefined {
    if (key.length > maxKeyBytes) return undefined;
    const path = paths.pathOf(key);
    return isServed(path) ? path : undefined;
  }

  function keyAt(path: string): Buffer | undefined {
    const key = paths.keyOf(path);
    return key !== undefined && key.length <= maxKeyBytes && isServed(path) ? key : undefined;
  }

  async function scan(cursor: string, prefix: Buffer, count: number, signal: AbortSignal): Promise<ScanStep> {
    const match = prefix.length === 0 ? [] : ["MATCH", Buffer.concat([escapeGlob(prefix), Buffer.from("*")])];
    const reply = await connection.send(["SCAN", cursor, ...match, "COUNT", count], signal);
    const [next, keys] = reply as [Buffer, Buffer[]];
    const found: string[] = [];
    for (const key of keys) {
      const path = pathOf(key);
      if (path === undefined) continue;
      found.push(path);
      for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1))
        witnesses.set(path.slice(0, slash), key);
    }
    const following = next.toString();
    return { paths: found, next: following === "0" ? undefined : following };
  }

  /** Looks at all keys of a small database. In a large one, what is below a key is known once it was seen. */
  async function learn(signal: AbortSignal): Promise<void> {
    if (Number(await connection.send(["DBSIZE"], signal)) > smallDatabase) return;
    for (let next: string | undefined = "0"; next !== undefined;)
      ({ next } = await scan(next, Buffer.alloc(0), keysPerScan, signal));
  }

  /** Keys and directories at these paths, without those that do not exist or have the type of a module. */
  async function entriesOf(wanted: readonly string[], signal: AbortSignal): Promise<Entry[]> {
    const candidates = wanted.map((path) => ({ path, key: keyAt(path), witness: witnesses.get(path) }));
    const queries = candidates.flatMap(({ key, witness }): RedisCommand[] => [
      ...(key ? [["TYPE", key] as const] : []),
      ...(witness ? [["EXISTS", witness] as const] : []),
    ]);
    const replies = (await connection.sendAll(queries, signal)).values();
    const found = candidates.map(({ path, key, witness }) => {
      const name = key ? String(replies.next().value) : "none";
      const type = toRedisType(name);
      if (type === undefined && name !== "none") leftOutTypes.add(name);
      const hasChildren = witness !== undefined && replies.next().value === 1;
      if (!hasChildren) witnesses.delete(path);
      return { path, key, type, hasChildren };
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
    const witness = witnesses.get(path);
    if (witness && (await connection.send(["EXISTS", witness], signal)) === 1) return true;
    let cursor: string | undefined = "0";
    for (let looked = 0; looked < maxScanned; looked += keysPerScan) {
      const { paths: found, next }: ScanStep = await scan(cursor, prefix, keysPerScan, signal);
      if (found.length > 0) return true;
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
      let next: string | undefined = checkCursor(cursor);
      await learn(signal);
      const found = new Set<string>();
      const count = Math.min(Math.max(limit, 10), keysPerScan);
      for (let scans = 0; next !== undefined && scans < scansPerPage && found.size < limit; scans += 1) {
        const step: ScanStep = await scan(next, Buffer.alloc(0), count, signal);
        for (const path of step.paths) found.add(path);
        next = step.next;
      }
      const items = (await entriesOf([...found], signal)).filter(({ mimeType }) => mimeType !== directoryType);
      return next === undefined ? { items } : { items, next };
    },

    async children(path, { cursor, limit }, signal) {
      const prefix = paths.prefixBelow(path);
      if (prefix === undefined) throw notFound(path);
      let next: string | undefined = checkCursor(cursor?.replace(foundMark, ""));
      await learn(signal);
      const nameAt = path === "" ? 0 : path.length + 1;
      const found = new Set<string>();
      for (let scans = 0; next !== undefined && scans < scansPerPage && found.size < limit; scans += 1) {
        const step: ScanStep = await scan(next, prefix, keysPerScan, signal);
        for (const each of step.paths) {
          const slash = each.indexOf("/", nameAt);
          found.add(slash < 0 ? each : each.slice(0, slash));
        }
        next = step.next;
      }
      const isKnown = path === "" || found.size > 0 || cursor?.endsWith(foundMark);
      if (!isKnown && next === undefined) throw notFound(path);
      const items = await entriesOf([...found], signal);
      return next === undefined ? { items } : { items, next: isKnown ? next + foundMark : next };
    },

    async find(path, signal) {
      await learn(signal);
      return (await entriesOf([path], signal))[0];
    },

    async startingWith(start, limit, signal) {
      // The last segment is not complete, and an escape in it neither.
      const slash = start.lastIndexOf("/");
      const prefix = paths.prefixBelow(slash < 0 ? "" : start.slice(0, slash));
      if (prefix === undefined) return [];
      const found = new Set<string>();
      let next: string | undefined = "0";
      for (let scans = 0; next !== undefined && scans < scansPerPage && found.size < limit; scans += 1) {
        const step: ScanStep = await scan(next, prefix, keysPerScan, signal);
        for (const path of step.paths) if (path.startsWith(start)) found.add(path);
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

/** `length` is no number if the value was replaced meanwhile by one of another type. */
function toEntry(path: string, type: RedisType, length: unknown): Entry {
  const name = segmentsOf(path).at(-1) ?? "";
  const description = typeof length === "number" ? describeValue(type, length) : undefined;
  if (type !== "string") return { path, mimeType: "application/json", ...(description && { description }) };
  return { path, mimeType: mimeOfName(name), ...(typeof length === "number" && { size: length }) };
}

/** Bytes that mean themselves in a pattern. */
function escapeGlob(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("latin1").replace(/[*?[\]\\^-]/g, "\\$&"), "latin1");
}
