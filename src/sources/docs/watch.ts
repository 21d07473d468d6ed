/** Translates file changes to address changes: a document whose language changes moves. */
import type { Call } from "../../resources.ts";
import type { SourceChange, SourceWatch, Runtime } from "../../source.ts";
import type { Arrangement } from "./arrange.ts";
import type { DocumentCollection, DocumentFiles } from "./collection.ts";

/** Under continuous changes, checking takes at most this share of the time. */
const checkShare = 0.2;
const maxRestMs = 2000;

/** Resolves once armed. */
export async function watchDocuments(
  files: DocumentFiles,
  collection: DocumentCollection,
  runtime: Pick<Runtime, "wait">,
  call: Call,
): Promise<SourceWatch> {
  const changes = await files.watch(call);
  // After arming, so that no change is missed.
  const begun = call.signal.aborted ? undefined : await collection.look(call);
  return {
    [Symbol.asyncIterator]: follow,
    get failure() {
      return changes.failure;
    },
  };

  async function* follow(): AsyncGenerator<SourceChange> {
    if (!begun) return;
    let before = begun;
    const batches = createBatches(changes);
    try {
      for (;;) {
        const batch = await batches.take();
        if (!batch) return;
        if (batch.isLost) yield { kind: "lost" };
        const startMs = performance.now();
        const now = await collection.look(call);
        const tookMs = performance.now() - startMs;
        for (const change of compare(before, now, batch.paths)) yield change;
        before = now;
        if (tookMs > 10) await runtime.wait(Math.min(maxRestMs, tookMs / checkShare), call.signal);
      }
    } catch (cause) {
      if (!call.signal.aborted) throw cause;
    } finally {
      batches.leave();
    }
  }
}

interface Batch {
  /** The changed files. */
  readonly paths: ReadonlySet<string>;
  readonly isLost: boolean;
}

/** Collects changes as they arrive, merged, so that nothing piles up during a check. */
function createBatches(changes: AsyncIterable<SourceChange>): { take(): Promise<Batch | undefined>; leave(): void } {
  const iterator = changes[Symbol.asyncIterator]();
  let paths = new Set<string>();
  let isLost = false;
  /** Resolves with the next change, or at the end. */
  let arrival = Promise.withResolvers<void>();
  let isOver = false;
  const over = collect().finally(() => {
    isOver = true;
    arrival.resolve();
  });
  // The rejection is reported to the next `take`.
  over.catch(() => undefined);

  async function collect(): Promise<void> {
    for (let step = await iterator.next(); !step.done; step = await iterator.next()) {
      if (step.value.kind === "lost") isLost = true;
      else paths.add(step.value.path);
      arrival.resolve();
    }
  }

  return {
    async take() {
      await arrival.promise;
      if (paths.size === 0 && !isLost) return void (await over);
      const batch: Batch = { paths, isLost };
      paths = new Set();
      isLost = false;
      arrival = Promise.withResolvers();
      if (isOver) arrival.resolve();
      return batch;
    },
    leave: () => void iterator.return?.(),
  };
}

function* compare(before: Arrangement, now: Arrangement, touched: ReadonlySet<string>): Generator<SourceChange> {
  for (const { address } of before.placed) if (!now.byAddress.has(address)) yield { kind: "gone", path: address };
  for (const path of before.directories.keys()) if (!now.directories.has(path)) yield { kind: "gone", path };
  for (const path of now.directories.keys()) if (!before.directories.has(path)) yield { kind: "appeared", path };
  for (const { address, document } of now.placed) {
    const known = before.byAddress.get(address)?.document;
    if (!known) yield { kind: "appeared", path: address };
    else if (
      known.file !== document.file ||
      touched.has(document.file) ||
      isOther(known.entry.version, document.entry.version)
    )
      yield { kind: "changed", path: address };
  }
}

function isOther(before: string | undefined, now: string | undefined): boolean {
  return before !== undefined && now !== undefined && before !== now;
}
