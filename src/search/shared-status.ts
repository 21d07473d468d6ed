/** How the instances of a server tell each other how far each mount is indexed. */
import type { Runtime } from "../source.ts";
import type { Store } from "../state/store.ts";
import type { IndexedMount } from "./indexer.ts";
import { indexVersion } from "./postgres/version.ts";
import type { IndexStatus, MountStatus } from "./status.ts";

const kind = "index-status";
/** A status that is not confirmed for so long does not count: its instance is gone or cut off. */
const maxAgeMs = 10_000;

const unindexed = { documents: 0, passages: 0, looked: 0, total: 0, pending: 0, unread: 0, ready: 0 };

interface PublishedStatus {
  readonly fence: number;
  /** Of the index that the status is about. */
  readonly version: string;
  readonly status: MountStatus;
}

interface PublishStatusOptions {
  readonly records: Store;
  readonly runtime: Pick<Runtime, "wait" | "log">;
  readonly mount: Pick<IndexedMount, "name">;
  readonly fence: number;
  /** Shortest and longest time between two statuses. */
  readonly everyMs: { readonly most: number; readonly least: number };
  status(): Promise<MountStatus>;
  /** Called when the status of an instance with a higher fence was found. */
  taken(): void;
  readonly signal: AbortSignal;
}

/** Publishes until the signal is aborted. */
export function publishStatus({
  records,
  runtime,
  mount,
  fence,
  everyMs,
  status,
  taken,
  signal,
}: PublishStatusOptions) {
  let wake: (() => void) | undefined;
  let isChanged = true;

  async function publish(expiresInMs: number): Promise<void> {
    const value: PublishedStatus = { fence, version: indexVersion, status: await status() };
    for (;;) {
      const before = await records.get(kind, mount.name);
      if (((before?.value as PublishedStatus | undefined)?.fence ?? 0) > fence) return taken();
      if (await records.put(kind, mount.name, { ...value }, { ifVersion: before?.version, expiresInMs })) return;
    }
  }

  async function rest(ms: number): Promise<void> {
    const waking = new AbortController();
    wake = () => waking.abort();
    await runtime.wait(ms, AbortSignal.any([signal, waking.signal])).catch(() => undefined);
    wake = undefined;
  }

  async function tryPublish(expiresInMs: number): Promise<void> {
    try {
      await publish(expiresInMs);
    } catch (cause) {
      // It expires, and others then claim less.
      runtime.log("info", "the status of an indexed mount could not be published", { mount: mount.name, cause });
    }
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      isChanged = false;
      await tryPublish(maxAgeMs);
      await runtime.wait(everyMs.most, signal).catch(() => undefined);
      if (!isChanged && !signal.aborted) await rest(everyMs.least - everyMs.most);
    }
  }

  const ended = run();

  return {
    /** The status has changed. */
    changed(): void {
      isChanged = true;
      wake?.();
    },
    /** Resolves after the signal is aborted, when nothing is being written. */
    ended,
    /** After the end: a last status, which counts for longer than this unless another instance publishes one. */
    async leave(forMs: number): Promise<void> {
      await ended;
      await tryPublish(forMs + maxAgeMs);
    },
  };
}

/** What the running instances publish about the mounts that they index. */
export async function readPublished(records: Store): Promise<readonly MountStatus[]> {
  const published = (await records.list(kind)).map(({ value }) => value as unknown as PublishedStatus);
  // An instance of another version may still confirm what has been removed.
  return published.filter(({ version }) => version === indexVersion).map(({ status }) => status);
}

/** The status of these mounts. One that no instance confirms is not complete; one that was indexed with another key is left out. */
export async function readSharedStatus(
  records: Store,
  mounts: readonly Pick<IndexedMount, "name" | "key">[],
): Promise<IndexStatus> {
  const published = new Map((await readPublished(records)).map((status) => [status.name, status]));
  return {
    mounts: mounts.flatMap(({ name, key }): MountStatus[] => {
      const status = published.get(name);
      if (!status) return [{ ...unindexed, name, key, state: "waiting" }];
      return status.key === key ? [status] : [];
    }),
  };
}
