/** The connection of a mount that passes on tools or prompts: what it declares, and what it hears. */
import type { SubscriptionFilter } from "@modelcontextprotocol/client";
import type { ConnectOptions } from "../../client/connect.ts";
import type { ClientConnection } from "../../client/reconnect.ts";
import { createBackoff } from "../../lib/backoff.ts";
import type { RelayedKind } from "../../resources.ts";
import type { Runtime } from "../../source.ts";
import { createUpstreamCalls, type UpstreamCalls } from "./upstream-calls.ts";

export const relayedKinds = ["tools", "prompts"] as const;
/** Delays between two listens, and between fetches of a list that changes again and again. */
export const relayPace = { firstMs: 250, longestMs: 30_000, steadyMs: 5000 };

export interface RelayedConnection {
  readonly calls: UpstreamCalls;
  readonly connectOptions: Pick<ConnectOptions, "clientOptions" | "prepare" | "connected" | "missed">;
  /** The server announced a change, or possibly did so unheard. */
  changed: (kind: RelayedKind) => void;
  /** There is a new connection: earlier changes were not heard. */
  connected: () => void;
}

export function createRelayedConnection(timeoutMs: number, runtime: Runtime): RelayedConnection {
  const calls = createUpstreamCalls(timeoutMs, runtime);
  const missed = (): void => {
    for (const kind of relayedKinds) connection.changed(kind);
  };
  const connection: RelayedConnection = {
    calls,
    connectOptions: {
      clientOptions: {
        capabilities: calls.capabilities,
        // Else the client answers questions to any request, such as a read of another caller, with the handlers for calls.
        inputRequired: { autoFulfill: false },
      },
      prepare(client) {
        calls.prepare(client);
        for (const kind of relayedKinds)
          client.setNotificationHandler(`notifications/${kind}/list_changed`, () => connection.changed(kind));
      },
      connected(made) {
        const filter = filterFor(made);
        if (filter) void listen(made, filter, { timeoutMs, runtime, missed });
        else connection.connected();
      },
      missed,
    },
    changed: () => {},
    connected: () => {},
  };
  return connection;
}

/** Newer era: the lists whose changes the server announces, if any. */
function filterFor({ client, era }: ClientConnection): SubscriptionFilter | undefined {
  const { tools, prompts } = client.getServerCapabilities() ?? {};
  if (era === "legacy" || !(tools?.listChanged || prompts?.listChanged)) return undefined;
  return {
    ...(tools?.listChanged && { toolsListChanged: true }),
    ...(prompts?.listChanged && { promptsListChanged: true }),
  };
}

/** Listens as long as the connection holds. Calls `missed` after each attempt: earlier changes were not heard. */
async function listen(
  { client, lost }: ClientConnection,
  filter: SubscriptionFilter,
  { timeoutMs, runtime, missed }: { timeoutMs: number; runtime: Runtime; missed: () => void },
): Promise<void> {
  const ended = new AbortController();
  void lost.then(() => ended.abort());
  const { signal } = ended;
  const backoff = createBackoff({ ...relayPace, now: runtime.monotonicMs });
  while (!signal.aborted) {
    const subscription = await client.listen(filter, { timeout: timeoutMs, signal }).catch(() => undefined);
    if (signal.aborted) return;
    missed();
    if (subscription) backoff.begun();
    await subscription?.closed;
    await runtime.wait(backoff.ended(), signal).catch(() => undefined);
  }
}
