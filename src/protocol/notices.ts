/** Merges notifications to a client from several sources. */
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { Call, Relayed, RelayedKind } from "../resources.ts";
import type { Notice } from "./shape.ts";

export const promptsChanged: Notice = { kind: "prompts-changed" };
export const toolsChanged: Notice = { kind: "tools-changed" };

/** Tools or prompts that may change. */
export interface ChangingSet {
  /** Resolves once armed; then yields whenever the list changes for this caller. Ends with the call's signal. */
  watch?(call: Call): Promise<AsyncIterable<unknown>>;
}

/** Resolves once armed. What never changes yields nothing. */
export async function changeNotices(set: ChangingSet, changed: Notice, call: Call): Promise<AsyncIterable<Notice>> {
  const changes = (await set.watch?.(call)) ?? [];
  return (async function* () {
    for await (const _ of changes) yield changed;
  })();
}

/** Changes of one list of other servers. */
export async function watchKind(
  relayed: Relayed,
  wanted: RelayedKind,
  call: Call,
): Promise<AsyncIterable<RelayedKind>> {
  const changes = await relayed.watch(call);
  return (async function* () {
    for await (const kind of changes) if (kind === wanted) yield kind;
  })();
}

/** For one consumer. Ends, with all inputs, when the first input ends or when it is returned. */
export function mergeNotices(...several: readonly AsyncIterable<Notice>[]): AsyncIterator<Notice> {
  const reader = createCoalescingQueue<Notice>((notice) => (notice.kind === "updated" ? notice.uri : notice.kind));
  const iterators = several.map((each) => each[Symbol.asyncIterator]());
  let failure: { readonly cause: unknown } | undefined;

  function end(): Promise<IteratorResult<Notice, undefined>> {
    // Not awaited: an iterator that waits for its next value returns only after it.
    for (const iterator of iterators) void iterator.return?.();
    return reader.return();
  }

  async function pump(iterator: AsyncIterator<Notice>): Promise<void> {
    try {
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) reader.push(next.value);
    } catch (cause) {
      failure ??= { cause };
    }
    void end();
  }
  for (const iterator of iterators) void pump(iterator);

  return {
    async next() {
      const next = await reader.next();
      if (next.done && failure) throw failure.cause;
      return next;
    },
    return: end,
  };
}
