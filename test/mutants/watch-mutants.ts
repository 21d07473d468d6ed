/** Faults of `watch` and `close`. */
import { setImmediate } from "node:timers/promises";
import type { Source, SourceChange, SourceWatch } from "../../src/source.ts";
import type { Mutant } from "./mutant.ts";

/** Replaces each reported change. */
export function onChanges(source: Source, change: (each: SourceChange) => readonly SourceChange[]): Partial<Source> {
  return {
    async watch(call) {
      const watch = await source.watch!(call);
      async function* changed(): AsyncGenerator<SourceChange> {
        for await (const each of watch) yield* change(each);
      }
      return changed();
    },
  };
}

const never = new AbortController().signal;

export const watchMutants: readonly Mutant[] = [
  {
    name: "starts to watch after it has promised to",
    group: "watch",
    says: /waited .* s for the change `[a-z]+ readme.md`; the watch reported: /,
    wrap: (source) => ({
      async watch(call) {
        async function* late(): AsyncGenerator<SourceChange> {
          for (let turn = 0; turn < 5; turn += 1) await setImmediate();
          yield* await source.watch!(call);
        }
        return late();
      },
    }),
  },
  {
    name: "reports every change as lost",
    group: "watch",
    says: /the watch reported: lost/,
    wrap: (source) => onChanges(source, () => [{ kind: "lost" }]),
  },
  {
    name: "reports nothing",
    group: "watch",
    says: /the watch reported: nothing/,
    wrap: (source) => onChanges(source, () => []),
  },
  {
    name: "does not report that something is gone",
    group: "watch",
    wrap: (source) => onChanges(source, (change) => (change.kind === "gone" ? [] : [change])),
  },
  {
    name: "reports only changes at the top",
    group: "watch",
    wrap: (source) => onChanges(source, (change) => ("path" in change && change.path.includes("/") ? [] : [change])),
  },
  {
    name: "reports what appeared as changed",
    group: "watch",
    wrap: (source) =>
      onChanges(source, (change) => (change.kind === "appeared" ? [{ kind: "changed", path: change.path }] : [change])),
  },
  {
    name: "reports as gone what never existed",
    group: "watch",
    says: /the watch reported `gone ghost.txt`, but 'ghost.txt' never existed/,
    wrap: (source) => onChanges(source, (change) => [change, { kind: "gone", path: "ghost.txt" }]),
  },
  {
    name: "reports as gone what still exists",
    group: "watch",
    says: /`gone docs.txt`, but 'docs.txt' still exists/,
    wrap: (source) => onChanges(source, (change) => [{ kind: "gone", path: "docs.txt" }, change]),
  },
  {
    name: "reports as appeared what existed before",
    group: "watch",
    says: /`appeared [^`]+`, but '[^']+' existed before/,
    wrap: (source) =>
      onChanges(source, (change) =>
        change.kind === "changed" ? [{ kind: "appeared", path: change.path }, change] : [change],
      ),
  },
  {
    name: "reports as changed what is absent",
    group: "watch",
    says: /`changed ghost.txt`, but 'ghost.txt' does not exist/,
    wrap: (source) => onChanges(source, (change) => [change, { kind: "changed", path: "ghost.txt" }]),
  },
  {
    name: "marks listed paths as not listed",
    group: "watch",
    wrap: (source) =>
      onChanges(source, (change) => (change.kind === "appeared" ? [{ ...change, isUnlisted: true }] : [change])),
  },
  {
    name: "reports no directories",
    group: "watch",
    says: /waited .* s for the change `[a-z]+ new-directory`/,
    wrap: (source) => ({
      ...onChanges(source, (change) => ("path" in change && !change.path.includes(".") ? [] : [change])),
      // Otherwise it need not report them.
      impliesDirectories: undefined as never,
    }),
  },
  {
    name: "reports lost after every change",
    group: "watch",
    says: /the watch reported `lost`, and nothing was lost/,
    wrap: (source) => onChanges(source, (change) => [change, { kind: "lost" }]),
  },
  {
    name: "reports every change as lost outside of the list",
    group: "watch",
    wrap: (source) => onChanges(source, () => [{ kind: "lost", isUnlisted: true }]),
  },
  {
    name: "has one state for all contents",
    group: "watch",
    wrap: (source) => ({
      async watch(call) {
        const watch = await source.watch!(call);
        return { [Symbol.asyncIterator]: () => watch[Symbol.asyncIterator](), stateOf: () => 1 };
      },
    }),
  },
  {
    name: "does not report the first change",
    group: "watch",
    wrap(source) {
      return {
        async watch(call) {
          const watch = await source.watch!(call);
          async function* behind(): AsyncGenerator<SourceChange> {
            let first = true;
            for await (const change of watch)
              if (first) first = false;
              else yield change;
          }
          return behind();
        },
      };
    },
  },
  {
    name: "reports to the last watch only",
    group: "watches side by side",
    wrap(source) {
      let last: SourceWatch;
      return {
        async watch(call) {
          const watch = await source.watch!(call);
          last = watch;
          async function* changes(): AsyncGenerator<SourceChange> {
            for await (const change of watch) if (watch === last) yield change;
          }
          return changes();
        },
      };
    },
  },
  {
    name: "ends all watches with one of them",
    group: "watches side by side",
    says: /the watch ended before it reported/,
    wrap(source) {
      const shared = new AbortController();
      return {
        watch(call) {
          call.signal.addEventListener("abort", () => shared.abort());
          return source.watch!({ ...call, signal: shared.signal });
        },
      };
    },
  },
  {
    name: "continues after the signal",
    group: "watches side by side",
    says: /waited .* s for the end of the watch after its signal was aborted; the watch reported: /,
    wrap: (source) => ({ watch: (call) => source.watch!({ ...call, signal: never }) }),
  },
  {
    name: "hangs if it starts with an aborted signal",
    group: "watches side by side",
    says: /waited .* s for watch\(\) to return or to throw/,
    wrap: (source) => ({
      watch: (call) => (call.signal.aborted ? new Promise(() => undefined) : source.watch!(call)),
    }),
  },
  {
    name: "leaves watches open when it is closed",
    group: "watches side by side",
    says: /the end of the watch after the source was closed/,
    wrap: () => ({ close: async () => undefined }),
  },
  {
    name: "waits for every reader",
    group: "watches side by side",
    wrap(source) {
      const unread = new Set<SourceWatch>();
      return {
        async watch(call) {
          const watch = await source.watch!(call);
          unread.add(watch);
          async function* changes(): AsyncGenerator<SourceChange> {
            unread.delete(watch);
            for await (const change of watch) if (unread.size === 0) yield change;
          }
          return changes();
        },
      };
    },
  },
  {
    name: "cannot be closed twice",
    group: "close",
    wrap(source) {
      let isClosed = false;
      return {
        async close() {
          if (isClosed) throw new Error("closed already");
          isClosed = true;
          await source.close?.();
        },
      };
    },
  },
  {
    name: "never finishes closing",
    group: "close",
    says: /waited .* s for close\(\) to return or to throw/,
    wrap: () => ({ close: () => new Promise(() => undefined) }),
  },
];
