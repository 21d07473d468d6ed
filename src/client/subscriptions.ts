/** Older era: one subscription for each URI, shared by all watchers. */
import { ResourceError } from "../errors.ts";
import type { UnwatchedUri } from "../resources.ts";
import { toRemoteError } from "./remote-error.ts";
import type { RemoteWatch, RemoteWatchOptions } from "./remote-watch.ts";

/** Maximum number of concurrent requests. */
const atOnce = 16;
const never = new AbortController().signal;

export function createRemoteSubscriptions({ connection, timeoutMs, isWanted }: RemoteWatchOptions): RemoteWatch {
  const { client } = connection;
  const subscribed = new Set<string>();
  /** Requests about one URI are sequential: over HTTP, a later one may arrive earlier. */
  const turns = new Map<string, Promise<unknown>>();

  function inOrder<T>(uri: string, work: () => Promise<T>): Promise<T> {
    const done = (turns.get(uri) ?? Promise.resolve()).then(work);
    const settled = done.catch(() => undefined);
    turns.set(uri, settled);
    void settled.then(() => {
      if (turns.get(uri) === settled) turns.delete(uri);
    });
    return done;
  }

  /** Returns whether the URI exists, or why it cannot be watched. */
  function subscribe(uri: string): Promise<boolean | UnwatchedUri> {
    return inOrder(uri, async () => {
      if (subscribed.has(uri)) return true;
      try {
        await client.subscribeResource({ uri }, { timeout: timeoutMs });
        subscribed.add(uri);
        return true;
      } catch (cause) {
        const { kind, message, details } = toRemoteError(cause, never, uri);
        if (kind === "not-found" || kind === "invalid") return false;
        if (details?.["reason"] === "unwatchable") return { uri, reason: message };
        throw cause;
      }
    });
  }

  function unsubscribe(uri: string): Promise<void> {
    return inOrder(uri, async () => {
      if (isWanted(uri) || !subscribed.delete(uri)) return;
      // A lost connection holds no subscription.
      await client.unsubscribeResource({ uri }, { timeout: timeoutMs }).catch(() => undefined);
    });
  }

  return {
    connection,
    over: connection.lost,
    async add(uris, list) {
      const can = client.getServerCapabilities()?.resources;
      const isHeard = await connection.speaks;
      if (uris.length > 0 && !(can?.subscribe && isHeard))
        throw new ResourceError("unsupported", "the server does not report changes of resources");
      const armed: string[] = [];
      const unwatched: UnwatchedUri[] = [];
      for (let at = 0; at < uris.length; at += atOnce) {
        const batch = uris.slice(at, at + atOnce);
        const there = await Promise.all(batch.map(subscribe));
        armed.push(...batch.filter((_, index) => there[index] === true));
        unwatched.push(...there.filter((each) => typeof each === "object"));
      }
      return { uris: armed, list: list && isHeard && can?.listChanged === true, unwatched };
    },
    remove: (uris) => void Promise.all(uris.map(unsubscribe)),
    rest() {},
  };
}
