/** Watches the indexed mounts, numbers their changes, and sends them to the indexer thread. */
import type { HeardChange } from "../../search/crawl.ts";
import type { Source, SourceChange, Runtime } from "../../source.ts";
import { createWatchers, type Watchers } from "../../watch/watchers.ts";

/** A mount to watch. */
interface ChangingMount {
  readonly name: string;
  /** Key of its definition. */
  readonly key: string;
  readonly source: Source;
}

interface MountChangesOptions {
  readonly runtime: Runtime;
  /** `upTo` is the number of the last change; numbers begin with 1. */
  tell(mount: string, changes: readonly HeardChange[], upTo: number): void;
}

interface Followed {
  readonly mount: ChangingMount;
  readonly stop: AbortController;
  readonly watchers: Watchers;
}

export function createMountChanges({ runtime, tell }: MountChangesOptions) {
  const followed = new Map<string, Followed>();
  /** Received but not yet sent. */
  const heard = new Map<string, HeardChange[]>();
  /** Number of the last change sent. */
  const sent = new Map<string, number>();

  function hear(mount: string, change: HeardChange): void {
    const waiting = heard.get(mount);
    if (waiting) return void waiting.push(change);
    heard.set(mount, [change]);
    setImmediate(() => {
      const changes = heard.get(mount);
      if (!changes) return;
      heard.delete(mount);
      const upTo = (sent.get(mount) ?? 0) + changes.length;
      sent.set(mount, upTo);
      tell(mount, changes, upTo);
    });
  }

  async function follow(mount: ChangingMount): Promise<boolean> {
    const { name, source } = mount;
    followed.get(name)?.stop.abort();
    const stop = new AbortController();
    // One watch per mount, shared by all listeners.
    const refused = (): void => hear(name, { kind: "unwatched" });
    const watchers = createWatchers(source, { name }, runtime, { lingerMs: 0, refused });
    followed.set(name, { mount, stop, watchers });
    await watchers.join((change) => hear(name, withListed(change, source)), stop.signal);
    return !stop.signal.aborted;
  }

  /** Includes changes that the watch still examines; at least 1 while it is down. */
  function unsent(mount: string): number {
    return (heard.get(mount)?.length ?? 0) + (followed.get(mount)?.watchers.pending ?? 0);
  }

  return {
    /** Resolves once all further changes are sent; false if the mount is no longer indexed. */
    follow,

    /** Replaces the mounts. A reopened mount with the same key continues. */
    refollow(mounts: readonly ChangingMount[]): void {
      for (const [name, { mount, stop }] of followed) {
        const now = mounts.find((each) => each.name === name);
        if (now?.source === mount.source) continue;
        stop.abort();
        followed.delete(name);
        if (now?.key === mount.key) void follow(now).then(() => hear(name, { kind: "lost" }));
      }
    },

    /** Number of changes that are not sent yet. */
    unsent,

    /** Number of changes that are sent, after the one with this number. */
    sentAfter: (mount: string, known: number): number => Math.max(0, (sent.get(mount) ?? 0) - known),

    /** Stops sending changes. */
    unfollow(): void {
      for (const { stop } of followed.values()) stop.abort();
      followed.clear();
      heard.clear();
    },

    /** Restarts the numbering, for a new thread. */
    renumber: (): void => sent.clear(),
  };
}

function withListed(change: SourceChange, source: Source): HeardChange {
  if (change.kind === "lost" || change.kind === "gone") return change;
  const at = { path: change.path };
  const isListed = source.indexes ? source.indexes(at) : source.lists?.(at);
  return isListed === undefined ? change : { ...change, isListed };
}
