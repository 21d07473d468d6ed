/** The documents of a folder, cached and checked again on request. */
import { notebookHead } from "../../backends/documents/notebook-head.ts";
import { mimeOfName, notebookType } from "../../lib/mime.ts";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { cancelled, ResourceError } from "../../errors.ts";
import { type Call, serverCaller } from "../../resources.ts";
import type { Address, Entry, Source, Runtime } from "../../source.ts";
import { type Arrangement, arrange, type Placed } from "./arrange.ts";
import { type DocumentFormat, documentFormatOf } from "./formats.ts";
import type { VisibleDocuments } from "./visible.ts";
import { describeDocument, type DocumentHead, headBytes, type HeadOptions } from "./head.ts";

export type DocumentFiles = Required<Pick<Source, "list" | "read" | "stat" | "watch" | "noteChanges" | "close">>;

export interface DocumentCollection {
  /** The documents at present, or as they were at most this long ago, that the caller may see. */
  look(call: Pick<Call, "caller" | "signal">, maxAgeMs?: number): Promise<Arrangement>;
  /** The document at an address in its current state, or a directory with its names. Undefined if there is neither. */
  find(address: string, call: Call): Promise<FoundDocument | undefined>;
  /** From now on, only a check that begins later counts. */
  expire(): void;
  close(): void;
}

type FoundDocument = { readonly placed: Placed } | { readonly names: readonly string[] };

interface CollectionOptions extends HeadOptions {
  readonly files: DocumentFiles;
  readonly runtime: Pick<Runtime, "wait" | "log">;
  readonly visible: Pick<VisibleDocuments, "of">;
  /** Called after each check with the result. */
  looked(arrangement: Arrangement): void;
}

/** Further documents are left out, with a warning in the log. */
const maxDocuments = 200_000;
const pageSize = 5000;
/** Longest time that other work is blocked. */
const sliceMs = 8;
/** After failed lookups, checking takes at most this share of the time; but no caller waits longer than this for it. */
const missShare = 0.2;
const maxRestMs = 1000;

export function createCollection({
  files,
  runtime,
  visible,
  looked,
  ...options
}: CollectionOptions): DocumentCollection {
  const closing = new AbortController();
  const call: Call = { caller: serverCaller, signal: closing.signal };
  let documents: ReadonlyMap<string, DocumentHead> = new Map();
  let arrangement: Arrangement | undefined;
  let begunMs = -Infinity;
  let tookMs = 0;
  let validFromMs = -Infinity;
  let running: Promise<Arrangement> | undefined;
  let next: Promise<Arrangement> | undefined;
  let saidMany = false;

  /** Starts a check now or later, shared by concurrent callers. */
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
    if (closing.signal.aborted) throw cancelled(undefined, "the collection is being closed");
  }

  function sayMany(): void {
    if (saidMany) return;
    saidMany = true;
    runtime.log("warn", "the folder has too many documents; the rest is left out", {
      documents: maxDocuments,
    });
  }

  /** Undefined if the file no longer exists. */
  async function learn(entry: Entry, format: DocumentFormat): Promise<DocumentHead | undefined> {
    try {
      if (mimeOfName(entry.path) === notebookType) {
        const head = notebookHead((await headOf(entry)) ?? "");
        return { ...(await describeDocument(entry, "markdown", head, options)), format };
      }
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

  /** Undefined if it is not text, is too large, or has changed in between. */
  async function textOf(at: Address): Promise<string | undefined> {
    try {
      const [part] = await files.read(at, call);
      return part && "text" in part.body ? part.body.text.slice(0, headBytes) : undefined;
    } catch (cause) {
      if (cause instanceof ResourceError && (cause.kind === "invalid" || cause.kind === "too-large")) return undefined;
      throw cause;
    }
  }

  function isValid(): boolean {
    return begunMs > validFromMs;
  }

  async function look({ caller, signal }: Pick<Call, "caller" | "signal">, maxAgeMs = 0): Promise<Arrangement> {
    const isRecent = performance.now() - begunMs < maxAgeMs;
    const all = arrangement && isRecent && isValid() ? arrangement : await unlessAborted(begin(), signal, cancelled);
    return visible.of(all, caller);
  }

  /** For a failed lookup: includes everything that exists now, at a limited cost for repeated calls. */
  async function lookAgain({ caller, signal }: Call): Promise<Arrangement> {
    const restMs = begunMs + Math.min(tookMs / missShare, maxRestMs) - performance.now();
    if (tookMs > sliceMs && restMs > 0) await runtime.wait(restMs, signal);
    return visible.of(await unlessAborted(begin(), signal, cancelled), caller);
  }

  /** The current state of a document; undefined if it is gone or has changed. */
  async function check(placed: Placed, callerCall: Call): Promise<Placed | undefined> {
    const { document } = placed;
    let entry: Entry;
    try {
      entry = await files.stat({ path: document.file }, callerCall);
    } catch (cause) {
      if (cause instanceof ResourceError && (cause.kind === "not-found" || cause.kind === "denied")) return undefined;
      throw cause;
    }
    if (isUnchanged(document.entry, entry)) return placed;
    const learned = await learn(entry, document.format);
    // The other documents have decided.
    const now = learned?.mayBeJapanese && document.mayBeJapanese ? { ...learned, lang: document.lang } : learned;
    // A link may lead to another file now.
    const isSame = now?.lang === document.lang && now.entry.reveals?.path === document.entry.reveals?.path;
    return isSame ? { ...placed, document: now } : undefined;
  }

  async function findIn(among: Arrangement, address: string, callerCall: Call): Promise<FoundDocument | undefined> {
    const names = among.directories.get(address);
    if (names) return { names };
    const known = among.byAddress.get(address);
    const placed = known && (await check(known, callerCall));
    return placed && { placed };
  }

  return {
    look,

    async find(address, callerCall) {
      const known =
        arrangement && isValid() ? await visible.of(arrangement, callerCall.caller) : await look(callerCall);
      const found = await findIn(known, address, callerCall);
      return found ?? findIn(await lookAgain(callerCall), address, callerCall);
    },

    expire() {
      validFromMs = performance.now();
    },

    close: () => closing.abort(),
  };
}

/** An unknown version counts as changed. */
function isUnchanged(before: Entry, now: Entry): boolean {
  return before.version !== undefined && before.version === now.version;
}
