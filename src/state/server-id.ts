/** The random id of a server in its database: servers with equal schemas in different databases may share one NATS. */
import type { SharedDatabase } from "./database.ts";

/** Undefined before the tables were created. */
export async function readServerId(database: SharedDatabase): Promise<string | undefined> {
  const [table] = await database.query<{ made: boolean }>("select to_regclass($1) is not null as made", [
    `${database.schema}.server`,
  ]);
  if (!table?.made) return undefined;
  const [row] = await database.query<{ id: string }>("select id from server");
  return row?.id;
}
