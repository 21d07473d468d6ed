/** Detects changes of objects by polling: stores send no notifications. */
import { ResourceError } from "../../errors.ts";
import { isDoneWithin } from "../../lib/is-done-within.ts";
import type { SourceChange, SourceWatch, Runtime } from "../../source.ts";
import type { ObjectListRequest, ObjectPage, StoredObject } from "./object-store.ts";

interface WatchedObjects {
  list(request: ObjectListRequest, signal: AbortSignal): Promise<ObjectPage>;
  buckets(): Promise<readonly string[]>;
  readonly prefix: string;
  pathAt(bucket: string, key: string): string;
  readonly pollMs: number;
  readonly runtime: Runtime;
  isServed(object: StoredObject): boolean;
}

/** Path → version. */
type Look = ReadonlyMap<string, string>;

/** More changes than this are reported as one general change. */
const maxKnown = 200_000;
/** A longer first listing is not waited for; changes in the meantime are reported as lost. */
const armMs = 10_000;

export async function watchObjects(watched: WatchedObjects, signal: AbortSignal): Promise<SourceWatch> {
  const first = listAllObjects(watched, signal);
  const isSeen = await isDoneWithin(first, armMs, watched.runtime.wait, signal);
  // The error is handled by the watch, if there is one.
  first.catch(() => undefined);
  let failure: ResourceError | undefined;
  const changes = follow(first, isSeen, watched, signal, (cause) => (failure = cause));
  return {
    [Symbol.asyncIterator]: () => changes,
    get failure() {
      return failure;
    },
  };
}

async function* follow(
  first: Promise<Look | number>,
  isSeen: boolean,
  watched: WatchedObjects,
  signal: AbortSignal,
  setFailure: (cause: ResourceError | undefined) => void,
): AsyncGenerator<SourceChange> {
  const { runtime, pollMs } = watched;
  let before: Look | number;
  try {
    before = await first;
  } catch (cause) {
    if (signal.aborted) return;
    throw cause;
  }
  if (!isSeen) yield { kind: "lost" };
  let waitMs = pollMs;
  while (!signal.aborted) {
    try {
      await runtime.wait(waitMs, signal);
    } catch {
      return;
    }
    let now: Look | number;
    try {
      now = await listAllObjects(watched, signal);
    } catch (cause) {
      if (signal.aborted) return;
      // Unavailable means unchanged; changes in the meantime are seen when the store is back.
      if (!(cause instanceof ResourceError) || !(cause.passing || cause.kind === "busy")) throw cause;
      setFailure(cause);
      waitMs = Math.min(waitMs * 2, Math.max(pollMs, 300_000));
      continue;
    }
    waitMs = pollMs;
    setFailure(undefined);
    if (typeof now === "number" || typeof before === "number") {
      if (now !== before) yield { kind: "lost" };
    } else yield* differences(before, now);
    before = now;
  }
}

function* differences(before: Look, now: Look): Iterable<SourceChange> {
  for (const [path, version] of now) {
    const known = before.get(path);
    if (known === undefined) yield { kind: "appeared", path };
    else if (known !== version) yield { kind: "changed", path };
  }
  for (const path of before.keys()) if (!now.has(path)) yield { kind: "gone", path };
}

/** All paths with their versions; if there are too many, one digest over all. */
async function listAllObjects(watched: WatchedObjects, signal: AbortSignal): Promise<Look | number> {
  const { list, prefix, pathAt, isServed } = watched;
  const found = new Map<string, string>();
  let isTooMuch = false;
  let sum = 0;
  for (const bucket of await watched.buckets()) {
    let after: string | undefined;
    do {
      const request = { bucket, prefix, folded: false, limit: 1000 };
      const page = await list(after === undefined ? request : { ...request, after }, signal);
      for (const object of page.objects) {
        if (!isServed(object)) continue;
        const path = pathAt(bucket, object.key);
        const version = `${object.version ?? ""} ${object.size} ${object.lastModified ?? ""}`;
        sum = mix(sum, `${path} ${version}`);
        if (!isTooMuch) found.set(path, version);
        if (found.size > maxKnown) {
          isTooMuch = true;
          found.clear();
        }
      }
      after = page.more ? page.objects.at(-1)?.key : undefined;
    } while (after !== undefined);
  }
  return isTooMuch ? sum : found;
}

function mix(sum: number, text: string): number {
  let hash = sum;
  for (let at = 0; at < text.length; at += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(at)) | 0;
  return hash;
}
