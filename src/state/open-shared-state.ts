/** Opens everything that the instances of a server share. */
import { cancelled, lastingFailure, ResourceError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import { databaseForCallers } from "./database-for-callers.ts";
import { type InstanceFacts, newInstanceId, registerInstance, sendHeartbeat } from "./instances.ts";
import { migrate } from "./migrate.ts";
import type { Migration } from "./migrations.ts";
import { openBus } from "./open-bus.ts";
import { openDatabase } from "./open-database.ts";
import { createPostgresLeases } from "./postgres-leases.ts";
import { createPostgresStore } from "./postgres-store.ts";
import type { SharedState } from "./shared-state.ts";
import { stateMigrations } from "./tables.ts";
import { type ClosingWatch, createClosingWatch } from "./watch-closing.ts";

export interface SharedStateOptions extends Omit<InstanceFacts, "id"> {
  /** `server.state`: the URL of the database. */
  readonly state: string;
  /** `server.bus`: the URL of NATS. Default: the database carries the changes. */
  readonly bus?: string | undefined;
  readonly runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">;
  /** Of other modules. Those of records, leases and changes are always applied. */
  readonly migrations?: readonly Migration[];
  readonly signal?: AbortSignal;
  /** How long to wait for a database that is not there yet. */
  readonly startMs?: number;
}

const retryMs = 1000;
/** Time limit of one statement of a migration. */
const migrationMs = 600_000;

/** Waits for the database, updates its tables, and lists this instance. Rejects with what to do if that fails. */
export async function openSharedState(options: SharedStateOptions): Promise<SharedState> {
  const {
    state,
    bus: busUrl,
    runtime,
    migrations = [],
    signal = new AbortController().signal,
    startMs = 30_000,
  } = options;
  const instance = newInstanceId(options.host);
  const facts = { ...options, id: instance };
  const opened: { close(): Promise<void> }[] = [];
  let closingWatch: ClosingWatch | undefined;
  /** In the opposite order: what uses the database is closed before it. */
  async function close(): Promise<void> {
    closingWatch?.begin();
    for (const each of opened.splice(0).toReversed()) await each.close();
    closingWatch?.end();
  }
  function keep<T extends { close(): Promise<void> }>(each: T): T {
    opened.push(each);
    return each;
  }

  try {
    const whenReady = createStartRetry({ runtime, signal, startMs });
    await whenReady(() => prepare({ state, runtime, facts, migrations: [...stateMigrations, ...migrations] }));
    const database = keep(openDatabase({ url: state, runtime }));
    closingWatch = createClosingWatch({
      database,
      runtime,
      gaveUp: () =>
        runtime.log(
          "warn",
          "the shared database does not respond; this instance stops without it, and what it holds there expires",
        ),
    });
    const registered = keep(await whenReady(() => registerInstance(database, facts, runtime)));
    const store = keep(createPostgresStore({ database: databaseForCallers(database), runtime }));
    const bus = keep(await whenReady(() => openBus({ url: busUrl, database, runtime, instance })));
    const leases = keep(createPostgresLeases({ database, instance, runtime }));
    return {
      instance,
      database,
      store,
      bus,
      leases,
      get databaseProblem() {
        return registered.problem;
      },
      prepareToClose: closingWatch.begin,
      close,
    };
  } catch (cause) {
    await close();
    throw cause;
  }
}

interface Preparation extends Required<Pick<SharedStateOptions, "state" | "runtime">> {
  readonly facts: InstanceFacts;
  readonly migrations: readonly Migration[];
}

async function prepare({ state, runtime, facts, migrations }: Preparation): Promise<void> {
  const database = openDatabase({ url: state, runtime, timeoutMs: migrationMs, maxConnections: 1 });
  try {
    // In one transaction: `pressmark migrate` either sees this instance, or what it removes is refused here.
    const applied = await migrate(database, migrations, { finish: (sql) => sendHeartbeat(sql, facts) });
    if (applied.length > 0)
      runtime.log("info", "the tables of the shared database were updated", {
        migrations: applied.map(({ area, number, title }) => `${area} ${number}: ${title}`).join("; "),
      });
  } finally {
    await database.close();
  }
}

type StartRetry = <T>(step: () => Promise<T>) => Promise<T>;

/** Runs the steps of a start. While the database is away, a step is tried again; all steps together may wait for `startMs`. */
function createStartRetry({
  runtime,
  signal,
  startMs,
}: Required<Pick<SharedStateOptions, "runtime" | "signal" | "startMs">>): StartRetry {
  const untilMs = runtime.monotonicMs() + startMs;
  let isLogged = false;
  return async (step) => {
    for (;;)
      try {
        return await step();
      } catch (cause) {
        if (signal.aborted) throw cancelled(signal.reason);
        if (!(cause instanceof ResourceError) || !cause.passing) throw cause;
        if (runtime.monotonicMs() >= untilMs)
          throw lastingFailure(
            `the shared database could not be used for ${Math.round(startMs / 1000)} s: ${cause.message}; then start again`,
            cause,
          );
        if (!isLogged)
          runtime.log("warn", `the shared database cannot be used yet; trying for ${Math.round(startMs / 1000)} s`, {
            cause,
          });
        isLogged = true;
        await runtime.wait(retryMs, signal).catch(() => undefined);
      }
  };
}
