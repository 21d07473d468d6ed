/** Who is connected and what was read lately: bounded, forgotten with the process, for the owner alone. */
import type { ClientInfo, RequestObserver } from "../protocol/request-observer.ts";
import type { Runtime } from "../source.ts";

export interface ClientStatus extends ClientInfo {
  readonly era: "modern" | "legacy";
  readonly since: string;
  readonly lastSeen: string;
  /** Sessions and listens that are open. */
  readonly connections: number;
}

export interface ReadStatus {
  readonly uri: string;
  /** When it was last read. */
  readonly at: string;
  /** How often, while it was among the last. */
  readonly times: number;
  readonly client: string;
}

/** Where the house is served, and what hosts have to know to find it. */
export interface ServedAt {
  readonly version: string;
  readonly url?: string;
  readonly tokenVariable?: string | undefined;
}

export interface ActivityLog extends RequestObserver {
  /** Those that are connected, or were heard of a moment ago; the last heard of first. */
  clients(): readonly ClientStatus[];
  /** The last first. */
  reads(): readonly ReadStatus[];
  /** Undefined until it is known. */
  served: ServedAt | undefined;
  /** Calls back when there is something new, until the signal ends. */
  follow(hear: () => void, signal: AbortSignal): void;
}

interface Known {
  readonly visitor: ClientInfo;
  readonly since: number;
  lastSeen: number;
  /** The same moment by the monotonic clock, which decides who is still there. */
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
/** A client without a session is taken to be there for so long after it asked. */
const hereMs = 5 * 60_000;
const firstModern = "2026-07-28";
/** What the house says of itself is no news to it. */
const own = /^(?:pressmark|ui):/i;

export function createActivityLog({ now, monotonicMs }: Pick<Runtime, "now" | "monotonicMs">): ActivityLog {
  const known = new Map<string, Known>();
  /** The last read last. */
  const reads = new Map<string, Read>();
  const hearers = new Set<() => void>();
  let served: ServedAt | undefined;

  function tell(): void {
    for (const hear of hearers) hear();
  }

  function meet(visitor: ClientInfo): Known {
    const key = `${visitor.name}\0${visitor.version ?? ""}\0${visitor.revision}`;
    const [at, seenMs] = [now(), monotonicMs()];
    const found = known.get(key);
    if (found) return Object.assign(found, { lastSeen: at, seenMs });
    if (known.size >= maxClients) forgetOne();
    const met = { visitor, since: at, lastSeen: at, seenMs, connections: 0 };
    known.set(key, met);
    tell();
    return met;
  }

  /** Of those without a connection, if there are any, the one that was heard of least lately. */
  function forgetOne(): void {
    const [first, ...others] = known.entries();
    let oldest = first;
    for (const each of others) if (oldest && isSooner(each[1], oldest[1])) oldest = each;
    if (oldest) known.delete(oldest[0]);
  }

  return {
    asked: (visitor) => void meet(visitor),

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

    read(visitor, said) {
      if (own.test(said)) return;
      const uri = said.slice(0, maxUriLength);
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
      return [...known.values()]
        .filter(({ connections, seenMs }) => connections > 0 || seenMs >= oldest)
        .toReversed()
        .sort((one, other) => other.seenMs - one.seenMs)
        .map(({ visitor, since, lastSeen, connections }) => ({
          ...visitor,
          era: visitor.revision >= firstModern ? "modern" : "legacy",
          since: toIso(since),
          lastSeen: toIso(lastSeen),
          connections,
        }));
    },

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

function isSooner(one: Known, other: Known): boolean {
  const [isHere, isThere] = [one.connections > 0, other.connections > 0];
  return isHere === isThere ? one.seenMs < other.seenMs : isThere;
}

function toIso(at: number): string {
  return new Date(at).toISOString();
}
