/** The documents of a folder, kept as they were found and looked at again when someone asks. */
import { ResourceError } from "../../errors.ts";
import type { Call } from "../../resources.ts";
import type { Address, Entry, Source, Runtime } from "../../source.ts";
import { type Arrangement, arrange, type Placed } from "./arrange.ts";
import { type DocumentFormat, documentFormatOf } from "./formats.ts";
import { describeDocument, type DocumentHead, headBytes, type HeadOptions } from "./head.ts";

export type DocumentFiles = Required<Pick<Source, "list" | "read" | "stat" | "watch" | "close">>;

export interface DocumentCollection {
  /** The documents as they are now, or were at most so long ago. */
  look(call: Pick<Call, "signal">, maxAgeMs?: number): Promise<Arrangement>;
  /** What is at an address: a document as the folder says it now, or a directory with these names. Undefined where nothing is. */
  find(address: string, call: Call): Promise<FoundDocument | undefined>;
  close(): void;
}

export type FoundDocument = { readonly placed: Placed } | { readonly names: readonly string[] };

export interface CollectionOptions extends HeadOptions {
  readonly files: DocumentFiles;
  readonly runtime: Pick<Runtime, "wait" | "log">;
  /** After each look: what there is. */
  looked(arrangement: Arrangement): void;
}

/** More are left out, and the log says so. */
const maxDocuments = 200_000;
const pageSize = 5000;
/** So long others wait for their turn at most. */
const sliceMs = 8;
/** Where nothing is found, it is looked again at most this share of the time; but no one waits longer than this for it. */
const missShare = 0.2;
const maxRestMs = 1000;

export function createCollection({ files, runtime, looked, ...options }: CollectionOptions): DocumentCollection {
  const closing = new AbortController();
  const call: Call = { caller: { id: "pressmark" }, signal: closing.signal };
  let documents: ReadonlyMap<string, DocumentHead> = new Map();
  let arrangement: Arrangement | undefined;
  let begunMs = -Infinity;
  let tookMs = 0;
  let running: Promise<Arrangement> | undefined;
  let next: Promise<Arrangement> | undefined;
  let saidMany = false;

  /** A look that begins now or later, shared by all who ask meanwhile. */
  function begin(): Promise<Arrangement> {
    if (!running) {
      running = lookNow().finally(() => {
        running = undefined;
      });
      return running;
    }
    next ??= running
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  }

  async function lookNow(): Promise<Arrangement> {
    const startMs = performance.now();
    const found = new Map<string, DocumentHead>();
    let turnMs = startMs;
    let isSame = true;
    for (let cursor: string | undefined; ;) {
      const page = await files.list(cursor === undefined ? { limit: pageSize } : { limit: pageSize, cursor }, call);
      refuseClosed();
      for (const entry of page.items) {
        if (found.size === maxDocuments) break;
        const format = documentFormatOf(entry.path);
        if (!format) continue;
        const known = documents.get(entry.path);
        const document = known && isUnchanged(known.entry, entry) ? known : await learn(entry, format);
        if (document) found.set(entry.path, document);
        if (document !== known) isSame = false;
        if (performance.now() - turnMs < sliceMs) continue;
        await new Promise(setImmediate);
        refuseClosed();
        turnMs = performance.now();
      }
      cursor = page.next;
      if (found.size === maxDocuments) sayMany();
      if (cursor === undefined || found.size === maxDocuments) break;
    }
    if (!arrangement || !isSame || found.size !== documents.size) arrangement = arrange([...found.values()]);
    documents = found;
    begunMs = startMs;
    tookMs = performance.now() - startMs;
    looked(arrangement);
    return arrangement;
  }

  function refuseClosed(): void {
    if (closing.signal.aborted) throw new ResourceError("cancelled", "the collection is being closed");
  }

  function sayMany(): void {
    if (saidMany) return;
    saidMany = true;
    runtime.log("warn", "the folder has more documents than are served; the rest is left out", {
      documents: maxDocuments,
    });
  }

  /** Undefined for what is no longer there. */
  async function learn(entry: Entry, format: DocumentFormat): Promise<DocumentHead | undefined> {
    try {
      return await describeDocument(entry, format, format === "document" ? undefined : await headOf(entry), options);
    } catch (cause) {
      if (cause instanceof ResourceError && (cause.kind === "not-found" || cause.kind === "denied")) return undefined;
      throw cause;
    }
  }

  async function headOf({ path, size = 0 }: Entry): Promise<string | undefined> {
    const whole = size <= headBytes ? await textOf({ path }) : undefined;
    return whole ?? (size === 0 ? undefined : textOf({ path, query: { bytes: `0-${headBytes - 1}` } }));
  }

  /** Undefined for what is no text, too large to be read at once, or another than it was a moment ago. */
  async function textOf(at: Address): Promise<string | undefined> {
    try {
      const [part] = await files.read(at, call);
      return part && "text" in part.body ? part.body.text.slice(0, headBytes) : undefined;
    } catch (cause) {
      if (cause instanceof ResourceError && (cause.kind === "invalid" || cause.kind === "too-large")) return undefined;
      throw cause;
    }
  }

  async function look({ signal }: Pick<Call, "signal">, maxAgeMs = 0): Promise<Arrangement> {
    if (arrangement && performance.now() - begunMs < maxAgeMs) return arrangement;
    return patiently(begin(), signal);
  }

  /** For what was not found: sure to see what is there now, and not dearer for being asked again and again. */
  async function lookAgain(signal: AbortSignal): Promise<Arrangement> {
    const restMs = begunMs + Math.min(tookMs / missShare, maxRestMs) - performance.now();
    if (tookMs > sliceMs && restMs > 0) await runtime.wait(restMs, signal);
    return patiently(begin(), signal);
  }

  /** What the folder says of a document now; undefined if it is gone, or another than it was. */
  async function check(placed: Placed, asked: Call): Promise<Placed | undefined> {
    const { document } = placed;
    let entry: Entry;
    try {
      entry = await files.stat({ path: document.file }, asked);
    } catch (cause) {
      if (cause instanceof ResourceError && (cause.kind === "not-found" || cause.kind === "denied")) return undefined;
      throw cause;
    }
    if (isUnchanged(document.entry, entry)) return placed;
    const now = await learn(entry, document.format);
    return now?.lang === document.lang ? { ...placed, document: now } : undefined;
  }

  async function findIn(among: Arrangement, address: string, asked: Call): Promise<FoundDocument | undefined> {
    const names = among.directories.get(address);
    if (names) return { names };
    const known = among.byAddress.get(address);
    const placed = known && (await check(known, asked));
    return placed && { placed };
  }

  return {
    look,

    async find(address, asked) {
      const found = await findIn(arrangement ?? (await look(asked)), address, asked);
      return found ?? findIn(await lookAgain(asked.signal), address, asked);
    },

    close: () => closing.abort(),
  };
}

/** A version that is not known may be any. */
function isUnchanged(before: Entry, now: Entry): boolean {
  return before.version !== undefined && before.version === now.version;
}

/** Rejects when the caller leaves; the look goes on for the others. */
function patiently<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new ResourceError("cancelled", "the question was withdrawn"));
    if (signal.aborted) leave();
    signal.addEventListener("abort", leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}
