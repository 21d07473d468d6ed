/** Checks what the instances of a server share: the database, its tables and notifications, the bus, and the other instances. */
import { randomUUID } from "node:crypto";
import type { ServerSettings } from "../config/schema.ts";
import { toResourceError, unavailable } from "../errors.ts";
import { unlessAborted } from "../lib/unless-aborted.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedDatabase } from "../state/database.ts";
import { listInstances } from "../state/instances.ts";
import { readMigrations } from "../state/migrate.ts";
import { isContract, type MigrationState } from "../state/migrations.ts";
import { findNatsStream } from "../state/find-nats-stream.ts";
import { openBus } from "../state/open-bus.ts";
import { openDatabase } from "../state/open-database.ts";
import type { CheckResult } from "./examine.ts";
import { sharedMigrations } from "./shared-migrations.ts";

/** Time limit of one check. */
const patienceMs = 5000;
/** Stored times of tokens and sessions are compared with the clock of an instance. */
const maxClockDifferenceMs = 5000;

/** Nothing for a server without `server.state`. */
export async function examineState(
  { state, bus }: Pick<ServerSettings, "state" | "bus">,
  runtime: Pick<Runtime, "now" | "monotonicMs" | "wait">,
  signal: AbortSignal,
): Promise<CheckResult[]> {
  if (state === undefined) return [];
  const quiet = { ...runtime, log: () => undefined };
  let database: SharedDatabase | undefined;
  try {
    database = openDatabase({ url: state, runtime: quiet, timeoutMs: patienceMs, maxConnections: 2 });
    const reached = await examineDatabase(database, quiet);
    const tables = await readMigrations(database, sharedMigrations);
    const hasTables = tables.applied.length > 0;
    return [
      ...reached,
      examineTables(database.schema, tables),
      await examineNotify(database, quiet, signal),
      (await examineMissingBus(database, bus, hasTables)) ?? (await examineBus(database, bus, quiet, signal)),
      ...(hasTables ? examineInstances(await listInstances(database)) : []),
    ];
  } catch (cause) {
    return [{ about: "state", state: "broken", says: toResourceError(cause).message }];
  } finally {
    await database?.close();
  }
}

async function examineDatabase(
  database: SharedDatabase,
  { now, monotonicMs }: Pick<Runtime, "now" | "monotonicMs">,
): Promise<CheckResult[]> {
  // The first statement also connects.
  await database.query("select");
  const sentMs = monotonicMs();
  const [row] = await database.query<{ version: string; now: number }>(
    "select current_setting('server_version') as version, extract(epoch from clock_timestamp()) * 1000 as now",
  );
  const tookMs = monotonicMs() - sentMs;
  const differenceMs = now() - tookMs / 2 - Number(row?.now);
  const version = String(row?.version).split(" ")[0] ?? "";
  const says = `PostgreSQL ${version}, schema ${database.schema}, answers in ${tookMs.toFixed(1)} ms`;
  const findings: CheckResult[] = [{ about: "state", state: "ok", says }];
  if (Math.abs(differenceMs) > maxClockDifferenceMs)
    findings.push({
      about: "state",
      state: "hint",
      says: `the clocks of this machine and of the database differ by ${Math.round(Math.abs(differenceMs) / 1000)} s`,
      advice: "synchronise both with NTP: tokens and sessions expire by the clock of the instance that checks them",
    });
  return findings;
}

function examineTables(schema: string, { applied, pending }: MigrationState): CheckResult {
  const about = "state tables";
  if (pending.length === 0) return { about, state: "ok", says: `${applied.length} migrations, all applied` };
  const names = pending.map(({ area, number }) => `${area} ${number}`).join(", ");
  if (pending.every(isContract))
    return {
      about,
      state: "hint",
      says: `the schema ${schema} still has what only older versions use (${names})`,
      advice: "after the last older instance has stopped, run: pressmark migrate",
    };
  return {
    about,
    state: "hint",
    says: `${pending.length} migrations are pending (${names})`,
    advice: "start an instance, or run: pressmark migrate",
  };
}

/** A pooler that shares connections loses notifications. */
async function examineNotify(
  database: SharedDatabase,
  { wait }: Pick<Runtime, "wait">,
  signal: AbortSignal,
): Promise<CheckResult> {
  const about = "state notifications";
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  const channel = `${database.schema}.doctor`;
  const mark = randomUUID();
  try {
    const heard = new Promise<void>((resolve, reject) => {
      database.listen(
        channel,
        {
          notified: (payload) => void (payload === mark && resolve()),
          connected: () => void database.query("select pg_notify($1, $2)", [channel, mark]).catch(reject),
          lost: () => undefined,
        },
        either,
      );
    });
    await within(heard, wait, either);
    return { about, state: "ok", says: "NOTIFY reaches this machine" };
  } catch {
    return {
      about,
      state: "broken",
      says: `a notification of the database did not arrive within ${patienceMs / 1000} s`,
      advice: "connect to the database without a pooler, or with one that gives each client its own session",
    };
  } finally {
    stop.abort();
  }
}

/** A bus that does not exist yet is not created. Undefined if it exists. */
async function examineMissingBus(
  database: SharedDatabase,
  url: string | undefined,
  hasTables: boolean,
): Promise<CheckResult | undefined> {
  const about = "bus";
  if (url === undefined)
    return hasTables
      ? undefined
      : { about, state: "ok", says: "PostgreSQL carries the changes; the first instance creates the tables" };
  try {
    if (await findNatsStream(url, database)) return undefined;
    return { about, state: "ok", says: "NATS offers JetStream; the first instance creates the stream" };
  } catch (cause) {
    return { about, state: "broken", says: toResourceError(cause).message };
  }
}

async function examineBus(
  database: SharedDatabase,
  url: string | undefined,
  runtime: Pick<Runtime, "monotonicMs" | "wait" | "log">,
  signal: AbortSignal,
): Promise<CheckResult> {
  const about = "bus";
  const stop = new AbortController();
  const either = AbortSignal.any([signal, stop.signal]);
  // One topic for all: each has a row of its own, which stays.
  const topic = "doctor";
  const mark = randomUUID();
  /** Why the bus is not connected: it only logs that, and tries again. */
  let fault: unknown;
  const log: Runtime["log"] = (_level, _message, facts) => void (fault = facts?.["cause"] ?? fault);
  try {
    const bus = await openBus({ url, database, runtime: { ...runtime, log }, instance: "doctor" });
    try {
      const began = runtime.monotonicMs();
      const { promise: heard, resolve } = Promise.withResolvers<void>();
      await within(
        bus.subscribe(
          topic,
          { message: ({ body }) => void (body === mark && resolve()), gap: () => undefined },
          either,
        ),
        runtime.wait,
        either,
      );
      await within(bus.publish({ topic, body: mark, fence: 0 }), runtime.wait, either);
      await within(heard, runtime.wait, either);
      const engine = bus.status.engine === "nats" ? "NATS" : "PostgreSQL";
      return {
        about,
        state: "ok",
        says: `${engine} carried a message in ${Math.round(runtime.monotonicMs() - began)} ms`,
      };
    } finally {
      stop.abort();
      await bus.close();
    }
  } catch (cause) {
    return { about, state: "broken", says: toResourceError(fault ?? cause).message };
  }
}

function examineInstances(all: Awaited<ReturnType<typeof listInstances>>): CheckResult[] {
  const alive = all.filter(({ isAlive }) => isAlive);
  const about = "instances";
  const versions = new Set(alive.map(({ version }) => version));
  const configs = new Set(alive.flatMap(({ config }) => config ?? []));
  const findings: CheckResult[] = [
    {
      about,
      state: "ok",
      says:
        alive.length === 0 ? "none is running" : `${alive.length} running, version ${[...versions].sort().join(", ")}`,
    },
  ];
  if (configs.size > 1)
    findings.push({
      about,
      state: "hint",
      says: `the running instances have ${configs.size} different configs: ${alive.map(({ id, config }) => `${id} ${config}`).join(", ")}`,
      advice: "give all instances the same config, and start those again that have an older one",
    });
  return findings;
}

async function within<T>(work: Promise<T>, wait: Runtime["wait"], signal: AbortSignal): Promise<T> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const late = wait(patienceMs, either).then(() => {
    throw unavailable(`nothing arrived within ${patienceMs / 1000} s`);
  });
  try {
    return await unlessAborted(Promise.race([work, late]), signal);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}
