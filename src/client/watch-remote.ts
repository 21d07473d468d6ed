/** One watch for both eras, restored whenever it is lost. */
import { ResourceError, retryAfterOf, unsupported } from "../errors.ts";
import { createBackoff } from "../lib/backoff.ts";
import { createCoalescingQueue, type CoalescingQueue } from "../lib/coalescing-queue.ts";
import { wait } from "../lib/wait.ts";
import type { Call, Change, Watch, WatchFilter } from "../resources.ts";
import type { ClientConnection, Reconnecting, Patience } from "./reconnect.ts";
import { createListening } from "./listening.ts";
import { toRemoteError } from "./remote-error.ts";
import type { RemoteWatch } from "./remote-watch.ts";
import { createRemoteSubscriptions } from "./subscriptions.ts";

interface RemoteWatcher {
  watch(filter: WatchFilter, call: Call): Promise<Watch>;
  close(): void;
}

interface RemoteWatcherOptions {
  readonly link: Reconnecting;
  /** Called for every change, and for everything that may have changed unnoticed. */
  changed(change: Change): void;
  readonly timeoutMs: number;
  readonly patience: Patience;
  readonly now: () => number;
  /** Called once for each reason why a lost watch cannot be restored. If it returns true, every watch ends with it; else it is tried again. */
  readonly lost?: ((failure: ResourceError) => boolean) | undefined;
}

interface HeldWatch {
  /** As requested; later those that the server agreed to watch. */
  uris: readonly string[];
  readonly list: boolean;
  readonly reader: CoalescingQueue<Change>;
}

/** A watch that lasted this long was a success: when it is lost, the next is armed soon. */
const steadyMs = 1000;
const listChanged: Change = { kind: "list-changed" };

export function createRemoteWatcher(options: RemoteWatcherOptions): RemoteWatcher {
  const { link, changed, timeoutMs, patience, now, lost } = options;
  const held = new Set<HeldWatch>();
  const byUri = new Map<string, Set<HeldWatch>>();
  /** URIs that were watched and did not exist when the watch was restored. */
  const missing = new Set<string>();
  const closing = new AbortController();
  let post: RemoteWatch | undefined;
  let isArming = false;
  const backoff = createBackoff({ ...patience, atOnce: 1, steadyMs, now });

  link.onConnection(({ client }) => {
    client.setNotificationHandler("notifications/resources/updated", ({ params }) => tellUpdated(params.uri));
    client.setNotificationHandler("notifications/resources/list_changed", () => {
      tellList();
      void watchReturned();
    });
  });
  link.onGap((connection) => {
    if (post?.connection === connection && connection.era === "legacy") reportAll();
  });

  function tellUpdated(uri: string): void {
    const change: Change = { kind: "updated", uri };
    changed(change);
    const watches = byUri.get(uri) ?? byUri.get(aboveOf(uri) ?? "");
    for (const watch of watches ?? []) watch.reader.push(change);
  }

  /** A server may report a path below the watched URI. */
  function aboveOf(uri: string): string | undefined {
    for (let slash = uri.lastIndexOf("/"); slash > 0; slash = uri.lastIndexOf("/", slash - 1))
      if (byUri.has(uri.slice(0, slash))) return uri.slice(0, slash);
    return undefined;
  }

  function tellList(): void {
    changed(listChanged);
    for (const watch of held) if (watch.list) watch.reader.push(listChanged);
  }

  /** Reports everything as changed, because changes may have been missed. */
  function reportAll(): void {
    for (const [uri, watches] of byUri) {
      const change: Change = { kind: "updated", uri };
      changed(change);
      for (const watch of watches) watch.reader.push(change);
    }
    tellList();
  }

  function postOf(connection: ClientConnection): RemoteWatch {
    if (post?.connection === connection) return post;
    const create = connection.era === "modern" ? createListening : createRemoteSubscriptions;
    const fresh = create({
      connection,
      timeoutMs,
      isWanted: (uri) => byUri.has(uri),
      missed(uris) {
        for (const uri of uris) {
          missing.add(uri);
          tellUpdated(uri);
        }
      },
    });
    post = fresh;
    void fresh.over.then(() => {
      if (post !== fresh) return;
      post = undefined;
      void armAgain();
    });
    backoff.begun();
    return fresh;
  }

  async function armAgain(): Promise<void> {
    if (isArming) return;
    isArming = true;
    let waitMs = backoff.ended();
    let told: string | undefined;
    while (held.size > 0 && !closing.signal.aborted) {
      if (waitMs > 0) await wait(waitMs, closing.signal).catch(() => undefined);
      try {
        const fresh = postOf(await link.connection(closing.signal));
        // Including the list, because missing URIs may come back.
        const { uris } = await fresh.add([...byUri.keys()], true);
        if (post === fresh) {
          missing.clear();
          for (const uri of byUri.keys()) missing.add(uri);
          for (const uri of uris) missing.delete(uri);
          reportAll();
          break;
        }
        waitMs = backoff.ended();
      } catch (cause) {
        // Retried when a connection is possible, or with growing delays.
        waitMs = retryAfterOf(cause) ?? backoff.ended();
        const failure = toRemoteError(cause, closing.signal);
        if (closing.signal.aborted || failure.message === told) continue;
        told = failure.message;
        if (lost?.(failure)) failAll(failure);
      }
    }
    isArming = false;
  }

  async function watchReturned(): Promise<void> {
    const current = post;
    if (missing.size === 0 || !current) return;
    const armed = await current.add([...missing], true).catch(() => undefined);
    for (const uri of armed?.uris ?? []) if (missing.delete(uri)) tellUpdated(uri);
  }

  function enter(watch: HeldWatch): void {
    held.add(watch);
    for (const uri of watch.uris) {
      const watches = byUri.get(uri);
      if (watches) watches.add(watch);
      else byUri.set(uri, new Set([watch]));
    }
  }

  /** Returns the URIs that no one watches any longer. */
  function leave(watch: HeldWatch): string[] {
    const left: string[] = [];
    if (!held.delete(watch)) return left;
    for (const uri of watch.uris) {
      const watches = byUri.get(uri);
      if (!watches?.delete(watch) || watches.size > 0) continue;
      byUri.delete(uri);
      missing.delete(uri);
      left.push(uri);
    }
    return left;
  }

  function failAll(failure: ResourceError): void {
    for (const watch of held) {
      leave(watch);
      watch.reader.end(failure);
    }
  }

  function end(watch: HeldWatch): void {
    const left = leave(watch);
    void watch.reader.return();
    post?.remove(left);
    if (held.size === 0) post?.rest();
  }

  return {
    async watch({ uris = [], list = false }, call) {
      const reader = createCoalescingQueue<Change>((change) => (change.kind === "updated" ? change.uri : change.kind));
      const watch: HeldWatch = { uris: [...new Set(uris)], list, reader };
      // Registered first, so that no change is lost between the response and the reader.
      enter(watch);
      const stop = (): void => end(watch);
      let unwatched: NonNullable<Watch["unwatched"]> = [];
      call.signal.addEventListener("abort", stop, { once: true });
      try {
        const armed = await link.send(
          (_client, _options, connection) => postOf(connection).add(watch.uris, list),
          call,
        );
        if (uris.length === 0 && !armed.list)
          throw new ResourceError("unsupported", "the server does not report changes of its list");
        if (call.signal.aborted) throw new ResourceError("cancelled", "cancelled");
        ({ unwatched = [] } = armed);
        const [first] = unwatched;
        if (first && armed.uris.length === 0 && !list) throw unsupported(first.reason);
        leave(watch);
        const there = new Set(armed.uris);
        watch.uris = watch.uris.filter((uri) => there.has(uri));
        enter(watch);
      } catch (cause) {
        call.signal.removeEventListener("abort", stop);
        end(watch);
        throw cause;
      }
      // Cached responses may be older than the watch.
      for (const uri of watch.uris) changed({ kind: "updated", uri });
      if (list) changed(listChanged);
      return {
        uris: watch.uris,
        ...(unwatched.length > 0 && { unwatched }),
        [Symbol.asyncIterator]: () => ({
          next: () => reader.next(),
          return() {
            call.signal.removeEventListener("abort", stop);
            end(watch);
            return Promise.resolve({ done: true, value: undefined });
          },
        }),
      };
    },
    close() {
      closing.abort();
      for (const watch of held) end(watch);
    },
  };
}
