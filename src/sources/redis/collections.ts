/** The command that reads a hash, list, set, sorted set or stream, whole or in part, and its reply as items. */
import { invalid, quote } from "../../errors.ts";
import type { RedisCommand, RedisReply } from "./connection.ts";
import { isUint64 } from "./scan-keys.ts";
import type { RedisType } from "./types.ts";

export type CollectionType = Exclude<RedisType, "string">;

/** Some items of a collection. */
export interface CollectionWindow {
  /** An index, the id of a stream's entry, or the cursor of a hash or set. Default: the beginning. */
  readonly from: string | undefined;
  readonly count: number;
}

/** Bytes of one item: a value; a name and its value; a member and its score; an id and the fields of a stream's entry. */
export type Item = readonly [Buffer, ...Buffer[]];

export interface Collection {
  readonly items: readonly Item[];
  /** The query of the next window, if there is one. */
  readonly next?: string;
}

/** One command, so that the items are of one moment. */
export function collectionQueries(
  type: CollectionType,
  key: Buffer,
  window: CollectionWindow | undefined,
): RedisCommand {
  switch (type) {
    case "hash":
      return window ? ["HSCAN", key, cursorOf(window), "COUNT", window.count] : ["HGETALL", key];
    case "set":
      return window ? ["SSCAN", key, cursorOf(window), "COUNT", window.count] : ["SMEMBERS", key];
    case "list":
      return window ? ["LRANGE", key, ...indexesOf(window)] : ["LRANGE", key, 0, -1];
    case "zset":
      return ["ZRANGE", key, ...(window ? indexesOf(window) : [0, -1]), "WITHSCORES"];
    case "stream":
      return window ? ["XRANGE", key, streamId(window), "+", "COUNT", window.count + 1] : ["XRANGE", key, "-", "+"];
  }
}

/** `length` is the number of all items. */
export function parseCollection(
  type: CollectionType,
  reply: RedisReply,
  window: CollectionWindow | undefined,
  length: number,
): Collection {
  if (window && (type === "hash" || type === "set")) {
    const [cursor, found] = reply as [Buffer, Buffer[]];
    const items = itemsOf(type, found);
    return cursor.toString() === "0" ? { items } : { items, next: `from=${cursor.toString()}&count=${window.count}` };
  }
  const items = itemsOf(type, reply as readonly RedisReply[]);
  if (!window) return { items };
  if (type === "stream") {
    // One more was requested: its id is where the next window begins.
    const following = items[window.count]?.[0].toString();
    return following === undefined
      ? { items }
      : { items: items.slice(0, window.count), next: `from=${following}&count=${window.count}` };
  }
  const [first, last] = indexesOf(window);
  // An index from the end leads to the end.
  return items.length < window.count || last === -1 || last + 1 >= length
    ? { items }
    : { items, next: `from=${first + window.count}&count=${window.count}` };
}

function itemsOf(type: CollectionType, reply: readonly RedisReply[]): Item[] {
  switch (type) {
    case "list":
    case "set":
      return (reply as readonly Buffer[]).map((value): Item => [value]);
    case "stream":
      return (reply as readonly [Buffer, Buffer[]][]).map(([id, fields]): Item => [id, ...fields]);
    default: {
      const flat = reply as readonly Buffer[];
      return Array.from({ length: flat.length / 2 }, (_, at): Item => [flat[2 * at]!, flat[2 * at + 1]!]);
    }
  }
}

/** First and last index. A negative one counts from the end, as in Redis. */
function indexesOf({ from = "0", count }: CollectionWindow): [number, number] {
  const first = Number(from);
  if (!/^-?\d{1,15}$/.test(from)) throw invalid(`"from" is the number of an item, from 0, not ${quote(from, 40)}`);
  return [first, first < 0 && first + count >= 0 ? -1 : first + count - 1];
}

function streamId({ from = "-" }: CollectionWindow): string {
  const numbers = from.split("-");
  if (from !== "-" && !(numbers.length <= 2 && numbers.every(isUint64)))
    throw invalid(`"from" is the id of an entry, such as 1526919030474-55, not ${quote(from, 40)}`);
  return from;
}

function cursorOf({ from = "0" }: CollectionWindow): string {
  if (!isUint64(from)) throw invalid(`"from" is a cursor that an earlier read returned, or 0, not ${quote(from, 40)}`);
  return from;
}
