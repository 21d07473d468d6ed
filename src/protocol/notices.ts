/** Merges notifications to a client from several sources. */
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { Call } from "../resources.ts";
import type { PromptSet } from "./prompts.ts";
import type { Notice } from "./shape.ts";

export const promptsChanged: Notice = { kind: "prompts-changed" };

/** Resolves once armed. Prompts that never change yield nothing. */
export async function promptNotices(prompts: PromptSet, call: Call): Promise<AsyncIterable<Notice>> {
  const changes = (await prompts.watch?.(call)) ?? [];
  return (async function* () {
    for await (const _ of changes) yield promptsChanged;
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
