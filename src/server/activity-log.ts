/** Records connected clients and recent reads: bounded, in memory, visible to the owner only. */
import type { StdioStart } from "../config/hosts/host-setups.ts";
import type { ClientInfo, RequestObserver } from "../protocol/request-observer.ts";
import type { Runtime } from "../source.ts";
import { largestShare } from "./largest-share.ts";

interface ClientStatus extends Omit<ClientInfo, "caller"> {
  readonly era: "modern" | "legacy";
  readonly since: string;
  readonly lastSeen: string;
  /** Open sessions and listens. */
  readonly connections: number;
}

interface ReadStatus {
  readonly uri: string;
  /** Time of the last read. */
  readonly at: string;
  /** Number of reads while it was among the most recent. */
  readonly times: number;
  readonly client: string;
}

/** The served URL, and what hosts need to connect. */
interface ServedAt {
  readonly version: string;
  readonly url?: string;
  readonly tokenVariable?: string;
  /** How a host on this machine starts a server of its own. */
  readonly stdio?: StdioStart;
}

export interface ActivityLog extends RequestObserver {
  /** Connected or recently active clients, most recent first. */
  clients(): readonly ClientStatus[];
  /** The owner's clients since the server started, also those that are no longer connected. */
  seen(): readonly ClientStatus[];
  /** Most recent first. */
  reads(): readonly ReadStatus[];
  /** Undefined until the server listens. */
  served: ServedAt | undefined;
  /** Calls back on every change, until the signal is aborted. */
  follow(hear: () => void, signal: AbortSignal): void;
}

interface Known {
  readonly visitor: ClientInfo;
  readonly since: number;
  lastSeen: number;
  /** The same moment on the monotonic clock, which decides expiry. */
  seenMs: number;
  connections: number;
}

interface Read {
  readonly uri: string;
  readonly client: string;
  at: number;
  times: number;
}

const maxClients = 200;
const maxReads = 100;
const maxUriLength = 2048;
/** A client without a session counts as connected for this long after a request. */
const hereMs = 5 * 60_000;
const firstModern = "2026-07-28";
/** Reads of the server's own resources are not recorded. */
const own = /^(?:pressmark|ui):/i;

export function createActivityLog({ now, monotonicMs }: Pick<Runtime, "now" | "monotonicMs">): ActivityLog {
  const known = new Map<string, Known>();
  /** In order of reading, the most recent last. */
  const reads = new Map<string, Read>();
  const hearers = new Set<() => void>();
  let served: ServedAt | undefined;

  function tell(): void {
    for (const hear of hearers) hear();
  }

  function meet(visitor: ClientInfo): Known {
    const key = [visitor.caller.id, visitor.name, visitor.version, visitor.revision].join("\0");
    const [at, seenMs] = [now(), monotonicMs()];
    const found = known.get(key);
    if (found) return Object.assign(found, { lastSeen: at, seenMs });
    if (known.size >= maxClients) forgetOne();
    const met = { visitor, since: at, lastSeen: at, seenMs, connections: 0 };
    known.set(key, met);
    tell();
    return met;
  }

  /** Drops the least recently active client of the caller who has most, if possible one without a connection. */
  function forgetOne(): void {
    const [first, ...others] = largestShare(known.entries(), ([, { visitor }]) => visitor.caller.id);
    let oldest = first;
    for (const each of others) if (oldest && isSooner(each[1], oldest[1])) oldest = each;
    if (oldest) known.delete(oldest[0]);
  }

  return {
    requested: (visitor) => void meet(visitor),

    came(visitor, until) {
      if (until.aborted) return;
      const met = meet(visitor);
      met.connections += 1;
      tell();
      until.addEventListener(
        "abort",
        () => {
          met.connections -= 1;
          tell();
        },
        { once: true },
      );
    },

    read(visitor, whole) {
      if (own.test(whole)) return;
      const uri = whole.slice(0, maxUriLength);
      const key = `${visitor.name}\0${uri}`;
      const before = reads.get(key);
      reads.delete(key);
      reads.set(key, { uri, client: visitor.name, at: now(), times: (before?.times ?? 0) + 1 });
      const [oldest] = reads.keys();
      if (reads.size > maxReads && oldest !== undefined) reads.delete(oldest);
      tell();
    },

    clients() {
      const oldest = monotonicMs() - hereMs;
      return inOrder([...known.values()].filter(({ connections, seenMs }) => connections > 0 || seenMs >= oldest));
    },
    seen: () => inOrder([...known.values()].filter(({ visitor }) => visitor.caller.owner)),

    reads: () => [...reads.values()].toReversed().map(({ at, ...read }) => ({ ...read, at: toIso(at) })),

    get served() {
      return served;
    },
    set served(place) {
      served = place;
      tell();
    },

    follow(hear, signal) {
      if (signal.aborted) return;
      hearers.add(hear);
      signal.addEventListener("abort", () => hearers.delete(hear), { once: true });
    },
  };
}

/** Most recently active first. */
function inOrder(clients: readonly Known[]): readonly ClientStatus[] {
  return clients
    .toReversed()
    .sort((one, other) => other.seenMs - one.seenMs)
    .map(({ visitor, since, lastSeen, connections }) => {
      const { caller: _, ...client } = visitor;
      return {
        ...client,
        era: visitor.revision >= firstModern ? "modern" : "legacy",
        since: toIso(since),
        lastSeen: toIso(lastSeen),
        connections,
      };
    });
}

function isSooner(one: Known, other: Known): boolean {
  const [isHere, isThere] = [one.connections > 0, other.connections > 0];
  return isHere === isThere ? one.seenMs < other.seenMs : isThere;
}

function toIso(at: number): string {
  return new Date(at).toISOString();
}
