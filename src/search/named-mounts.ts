/** Which mounts the configs of the running instances name: what is indexed of all others can be removed. */
import type { Runtime } from "../source.ts";
import type { Store } from "../state/store.ts";

const kind = "index-mounts";
const publishMs = 20_000;
/** An instance that is cut off for so long does not count. Its mounts are indexed again if they are removed meanwhile. */
const expiresInMs = 180_000;

interface PublishNamesOptions {
  readonly records: Store;
  readonly runtime: Pick<Runtime, "wait" | "log">;
  /** Id of this instance. */
  readonly instance: string;
  readonly signal: AbortSignal;
}

/** Publishes the names of this instance until the signal is aborted. */
export function publishNames({ records, runtime, instance, signal }: PublishNamesOptions) {
  let wake = new AbortController();
  let names: readonly string[] | undefined;

  async function run(): Promise<void> {
    while (!signal.aborted) {
      wake = new AbortController();
      const woken = wake.signal;
      try {
        if (names) await records.put(kind, instance, { names: [...names] }, { expiresInMs });
      } catch (cause) {
        runtime.log("info", "the names of the indexed mounts could not be published", { cause });
      }
      await runtime.wait(publishMs, AbortSignal.any([signal, woken])).catch(() => undefined);
    }
    if (names) await records.remove(kind, instance).catch(() => undefined);
  }

  const ended = run();
  return {
    name(next: readonly string[]): void {
      names = next;
      wake.abort();
    },
    /** Resolves after the signal is aborted, when the names are withdrawn. */
    ended,
  };
}

export async function readNamedMounts(records: Store): Promise<ReadonlySet<string>> {
  const published = await records.list(kind);
  return new Set(published.flatMap(({ value }) => value["names"] as readonly string[]));
}
