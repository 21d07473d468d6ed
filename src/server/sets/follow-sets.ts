/** Watches sets for one caller at a time: a set changes when a member that the caller may see changes, appears or goes. */
import { type Call, callerKey, type Resources, type Watch } from "../../resources.ts";
import type { Source, SourceChange } from "../../source.ts";
import { createChangeQueue } from "../change-queue.ts";
import type { SetInfo, Sets } from "../sets.ts";

/** What the caller currently sees at a path. */
export interface Seen {
  /** A different mark means that it changed. */
  readonly mark: string;
  /** URIs whose changes count as its own. */
  readonly uris: readonly string[];
}

/** What is watched at one path, shared by all watches of the same caller. */
interface Followed {
  listeners: number;
  readonly stop: AbortController;
  readonly armed: Promise<void>;
}

interface SetWatch {
  readonly caller: string;
  push(change: SourceChange): void;
}

interface FollowSetsOptions {
  readonly sets: Sets;
  readonly resources: Pick<Resources, "watch">;
  /** The sets that the source lists. */
  list(call: Call): Promise<readonly SetInfo[]>;
  /** Undefined if there is nothing at the path. */
  look(path: string, call: Call): Promise<Seen | undefined>;
}

/** `follow` watches the members, and `watch` reports their changes and those of the list. */
export function followSets({
  sets,
  resources,
  list,
  look,
}: FollowSetsOptions): Required<Pick<Source, "watch" | "watchesPerCaller" | "follow">> {
  const watches = new Set<SetWatch>();
  const followed = new Map<string, Followed>();

  function tell(caller: string, path: string): void {
    for (const watch of watches) if (watch.caller === caller) watch.push({ kind: "changed", path });
  }

  async function arm(path: string, call: Call): Promise<void> {
    const { caller, signal } = call;
    let current: AbortController | undefined;
    const { begin, again } = createRepeatedCheck(
      () => look(path, call),
      async (seen) => {
        tell(callerKey(caller), path);
        await listen(seen?.uris ?? []);
      },
    );

    /** Members that appear or go are noticed through the list. */
    async function listen(uris: readonly string[]): Promise<void> {
      const before = current;
      current = new AbortController();
      const stay = AbortSignal.any([signal, current.signal]);
      const watch = await resources.watch({ uris, list: true }, { caller, signal: stay });
      before?.abort();
      void hear(watch);
    }

    async function hear(watch: Watch): Promise<void> {
      try {
        for await (const change of watch) {
          if (change.kind === "updated") tell(callerKey(caller), path);
          else again();
        }
      } catch {
        // Unknown changes were missed, so callers must read again.
        tell(callerKey(caller), path);
      }
    }

    sets.follow(again, signal);
    const first = await look(path, call);
    await listen(first?.uris ?? []);
    // Checked once more after the watch is armed, so that no change is missed.
    const begun = await begin();
    if (begun?.mark !== first?.mark) await listen(begun?.uris ?? []);
  }

  return {
    watchesPerCaller: true,

    async watch(call) {
      const queue = createChangeQueue(call.signal);
      const watch: SetWatch = { caller: callerKey(call.caller), push: (change) => queue.push(change) };
      const { begin, again } = createRepeatedCheck(
        async () => {
          const infos = new Map((await list(call)).map((set) => [set.name, JSON.stringify(set)]));
          return { mark: JSON.stringify([...infos]), infos };
        },
        async (now, before) => {
          for (const path of new Set([...before.infos.keys(), ...now.infos.keys()])) {
            const [earlier, info] = [before.infos.get(path), now.infos.get(path)];
            if (info === undefined) queue.push({ kind: "gone", path });
            else if (earlier === undefined) queue.push({ kind: "appeared", path });
            // Another title concerns the list, too.
            else if (info !== earlier) queue.push({ kind: "lost" });
          }
        },
      );
      sets.follow(again, call.signal);
      watches.add(watch);
      call.signal.addEventListener("abort", () => watches.delete(watch), { once: true });
      await begin();
      return queue;
    },

    async follow({ path }, { caller, signal }) {
      const key = JSON.stringify([callerKey(caller), path]);
      let found = followed.get(key);
      if (!found) {
        const stop = new AbortController();
        const armed = arm(path, { caller, signal: stop.signal }).catch(() => {
          // The next listener tries again.
          if (followed.get(key)?.stop === stop) followed.delete(key);
        });
        followed.set(key, (found = { listeners: 0, stop, armed }));
      }
      const { stop, armed } = found;
      found.listeners += 1;
      signal.addEventListener("abort", () => leave(key, stop), { once: true });
      if (signal.aborted) leave(key, stop);
      await armed;
    },
  };

  function leave(key: string, stop: AbortController): void {
    const found = followed.get(key);
    if (found?.stop !== stop) return stop.abort();
    found.listeners -= 1;
    if (found.listeners > 0) return;
    followed.delete(key);
    stop.abort();
  }
}

/** Checks on request, one check at a time, and reports a changed mark. */
function createRepeatedCheck<T extends { readonly mark: string } | undefined>(
  look: () => Promise<T>,
  changed: (seen: T, before: T) => Promise<void>,
) {
  // Set by `begin`; nothing is checked before.
  let last = undefined as T;
  let isBusy = true;
  let isWanted = false;

  async function go(): Promise<void> {
    isBusy = true;
    while (isWanted) {
      isWanted = false;
      try {
        const seen = await look();
        const before = last;
        if (seen?.mark === before?.mark) continue;
        last = seen;
        await changed(seen, before);
      } catch {
        // Cancelled, or currently unavailable: the next change checks again.
      }
    }
    isBusy = false;
  }

  return {
    /** Returns the current state; later changes are reported. */
    async begin(): Promise<T> {
      last = await look();
      void go();
      return last;
    },
    /** Something may have changed. */
    again(): void {
      isWanted = true;
      if (!isBusy) void go();
    },
  };
}
