/** Watches all mounts as a whole: every change of a resource, not only of those that a client names. */
import { createCoalescingQueue } from "../lib/coalescing-queue.ts";
import type { Call } from "../resources.ts";
import { createRoutes, type RoutedMount } from "../router/route.ts";
import type { SourceChange } from "../source.ts";
import { createWatchers } from "../watch/watchers.ts";
import type { Server } from "./open-server.ts";

export type MountChange =
  | { readonly kind: "added" | "removed" | "updated"; readonly uri: string }
  /** Changes of this mount may have been missed. */
  | { readonly kind: "list-changed"; readonly mount: string };

export interface MountsWatch extends AsyncIterable<MountChange> {
  /** Mounts that cannot be watched, as sentences. */
  readonly unwatched: readonly string[];
  /** Names of mounts whose watch could not start. It is tried again. */
  readonly failing: readonly string[];
  /** Names of mounts of which only the first resources are watched. */
  readonly partly: readonly string[];
}

/** Resources to follow of a mount that reports only changes of resources it is told of. */
const maxFollowed = 1000;

const kinds = { appeared: "added", gone: "removed", changed: "updated" } as const;

/** Resolves once armed. Reports only what the caller may see. Ends with the call's signal. */
export async function watchMounts(
  { mounts, resources, explain, runtime }: Pick<Server, "mounts" | "resources" | "explain" | "runtime">,
  call: Call,
): Promise<MountsWatch> {
  const routes = createRoutes(mounts);
  const queue = createCoalescingQueue<MountChange>((change) =>
    "uri" in change ? `${change.kind} ${change.uri}` : change.mount,
  );
  const partly: string[] = [];
  const failing: string[] = [];
  const unwatched: string[] = [];

  function take(mount: RoutedMount, change: SourceChange): void {
    if (change.kind === "lost") return queue.push({ kind: "list-changed", mount: mount.name });
    // A directory whose contents are reported one by one.
    if ("eachBelow" in change && "isUnlisted" in change) return;
    const uri = routes.format(mount, { path: change.path });
    if (uri !== undefined && explain(call.caller, uri)?.isAllowed) queue.push({ kind: kinds[change.kind], uri });
  }

  async function followListed({ name, source }: RoutedMount): Promise<void> {
    if (!source.follow) return;
    const { items, next } = await resources.list({ mount: name, limit: maxFollowed }, call);
    if (next !== undefined) partly.push(name);
    const found = items.flatMap(({ uri }) => routes.find(uri) ?? []);
    await Promise.all(found.map(({ at }) => source.follow?.(at, call)));
  }

  await Promise.all(
    routes.mounts.map(async (mount) => {
      await followListed(mount);
      const watchers = createWatchers(mount.source, mount, runtime, { caller: call.caller });
      call.signal.addEventListener("abort", () => watchers.close(), { once: true });
      await watchers.join((change) => take(mount, change), call.signal);
      if (watchers.refusal) unwatched.push(watchers.refusal.message);
      else if (!watchers.isArmed) failing.push(mount.name);
    }),
  );
  call.signal.addEventListener("abort", () => void queue.return(), { once: true });
  if (call.signal.aborted) void queue.return();
  return { unwatched, failing, partly, [Symbol.asyncIterator]: () => queue };
}
