/** Newer era: one listen request for everything that is watched, because a browser allows few connections to one server. */
import type { McpSubscription } from "@modelcontextprotocol/client";
import { unsupported } from "../errors.ts";
import { answerIn } from "./remote-error.ts";
import type { Armed, RemoteWatch, RemoteWatchOptions } from "./remote-watch.ts";

interface Listen {
  readonly subscription: McpSubscription;
  readonly honoured: ReadonlySet<string>;
  readonly list: boolean;
  /** True if the list was requested; a server that does not report it is not asked again. */
  readonly askedList: boolean;
}

/** A pending call of `add`. */
interface PendingAdd {
  readonly uris: readonly string[];
  readonly list: boolean;
  readonly armed: PromiseWithResolvers<Armed>;
}

export function createListening({ connection, timeoutMs, isWanted, missed }: RemoteWatchOptions): RemoteWatch {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const wanted = new Set<string>();
  let wantsList = false;
  let waiting: PendingAdd[] = [];
  let current: Listen | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  function inOrder(work: () => Promise<void>): void {
    turn = turn.then(work).catch(() => undefined);
  }

  /** Combines all pending calls in one listen. A server may reject it because of one of them: then each is tried alone. */
  async function answer(pending: readonly PendingAdd[]): Promise<void> {
    try {
      const { honoured, list } = await cover(pending);
      for (const { uris, armed } of pending) armed.resolve({ uris: uris.filter((uri) => honoured.has(uri)), list });
    } catch (cause) {
      if (pending.length > 1 && answerIn(cause)) for (const one of pending) await answer([one]);
      else for (const { armed } of pending) armed.reject(cause);
    }
  }

  async function cover(pending: readonly PendingAdd[]): Promise<Listen> {
    const uris = pending.flatMap((one) => one.uris);
    const list = wantsList || pending.some((one) => one.list);
    const isCovered = uris.every((uri) => current?.honoured.has(uri)) && (current?.askedList || !list);
    const covering = current && isCovered ? current : await listen([...new Set([...wanted, ...uris])], list);
    for (const uri of uris) if (covering.honoured.has(uri) && isWanted(uri)) wanted.add(uri);
    wantsList = list;
    return covering;
  }

  /** The new listen is open before the old one ends, so that no change is missed. */
  async function listen(uris: readonly string[], askedList: boolean): Promise<Listen> {
    const subscription = await connection.client.listen(
      {
        ...(uris.length > 0 && { resourceSubscriptions: [...uris] }),
        ...(askedList && { resourcesListChanged: true }),
      },
      { timeout: timeoutMs },
    );
    const { resourceSubscriptions = [], resourcesListChanged: list = false } = subscription.honoredFilter;
    const before = current;
    const fresh: Listen = { subscription, honoured: new Set(resourceSubscriptions), list, askedList };
    current = fresh;
    void subscription.closed.then(() => {
      if (current === fresh) end();
    });
    void before?.subscription.close();
    // The old listen may have ended before it could report these.
    const gone = [...(before?.honoured ?? [])].filter((uri) => !fresh.honoured.has(uri) && isWanted(uri));
    if (gone.length > 0) missed(gone);
    return fresh;
  }

  return {
    connection,
    over,
    async add(uris, list) {
      // Some servers limit listens to none, and say so by their capabilities alone.
      const can = connection.client.getServerCapabilities()?.resources;
      if (!can?.subscribe && !can?.listChanged) {
        if (uris.length > 0) throw unsupported("the server does not report changes of resources");
        return { uris: [], list: false };
      }
      const armed = Promise.withResolvers<Armed>();
      waiting.push({ uris, list, armed });
      // Calls that arrive while others wait join the same listen.
      inOrder(async () => {
        const pending = waiting;
        waiting = [];
        if (pending.length > 0) await answer(pending);
      });
      return armed.promise;
    },
    remove(uris) {
      for (const uri of uris) if (!isWanted(uri)) wanted.delete(uri);
    },
    rest() {
      wanted.clear();
      wantsList = false;
      inOrder(async () => {
        const last = current;
        if (wantsList || wanted.size > 0) return;
        current = undefined;
        await last?.subscription.close();
      });
    },
  };
}
