/** The figures for `/metrics` of what the instances of a server share. */
import { isDoneWithin } from "../lib/is-done-within.ts";
import { indexLease } from "../search/index-lease.ts";
import type { Runtime } from "../source.ts";
import type { BusStatus } from "../state/bus.ts";
import type { LeaseInfo } from "../state/leases.ts";
import type { SharedState } from "../state/shared-state.ts";
import { family, type Sample } from "./metrics-text.ts";

export interface SharedFigures {
  readonly instance: string;
  readonly bus: BusStatus;
  /** Undefined if the database did not answer in time. */
  readonly leases: readonly LeaseInfo[] | undefined;
  /** Names of the leases that this instance needs, itself or of another instance. */
  readonly needed: ReadonlySet<string>;
  readonly pool: SharedState["database"]["pool"];
}

/** Prometheus waits ten seconds by default. */
const answerMs = 2000;

/** `indexed` names the mounts that this instance searches. */
export async function sharedFigures(
  shared: SharedState,
  indexed: readonly string[],
  { wait }: Pick<Runtime, "wait">,
): Promise<SharedFigures> {
  const { instance, bus, leases, database } = shared;
  let listed: readonly LeaseInfo[] | undefined;
  const listing = leases.list().then(
    (all) => void (listed = all),
    () => undefined,
  );
  await isDoneWithin(listing, answerMs, wait);
  // The thread that indexes waits for its leases itself.
  const needed = new Set([...leases.waiting(), ...indexed.map(indexLease)]);
  return { instance, bus: bus.status, leases: listed, needed, pool: database.pool };
}

/** A sample without labels, unless the value is not known. */
function one(value: number | undefined): readonly Sample[] {
  return value === undefined ? [] : [[{}, value]];
}

/** Contains no names of leases, which are those of mounts. */
export function sharedText({ instance, bus, leases, needed, pool }: SharedFigures): string {
  const { engine } = bus;
  const held = leases?.filter(({ holder, isExpired }) => holder === instance && !isExpired);
  // One that was released, or that nobody needs any more, is no missing leader.
  const expired = leases?.filter(({ name, isExpired, isReleased }) => isExpired && !isReleased && needed.has(name));
  return [
    family("pressmark_bus_connected", "gauge", "1 while the bus is connected.", [
      [{ engine }, Number(bus.isConnected)],
    ]),
    family("pressmark_bus_lag_messages", "gauge", "Messages published and not received here.", [[{ engine }, bus.lag]]),
    family("pressmark_bus_gaps_total", "counter", "Times that messages of a mount may have been missed.", [
      [{ engine }, bus.gaps],
    ]),
    family("pressmark_bus_published_total", "counter", "Messages published here.", [[{ engine }, bus.published]]),
    family("pressmark_bus_received_total", "counter", "Messages received here.", [[{ engine }, bus.received]]),
    family("pressmark_database_up", "gauge", "1 if the shared database answers.", [[{}, Number(leases !== undefined)]]),
    family("pressmark_database_connections", "gauge", "Open connections of the pool.", one(pool.open)),
    family("pressmark_database_waiting", "gauge", "Statements that wait for a connection.", one(pool.waiting)),
    family("pressmark_database_connections_max", "gauge", "Size of the pool.", one(pool.max)),
    family("pressmark_leases_held", "gauge", "Leases that this instance holds.", one(held?.length)),
    family(
      "pressmark_leases_expired",
      "gauge",
      "Leases needed here that their holder did not renew and nobody took: no leader.",
      one(expired?.length),
    ),
  ].join("");
}
