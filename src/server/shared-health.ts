/** Whether this instance reaches what it shares with others: the database and the bus. */
import { pollValue } from "../lib/poll-value.ts";
import type { SharedState } from "../state/shared-state.ts";

export type SharedHealthSource = Pick<SharedState, "instance" | "databaseProblem"> & {
  readonly bus: Pick<SharedState["bus"], "status">;
};

interface PartHealth {
  readonly state: "ok" | "failing";
  readonly problem?: string;
}

export interface SharedHealth {
  readonly database: PartHealth;
  readonly bus: PartHealth & { readonly engine: string };
}

/** How often a change is looked for while someone watches: as often as the database is asked. */
const lookMs = 5000;

/** From what is known: nothing is asked. */
export function sharedHealth({ databaseProblem, bus }: SharedHealthSource): SharedHealth {
  const { engine, isConnected } = bus.status;
  const name = engine === "nats" ? "NATS" : "PostgreSQL";
  const problem = `${name} is not connected; clients are told of changes once it is`;
  return {
    database: databaseProblem === undefined ? { state: "ok" } : { state: "failing", problem: databaseProblem },
    bus: { engine, ...(isConnected ? { state: "ok" } : { state: "failing", problem }) },
  };
}

/** Calls back when the health has changed, until the signal is aborted. */
export function followSharedHealth(source: SharedHealthSource, hear: () => void, signal: AbortSignal): void {
  pollValue(() => JSON.stringify(sharedHealth(source)), lookMs, hear, signal);
}
