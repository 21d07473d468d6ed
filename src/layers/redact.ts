/** Masks secrets in everything that leaves a mount: reads, ranges, lists, hits, suggestions, skills, errors, progress. */
import { isDeepStrictEqual } from "node:util";
import { ResourceError, unavailable } from "../errors.ts";
import { type OperationMethod, type Layer, type Operation, wrapSource } from "../layer.ts";
import { Lru } from "../lib/lru.ts";
import { findSecrets, maskSecrets } from "../lib/secrets.ts";
import { createTimeSlices } from "../lib/time-slices.ts";
import { withMembers } from "../lib/with-members.ts";
import type { Call, Page } from "../resources.ts";
import { maskText } from "./mask-text.ts";
import {
  type SourceActionResult,
  type Address,
  type Entry,
  type Part,
  type Source,
  type SourceBlock,
  type SourceHit,
  type SourceHits,
  type SourceRelayed,
  type SourceSkill,
  type SourceTemplate,
  toSourceHits,
} from "../source.ts";

interface RedactOptions {
  /** Returns the lines or bytes of a part that a query names; undefined if it names none. */
  cut(
    part: Part,
    at: Address,
    options: { readonly maxBytes: number; readonly signal: AbortSignal },
  ): Promise<Part | undefined>;
  /** Larger resources are not scanned, and so not served. */
  readonly maxBytes?: number;
}

/** Size of one read, for a resource that can only be read in pieces. */
const pieceBytes = 1024 * 1024;
const maxPieces = 10_000;
const maxCutBytes = 5 * 1024 * 1024;
const maxWholes = 4;
const maxCachedBytes = 32 * 1024 * 1024;
/** Longer messages of progress are left out: they cannot wait until a thread has scanned them. */
const maxProgressLength = 16 * 1024;

/**
 * A redacted resource is its masked text: that is what is searched and what ranges are cut from, so that no range cuts a secret
 * in two. Byte positions count the UTF-8 bytes of the masked text. Line numbers do not change.
 */
export function redact({ cut, maxBytes = 32 * 1024 * 1024 }: RedactOptions): Layer {
  return (inner) => {
    /** Recently masked resources by address and version, cached for further ranges. */
    const wholes = new Lru<string, Part>({ maxEntries: maxWholes, maxSize: maxCachedBytes, sizeOf });

    async function read(at: Address, call: Call): Promise<readonly Part[]> {
      const { lines, bytes, ...rest } = at.query ?? {};
      if (lines === undefined && bytes === undefined) return maskParts(await inner.read(at, call));
      // Only the source knows whether the query is a range, and of what.
      const least = { ...rest, ...(lines === undefined ? { bytes: "0-0" } : { lines: "1-1" }) };
      const [probe, ...more] = await inner.read({ ...at, query: least }, call);
      if (!probe || more.length > 0 || !hasRange(probe)) return maskParts(await inner.read(at, call));
      // Binary content such as an image is not scanned.
      if (!isReadable(probe)) return inner.read(at, call);
      const { path } = at;
      const whole = await wholeOf(Object.keys(rest).length === 0 ? { path } : { path, query: rest }, probe, call);
      const part = await cut(whole, at, { maxBytes: maxCutBytes, signal: call.signal });
      if (!part) throw new ResourceError("unexpected", "a range was requested, but none could be cut");
      const { "pressmark/range": _range, ...otherMeta } = probe.meta ?? {};
      return [{ ...probe, body: part.body, meta: await maskDeep({ ...otherMeta, ...part.meta }) }];
    }

    /** The whole masked part; cached while its version is equal. */
    async function wholeOf(at: Address, probe: Part, call: Call): Promise<Part> {
      const { version } = (await inner.stat?.(at, call)) ?? {};
      const key = JSON.stringify([at.path, Object.entries(at.query ?? {}).sort(), version]);
      const known = version === undefined ? undefined : wholes.get(key);
      if (known) return known;
      const part = await maskPart(asText(await gather(at, call), probe));
      if (version !== undefined) wholes.set(key, part);
      return part;
    }

    async function gather(at: Address, call: Call): Promise<Part> {
      try {
        const [part, ...others] = await inner.read(at, call);
        // Only the source knows how several parts form one text.
        if (part && others.length === 0) return part;
      } catch (cause) {
        if (!(cause instanceof ResourceError && cause.kind === "too-large")) throw cause;
      }
      const pieces: Part[] = [];
      for (let from = 0, total = 1; from < total;) {
        const query = { ...at.query, bytes: `${from}-${from + pieceBytes - 1}` };
        const [piece] = await inner.read({ ...at, query }, call);
        const range = piece && rangeOf(piece);
        if (!piece || !range || range.total > maxBytes) throw tooLarge(maxBytes, range?.total);
        // A backend that returns less than requested each time must not hold the call for ever.
        if (range.last < from || pieces.length > maxPieces)
          throw unavailable("the backend returned incomplete content; try again");
        pieces.push(piece);
        total = range.total;
        from = range.last + 1;
      }
      const bodies = pieces.map(({ body }) => body);
      const text = bodies.map((body) => ("text" in body ? body.text : Buffer.from(body.bytes).toString("latin1")));
      return { ...(pieces[0] as Part), body: { text: text.join("") } };
    }

    async function search(ask: Parameters<NonNullable<Source["search"]>>[0], call: Call): Promise<SourceHits> {
      const found = toSourceHits(await inner.search!(ask, call));
      const checked = await Promise.all(found.hits.map((hit) => checkHit(hit, ask.text, call)));
      return { ...found, hits: checked.filter((hit) => hit !== undefined) };
    }

    /**
     * A hit must match the masked text, word by word: otherwise a caller could guess the masked parts by searching for them.
     * A snippet may hold a piece of a secret: it is returned only if it occurs in the masked text. Whether the hit matches is left
     * to be decided by what is returned.
     */
    async function checkHit(hit: SourceHit, wanted: string, call: Call): Promise<SourceHit | undefined> {
      const { isMatch: _isMatch, ...undecided } = hit;
      const { snippet: _snippet, offset: _offset, marks: _marks, lines: _lines, ...found } = undecided;
      const entry = await maskEntry(hit.entry);
      const { path, query } = entry;
      const parts = await inner.read({ path, query }, call).catch(() => []);
      const texts = parts.flatMap(({ body }) => ("text" in body ? [body.text] : []));
      const clean = await Promise.all(texts.map((text) => maskText(text)));
      const isPlain = texts.length > 0 && clean.every((text, at) => text === texts[at]);
      // The snippet may be of the description, or of a text other than the one that was read.
      const isShown = hit.snippet === undefined || (await maskText(hit.snippet)) === hit.snippet;
      if (isPlain && isShown && isDeepStrictEqual(entry, hit.entry)) return hit;
      const visible = [path, entry.title, entry.name, entry.description, ...clean].join("\n").toLowerCase();
      // The backend may match other forms of a plain word, so a prefix is enough; any other word must occur as it is.
      const occurs = (word: string) =>
        visible.includes(
          /^[\p{L}\p{N}]+$/u.test(word) ? word.slice(0, Math.max(3, Math.ceil(word.length * 0.6))) : word,
        );
      if (!wanted.toLowerCase().split(/\s+/).every(occurs)) return undefined;
      const { offset: _there, ...withoutOffset } = undecided;
      const isWhole = hit.snippet !== undefined && clean.some((text) => text.includes(hit.snippet as string));
      return isWhole ? { ...withoutOffset, entry } : { ...found, entry };
    }

    /** Called only if the inner source has the ability. */
    const masked: Required<
      Pick<
        Source,
        "list" | "listIndexed" | "stat" | "children" | "complete" | "search" | "skills" | "skill" | "problems"
      >
    > = {
      list: (ask, call) => maskPage(inner.list(ask, call)),
      listIndexed: (ask, call) => maskPage(inner.listIndexed!(ask, call)),
      search,
      problems: async (call) => maskDeep(await inner.problems!(call)),
      stat: async (at, call) => maskEntry(await inner.stat!(at, call)),
      children: (at, ask, call) => maskPage(inner.children!(at, ask, call)),
      async complete(ask, call) {
        return (await inner.complete!(ask, call)).filter(({ value }) => findSecrets(value).length === 0);
      },
      async skills(ask, call) {
        const page = await inner.skills!(ask, call);
        return { ...page, items: await maskEach(page.items, maskSkill) };
      },
      skill: async (at, call) => maskSkill(await inner.skill!(at, call)),
    };
    const all: Readonly<Partial<Record<Operation, unknown>>> = { ...masked, read };
    const wrapped = wrapSource(inner, (operation, method) => {
      if (operation === "act") return maskMessages(maskAction(method));
      if (operation === "offer" || operation === "relay") return maskMessages(maskRelayed(method));
      return maskMessages((all[operation] as OperationMethod | undefined) ?? method);
    });
    return inner.learnTemplates ? maskTemplates(wrapped) : wrapped;
  };
}

function tooLarge(maxBytes: number, size: number | undefined): ResourceError {
  return new ResourceError(
    "too-large",
    `larger than ${maxBytes} bytes: too large to be scanned for secrets, so it is not served`,
    { details: { reason: "too-large", size, maxBytes } },
  );
}

/** Masks progress and errors of an operation, whose last argument is the call. */
function maskMessages(method: OperationMethod): OperationMethod {
  return async (...args) => {
    try {
      return await method(...args.slice(0, -1), maskProgress(args.at(-1)!) as never);
    } catch (cause) {
      throw await maskError(cause);
    }
  };
}

function maskProgress(call: Call): Call {
  const { progress } = call;
  if (!progress) return call;
  return {
    ...call,
    // Other layers make it on first access, with a getter that the copy would not have.
    get signal() {
      return call.signal;
    },
    progress(done, total, message = "") {
      const isShown = message !== "" && message.length <= maxProgressLength;
      progress(done, total, isShown ? maskSecrets(message).text : undefined);
    },
  };
}

/** Callers see the messages and details of ResourceErrors only. */
async function maskError(cause: unknown): Promise<unknown> {
  if (!(cause instanceof ResourceError)) return cause;
  const { kind, passing } = cause;
  const message = await maskText(cause.message);
  const details = await maskDeep(cause.details);
  if (message === cause.message && isDeepStrictEqual(details, cause.details)) return cause;
  return new ResourceError(kind, message, { passing, cause: cause.cause, ...(details && { details }) });
}

/** Templates from elsewhere are masked when they are learned. */
function maskTemplates(source: Source): Source {
  let learned: Source["templates"];
  let templates: readonly SourceTemplate[] = [];
  return withMembers(source, {
    get templates() {
      return templates;
    },
    async learnTemplates(call) {
      await source.learnTemplates!(call);
      const found = source.templates ?? [];
      if (found === learned) return;
      templates = await maskEach(found, maskEntry).catch(() => []);
      learned = found;
    },
  });
}

function maskAction(method: OperationMethod): OperationMethod {
  return async (...args) => {
    const result = (await method(...args)) as SourceActionResult;
    return { ...result, value: await maskDeep(result.value) };
  };
}

function maskRelayed(method: OperationMethod): OperationMethod {
  return async (...args) => {
    const result = (await method(...args)) as Awaited<ReturnType<SourceRelayed[Exclude<keyof SourceRelayed, "watch">]>>;
    // The name is the address for calling.
    if ("map" in result)
      return Promise.all(result.map(async ({ name, ...rest }) => ({ ...(await maskDeep(rest)), name })));
    if ("values" in result)
      return { ...result, values: result.values.filter((value) => findSecrets(value).length === 0) };
    if ("requestState" in result) return { ...result, inputRequests: await maskDeep(result.inputRequests) };
    if ("content" in result) {
      const { content, ...rest } = result;
      return { ...(await maskDeep(rest)), content: await maskEach(content, maskBlock) };
    }
    const { messages, ...rest } = result;
    const masked = messages.map(async (each) => ({ ...each, content: await maskBlock(each.content) }));
    return { ...(await maskDeep(rest)), messages: await Promise.all(masked) };
  };
}

async function maskBlock(original: SourceBlock): Promise<SourceBlock> {
  const block = "meta" in original ? { ...original, meta: await maskDeep(original.meta) } : original;
  switch (block.type) {
    case "text":
      return { ...block, text: await maskText(block.text) };
    case "link":
      return { ...block, entry: await maskEntry(block.entry) };
    case "embedded":
      return { ...block, part: { ...(await maskPart(block.part)), at: block.part.at } };
    default:
      return block;
  }
}

/** Decodes a text with invalid bytes: the source returns it as bytes when read whole, and as text in ranges. */
function asText(whole: Part, probe: Part): Part {
  if ("text" in whole.body || "bytes" in probe.body) return whole;
  return { ...whole, body: { text: new TextDecoder().decode(whole.body.bytes) } };
}

/** Masked files do not match the digests of the stored ones. */
async function maskSkill(skill: SourceSkill): Promise<SourceSkill> {
  return { ...skill, frontMatter: await maskDeep(skill.frontMatter), files: "dynamic" };
}

function hasRange({ meta }: Part): boolean {
  return meta?.["pressmark/range"] !== undefined;
}

function rangeOf({ meta }: Part): { readonly last: number; readonly total: number } | undefined {
  const { bytes, total } = (meta?.["pressmark/range"] ?? {}) as { readonly bytes?: unknown; readonly total?: unknown };
  const last: unknown = Array.isArray(bytes) ? bytes[1] : undefined;
  return typeof last === "number" && typeof total === "number" ? { last, total } : undefined;
}

/** True for text, and for bytes that are not known to be binary. */
function isReadable({ body, mimeType = "" }: Part): boolean {
  return "text" in body || !unreadable.test(mimeType);
}

const unreadable =
  /^(?:image\/(?!svg)|audio\/|video\/|font\/|application\/(?:pdf|zip|gzip|zstd|wasm|java-archive|x-(?:tar|bzip2?|xz|7z-compressed|rar-compressed)|vnd\.(?:openxmlformats|oasis|ms-|sqlite)))/;

function sizeOf({ body }: Part): number {
  return "text" in body ? 2 * body.text.length : body.bytes.byteLength;
}

function maskParts(parts: readonly Part[]): Promise<readonly Part[]> {
  return maskEach(parts, maskPart);
}

async function maskPart(part: Part): Promise<Part> {
  const { body, mimeType, meta } = part;
  const rest = meta && { meta: await maskDeep(meta) };
  if ("text" in body) {
    const clean = await maskText(body.text, mimeType === "text/x-diff" ? "maskPatch" : "maskSecrets");
    return clean === body.text ? { ...part, ...rest } : { ...part, ...rest, body: { text: clean } };
  }
  if (!isReadable(part)) return { ...part, ...rest };
  // Text with an invalid byte is still scanned: as latin1, every byte is one character and is preserved.
  const text = Buffer.from(body.bytes).toString("latin1");
  const clean = await maskText(text);
  return clean === text ? { ...part, ...rest } : { ...part, ...rest, body: { bytes: Buffer.from(clean, "latin1") } };
}

/** Masks one item after the other and yields to other work in between. */
async function maskEach<T>(all: readonly T[], masked: (one: T) => Promise<T>): Promise<T[]> {
  const turn = createTimeSlices();
  const done: T[] = [];
  for (const one of all) {
    done.push(await masked(one));
    await turn();
  }
  return done;
}

async function maskPage(listing: Promise<Page<Entry>>): Promise<Page<Entry>> {
  const page = await listing;
  return { ...page, items: await maskEach(page.items, maskEntry) };
}

/** The path or template is not masked: it is the address for reading. */
async function maskEntry<T extends Entry | SourceTemplate>(entry: T): Promise<T> {
  const { title, description, name, icons, meta } = entry;
  return {
    ...entry,
    ...(title !== undefined && { title: await maskText(title) }),
    ...(description !== undefined && { description: await maskText(description) }),
    ...(name !== undefined && { name: await maskText(name) }),
    ...(icons && { icons: await maskDeep(icons) }),
    ...(meta && { meta: await maskDeep(meta) }),
  };
}

async function maskDeep<T>(value: T, depth = 0): Promise<T> {
  if (typeof value === "string") return (await maskText(value)) as T;
  if (typeof value !== "object" || value === null) return value;
  // Deeper values are dropped.
  if (depth > 32) return undefined as T;
  if (Array.isArray(value)) return (await maskEach(value as unknown[], (each) => maskDeep(each, depth + 1))) as T;
  const entries = await maskEach(Object.entries(value), async ([key, each]): Promise<[string, unknown]> => [
    key,
    await maskDeep(each as unknown, depth + 1),
  ]);
  return Object.fromEntries(entries) as T;
}
