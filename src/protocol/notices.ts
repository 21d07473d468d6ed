/** What a client hears unasked, from more than one place. */
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { Call } from "../resources.ts";
import type { PromptSet } from "./prompts.ts";
import type { Notice } from "./shape.ts";

export const promptsChanged: Notice = { kind: "prompts-changed" };

/** Resolves once armed. A shelf that never changes says nothing. */
export async function promptNotices(shelf: PromptSet, call: Call): Promise<AsyncIterable<Notice>> {
  const said = (await shelf.watch?.(call)) ?? [];
  return (async function* () {
    for await (const _ of said) yield promptsChanged;
  })();
}

/** For one consumer. Ends with the first of them that does, or when it is returned; both are ended then. */
export function mergeNotices(...several: readonly AsyncIterable<Notice>[]): AsyncIterator<Notice> {
  const reader = createCoalescingQueue<Notice>((notice) => (notice.kind === "updated" ? notice.uri : notice.kind));
  const iterators = several.map((each) => each[Symbol.asyncIterator]());
  let failure: { readonly cause: unknown } | undefined;

  function end(): Promise<IteratorResult<Notice, undefined>> {
    // One that waits for its next cannot be returned before it has it: it is not waited for.
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
