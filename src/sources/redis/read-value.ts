/** Reads values: strings as text, JSON or bytes; every other type as JSON. */
import { invalid, notFound, quote, ResourceError, unavailable } from "../../errors.ts";
import { classifyContent, toPart } from "../../backends/ranges/content.ts";
import { formatContentRange, parseReadQuery, readRange, type ContentRange } from "../../backends/ranges/range.ts";
import { segmentsOf } from "../../source.ts";
import type { Address, Part } from "../../source.ts";
import { type Collection, type CollectionWindow, collectionQueries, parseCollection } from "./collections.ts";
import type { RedisConnection } from "./connection.ts";
import { isWrongType } from "./errors.ts";
import { parseBytes } from "./key-paths.ts";
import { renderCollection, renderField } from "./render.ts";
import { lengthCommands, type RedisType, toRedisType } from "./types.ts";

interface ReaderOptions {
  readonly connection: Pick<RedisConnection, "send" | "sendAll">;
  /** Largest content of one read. */
  readonly maxBytes: number;
  /** Most items of one read. */
  readonly maxItems: number;
  readonly now: () => number;
}

/** The query of an address. */
type Wanted =
  | { readonly kind: "whole" }
  | { readonly kind: "range"; readonly range: ContentRange }
  | { readonly kind: "field"; readonly field: Buffer }
  | ({ readonly kind: "window" } & CollectionWindow);

const headBytes = 64 * 1024;
const defaultCount = 100;
/** Items take more memory in the server than in the content: the check before a read must not refuse what would fit. */
const memoryFactor = 16;

export function createValueReader({ connection, maxBytes, maxItems, now }: ReaderOptions) {
  const numberFrom = async (query: Parameters<RedisConnection["send"]>[0], signal: AbortSignal) =>
    Number((await connection.send(query, signal)) ?? 0);

  async function readString(at: Address, key: Buffer, wanted: Wanted, signal: AbortSignal): Promise<Part | undefined> {
    const size = await numberFrom(["STRLEN", key], signal);
    const name = segmentsOf(at.path).at(-1) ?? "";
    if (wanted.kind === "range") {
      const read = async (from: number, length: number): Promise<Buffer> =>
        length <= 0
          ? Buffer.alloc(0)
          : ((await connection.send(["GETRANGE", key, from, from + length - 1], signal)) as Buffer);
      const head = await read(0, headBytes);
      const kind = classifyContent(name, head, size > head.length);
      return readRange({ size, read }, wanted.range, { path: at.path, kind, maxBytes, signal });
    }
    if (size > maxBytes)
      throw tooLarge(`${quote(at.path)} has ${size} bytes; at most ${maxBytes} can be read in one call; read a range`, {
        size,
        ranges: [formatContentRange({ unit: "bytes", first: 0, last: maxBytes - 1 })],
      });
    const bytes = (await connection.send(["GET", key], signal)) as Buffer | null;
    return bytes === null ? undefined : asJson(toPart(name, bytes));
  }

  async function readField(at: Address, key: Buffer, field: Buffer, signal: AbortSignal): Promise<Part | undefined> {
    const size = await numberFrom(["HSTRLEN", key, field], signal);
    if (size > maxBytes)
      throw tooLarge(`a field of ${quote(at.path)} has ${size} bytes; at most ${maxBytes} can be read`, { size });
    const value = (await connection.send(["HGET", key, field], signal)) as Buffer | null;
    return value === null ? undefined : jsonPart(renderField(field, value));
  }

  async function readCollection(
    at: Address,
    key: Buffer,
    type: Exclude<RedisType, "string">,
    window: CollectionWindow | undefined,
    signal: AbortSignal,
  ): Promise<Part | undefined> {
    const length = await numberFrom([lengthCommands[type], key], signal);
    const count = Math.min(window?.count ?? maxItems, length);
    const suggestion = (items: number) => ({
      length,
      ranges: [
        `count=${Math.max(1, Math.min(items, defaultCount, maxItems))}`,
        ...(type === "hash" ? ["field=…"] : []),
      ],
    });
    if (!window && length > maxItems)
      throw tooLarge(
        `${quote(at.path)} has ${length} items; at most ${maxItems} can be read in one call; read some of them, as in "from=0&count=${defaultCount}"`,
        suggestion(defaultCount),
      );
    // Few items are all measured, so that one large item among them is not loaded.
    const samples = length <= maxItems ? 0 : 5;
    const memory = await numberFrom(["MEMORY USAGE", key, "SAMPLES", samples], signal);
    const expected = length === 0 ? 0 : (memory / length) * count;
    const fitting = Math.floor((maxBytes * count) / Math.max(1, expected));
    if (expected > maxBytes * memoryFactor)
      throw tooLarge(
        `${count} items of ${quote(at.path)} take about ${Math.round(expected)} bytes; at most ${maxBytes} can be read in one call; read fewer with "count"`,
        suggestion(fitting),
      );
    const collection: Collection = parseCollection(
      type,
      await connection.send(collectionQueries(type, key, window), signal),
      window,
      length,
    );
    // Only a stream exists without items.
    if (collection.items.length === 0 && length === 0 && (await numberFrom(["EXISTS", key], signal)) === 0)
      return undefined;
    const text = renderCollection(type, collection.items);
    const size = Buffer.byteLength(text);
    if (size > maxBytes)
      throw tooLarge(
        `${collection.items.length} items of ${quote(at.path)} are ${size} bytes of JSON; at most ${maxBytes} can be read in one call; read fewer with "count"`,
        suggestion(Math.floor((collection.items.length * maxBytes) / size)),
      );
    return jsonPart(text, window && { total: length, ...(collection.next !== undefined && { next: collection.next }) });
  }

  async function readTyped(at: Address, key: Buffer, wanted: Wanted, signal: AbortSignal): Promise<Part | undefined> {
    const [name, ttl] = await connection.sendAll(
      [
        ["TYPE", key],
        ["PTTL", key],
      ],
      signal,
    );
    const type = toRedisType(String(name));
    if (type === undefined) return undefined;
    checkFits(at, type, wanted);
    const part =
      type === "string"
        ? await readString(at, key, wanted, signal)
        : wanted.kind === "field"
          ? await readField(at, key, wanted.field, signal)
          : await readCollection(at, key, type, wanted.kind === "window" ? wanted : undefined, signal);
    if (part === undefined || Number(ttl) < 0) return part;
    // A value that expires is not worth caching, and its reader may want to know.
    const expires = new Date(now() + Number(ttl)).toISOString();
    return { ...part, freshness: { ttlMs: 0 }, meta: { ...part.meta, "pressmark/expires": expires } };
  }

  /** Undefined if there is no value at the key, or the user may not read it. */
  return async function readValue(at: Address, key: Buffer, signal: AbortSignal): Promise<Part | undefined> {
    const wanted = parseQuery(at, maxItems);
    if (wanted === undefined) throw notFound(at.path);
    try {
      return await readTyped(at, key, wanted, signal);
    } catch (cause) {
      if (!isWrongType(cause)) throw cause;
    }
    // Someone has replaced the value by one of another type. The second time it is not by chance.
    return readTyped(at, key, wanted, signal).catch((cause: unknown) => {
      throw isWrongType(cause) ? unavailable(`the type of ${quote(at.path)} keeps changing; try again`, cause) : cause;
    });
  };
}

/** Undefined for a variable that no value has. */
function parseQuery({ query = {} }: Address, maxItems: number): Wanted | undefined {
  const { field, from, count, ...rest } = query;
  const others = Object.keys(rest).length;
  if (field !== undefined)
    return others > 0 || from !== undefined || count !== undefined
      ? undefined
      : { kind: "field", field: parseBytes(field) };
  if (from !== undefined || count !== undefined) {
    if (others > 0) return undefined;
    if (count !== undefined && (!/^\d{1,6}$/.test(count) || Number(count) < 1 || Number(count) > maxItems))
      throw invalid(`"count" is a number from 1 to ${maxItems}, not ${quote(count, 40)}`);
    return { kind: "window", from, count: Number(count ?? Math.min(defaultCount, maxItems)) };
  }
  const parsed = parseReadQuery(rest);
  if (parsed === undefined || parsed.asText) return undefined;
  return parsed.range ? { kind: "range", range: parsed.range } : { kind: "whole" };
}

function checkFits({ path }: Address, type: RedisType, { kind }: Wanted): void {
  if (kind === "range" && type !== "string") throw notFound(path);
  if (kind === "field" && type !== "hash")
    throw invalid(`"field" is for hashes, and ${quote(path)} is a ${type}; leave it out`);
  if (kind === "window" && type === "string")
    throw invalid(`"from" and "count" are for values with items; read a range of a string with "lines" or "bytes"`);
}

function jsonPart(text: string, range?: object): Part {
  return { body: { text }, mimeType: "application/json", ...(range && { meta: { "pressmark/range": range } }) };
}

/** Text that is a JSON object or array is said to be one, unless its name says something else. */
function asJson(part: Part): Part {
  if (part.mimeType !== "text/plain" || !("text" in part.body) || !/^\s*[[{]/.test(part.body.text)) return part;
  try {
    JSON.parse(part.body.text);
    return { ...part, mimeType: "application/json" };
  } catch {
    return part;
  }
}

function tooLarge(message: string, details: Readonly<Record<string, unknown>>): ResourceError {
  return new ResourceError("too-large", message, { details: { reason: "too-large", ...details } });
}
