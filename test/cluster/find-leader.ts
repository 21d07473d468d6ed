/** Finds the instance that watches the served folder for all. */
import { dirname, join } from "node:path";
import pg from "pg";
import type { Cluster } from "../../examples/cluster/start-cluster.ts";

/** Its position among the instances; undefined while nobody leads, or while the database does not answer. */
export async function findLeader({ database, config, instances }: Cluster): Promise<number | undefined> {
  const { username, password, port } = new URL(database.url);
  // The socket of the system, because the test is in no namespace of the cluster.
  const client = new pg.Client({
    host: join(dirname(config), "postgres"),
    port: Number(port),
    user: username,
    password,
    database: "postgres",
    connectionTimeoutMillis: 2000,
    query_timeout: 2000,
  });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ address: string }>(
      `select i.address from pressmark.leases l join pressmark.instances i on i.id = l.holder
       where l.name like 'watch:notes:%' and l.expires > clock_timestamp()`,
    );
    const at = instances.findIndex(({ host }) => rows.some(({ address }) => address === host.address));
    return at === -1 ? undefined : at;
  } catch {
    return undefined;
  } finally {
    await client.end().catch(() => undefined);
  }
}
