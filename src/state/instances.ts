/** The running instances of a server, for operators. Nothing depends on this table. */
import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { lastingFailure, toResourceError } from "../errors.ts";
import type { Runtime } from "../runtime.ts";
import type { SharedDatabase, SharedSql } from "./database.ts";

export interface InstanceFacts {
  /** Unique for each process; see `newInstanceId`. */
  readonly id: string;
  /** Version of Pressmark. */
  readonly version: string;
  /** Name of the machine. Default: its host name. */
  readonly host?: string | undefined;
  /** Digest of its config: all instances should have the same. */
  readonly config?: string | undefined;
}

export interface InstanceInfo extends Required<Pick<InstanceFacts, "id" | "version" | "host">> {
  /** Its IP address, as the database sees it. */
  readonly address?: string;
  readonly config?: string;
  /** ISO 8601, by the clock of the database. */
  readonly started: string;
  /** Whether it has sent a heartbeat within the last seconds. */
  readonly isAlive: boolean;
}

const heartbeatMs = 5000;
const aliveMs = 3 * heartbeatMs;

/** Names machine and process, for people who read it in a log. */
export function newInstanceId(host = hostname()): string {
  return `${host.replaceAll(/[^\w.-]/g, "-").slice(0, 63)}:${process.pid}:${randomUUID().slice(0, 8)}`;
}

export interface RegisteredInstance {
  /** Why the last heartbeat failed. Undefined if the database answered. */
  readonly problem: string | undefined;
  /** Removes it from the list. */
  close(): Promise<void>;
}

/** Resolves once it is listed. Then sends a heartbeat every few seconds, and warns once of each instance with another config. */
export async function registerInstance(
  database: SharedDatabase,
  facts: InstanceFacts,
  runtime: Pick<Runtime, "wait" | "log">,
): Promise<RegisteredInstance> {
  const closing = new AbortController();
  const warnedOf = new Set<string>();
  let problem: string | undefined;

  async function repeatHeartbeat(): Promise<void> {
    while (!closing.signal.aborted) {
      await runtime.wait(heartbeatMs, closing.signal).catch(() => undefined);
      if (closing.signal.aborted) return;
      try {
        warnOf(await sendHeartbeat(database, facts));
        if (problem !== undefined) runtime.log("info", "the shared database answers again");
        problem = undefined;
      } catch (cause) {
        if (problem === undefined) runtime.log("warn", "the shared database does not answer", { cause });
        problem = toResourceError(cause).message;
      }
    }
  }

  function warnOf(others: Awaited<ReturnType<typeof sendHeartbeat>>): void {
    for (const { id, address } of others) {
      if (warnedOf.has(id)) continue;
      warnedOf.add(id);
      runtime.log(
        "warn",
        "another instance was started with another config; give all the same, and start those again that have an older one",
        { instance: id, address },
      );
    }
  }

  await sendHeartbeat(database, facts);
  await database.query("delete from instances where seen < clock_timestamp() - interval '1 hour'");
  const repeating = repeatHeartbeat();
  return {
    get problem() {
      return problem;
    },
    async close() {
      closing.abort();
      await repeating;
      await database.query("delete from instances where id = $1", [facts.id]).catch(() => undefined);
    },
  };
}

/** Lists an instance, or says that it is alive. Returns the running instances with another config. */
export async function sendHeartbeat(
  sql: SharedSql,
  facts: InstanceFacts,
): Promise<readonly { readonly id: string; readonly address: string | null }[]> {
  return sql.query(
    `with beat as (
       insert into instances (id, host, address, version, config) values ($1, $2, host(inet_client_addr()), $3, $4)
       on conflict (id) do update set seen = clock_timestamp())
     select id, address from instances
     where id <> $1 and config <> $4 and seen > clock_timestamp() - $5::integer * interval '1 ms' order by id`,
    [facts.id, facts.host ?? hostname(), facts.version, facts.config ?? null, aliveMs],
  );
}

/** The oldest first. */
export async function listInstances(sql: SharedSql): Promise<readonly InstanceInfo[]> {
  const rows = await sql.query<{
    id: string;
    host: string;
    version: string;
    address: string | null;
    config: string | null;
    started: Date;
    alive: boolean;
  }>(
    `select id, host, address, version, config, started, seen > clock_timestamp() - $1::integer * interval '1 ms' as alive
     from instances order by started, id`,
    [aliveMs],
  );
  return rows.map(({ address, config, started, alive, ...rest }) => ({
    ...rest,
    ...(address !== null && { address }),
    ...(config !== null && { config }),
    started: started.toISOString(),
    isAlive: alive,
  }));
}

/** Rejects while an instance of another version runs: what a contract migration removes, it may still use. */
export async function checkVersions(sql: SharedSql, version: string): Promise<void> {
  const others = (await listInstances(sql)).filter((each) => each.isAlive && each.version !== version);
  if (others.length === 0) return;
  const names = others.map((each) => `${each.host} (${each.version})`).join(", ");
  throw lastingFailure(
    `instances of other versions are running: ${names}; update or stop them, then run: pressmark migrate`,
  );
}
