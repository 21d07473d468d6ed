/** The changes of the mounts that are indexed: watched here, numbered, and told to the thread that indexes. */
import type { HeardChange } from "../../search/crawl.ts";
import type { Source, SourceChange, Runtime } from "../../source.ts";
import { createWatchers, type Watchers } from "../../watch/watchers.ts";

/** A mount whose changes are of interest. */
export interface ChangingMount {
  readonly name: string;
  /** What it is made from. */
  readonly key: string;
  readonly source: Source;
}

export interface MountChanges {
  /** Resolves once every change from here on is told, with false where the mount is no longer of interest. */
  follow(mount: ChangingMount): Promise<boolean>;
  /** These are the mounts now. One that was opened anew, and is the same to the index, is followed on. */
  refollow(mounts: readonly ChangingMount[]): void;
  /** How many changes are known here beyond the one with this number. */
  waiting(mount: string, heard: number): number;
  /** Nothing is told any more. */
  unfollow(): void;
  /** Numbers begin anew, for another thread. */
  renumber(): void;
}

export interface MountChangesOptions {
  readonly runtime: Runtime;
  /** The last of the changes has this number; the first of all has 1. */
  tell(mount: string, changes: readonly HeardChange[], upTo: number): void;
}

interface Followed {
  readonly mount: ChangingMount;
  readonly stop: AbortController;
  readonly watchers: Watchers;
}

export function createMountChanges({ runtime, tell }: MountChangesOptions): MountChanges {
  const followed = new Map<string, Followed>();
  /** Heard and not yet told. */
  const heard = new Map<string, HeardChange[]>();
  /** The number of the last that was told. */
  const told = new Map<string, number>();

  function hear(mount: string, change: HeardChange): void {
    const waiting = heard.get(mount);
    if (waiting) return void waiting.push(change);
    heard.set(mount, [change]);
    setImmediate(() => {
      const changes = heard.get(mount);
      if (!changes) return;
      heard.delete(mount);
      const upTo = (told.get(mount) ?? 0) + changes.length;
      told.set(mount, upTo);
      tell(mount, changes, upTo);
    });
  }

  async function follow(mount: ChangingMount): Promise<boolean> {
    const { name, source } = mount;
    followed.get(name)?.stop.abort();
    const stop = new AbortController();
    // One watch of each mount is shared by all who listen in the house.
    const watchers = createWatchers(source, { name }, runtime, { lingerMs: 0 });
    followed.set(name, { mount, stop, watchers });
    await watchers.join((change) => hear(name, withListed(change, source)), stop.signal);
    return !stop.signal.aborted;
  }

  return {
    follow,

    refollow(mounts) {
      for (const [name, { mount, stop }] of followed) {
        const now = mounts.find((each) => each.name === name);
        if (now?.source === mount.source) continue;
        stop.abort();
        followed.delete(name);
        if (now?.key === mount.key) void follow(now).then(() => hear(name, { kind: "lost" }));
      }
    },

    waiting(mount, known) {
      const beyond = Math.max(0, (told.get(mount) ?? 0) - known);
      return beyond + (heard.get(mount)?.length ?? 0) + (followed.get(mount)?.watchers.pending ?? 0);
    },

    unfollow() {
      for (const { stop } of followed.values()) stop.abort();
      followed.clear();
      heard.clear();
    },

    renumber: () => told.clear(),
  };
}

function withListed(change: SourceChange, source: Source): HeardChange {
  if (change.kind === "lost" || change.kind === "gone" || !source.lists) return change;
  return { ...change, isListed: source.lists({ path: change.path }) };
}
