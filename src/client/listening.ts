/** In the newer era: one listen for all that is watched, since a browser has few connections to one server. */
import type { McpSubscription } from "@modelcontextprotocol/client";
import type { Post, PostOptions } from "./post.ts";

interface Listen {
  readonly subscription: McpSubscription;
  readonly honoured: ReadonlySet<string>;
  readonly list: boolean;
  /** Whether the list was asked for; a server that does not tell of it is not asked again. */
  readonly askedList: boolean;
}

export function createListening({ connection, timeoutMs, isWanted, missed }: PostOptions): Post {
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const wanted = new Set<string>();
  let wantsList = false;
  let current: Listen | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  }

  async function cover(uris: readonly string[]): Promise<Listen> {
    const isCovered = uris.every((uri) => current?.honoured.has(uri)) && (current?.askedList || !wantsList);
    // What was asked for while others waited is in the same listen.
    return current && isCovered ? current : listen();
  }

  /** A new listen stands before the old one goes, so that nothing falls between. */
  async function listen(): Promise<Listen> {
    const uris = [...wanted];
    const askedList = wantsList;
    const subscription = await connection.client.listen(
      { ...(uris.length > 0 && { resourceSubscriptions: uris }), ...(askedList && { resourcesListChanged: true }) },
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
    // The old one may have been about to say what became of these.
    const gone = [...(before?.honoured ?? [])].filter((uri) => !fresh.honoured.has(uri) && isWanted(uri));
    if (gone.length > 0) missed(gone);
    return fresh;
  }

  return {
    connection,
    over,
    async add(uris, list) {
      for (const uri of uris) wanted.add(uri);
      wantsList ||= list;
      const { honoured, list: isListed } = await inTurn(() => cover(uris));
      for (const uri of uris) if (!honoured.has(uri)) wanted.delete(uri);
      return { uris: uris.filter((uri) => honoured.has(uri)), list: isListed };
    },
    remove(uris) {
      for (const uri of uris) if (!isWanted(uri)) wanted.delete(uri);
    },
    rest() {
      wanted.clear();
      wantsList = false;
      void inTurn(async () => {
        const last = current;
        if (wantsList || wanted.size > 0) return;
        current = undefined;
        await last?.subscription.close();
      });
    },
  };
}
