/** The shared database, with errors for those who call the server instead of for its operator. */
import { ResourceError } from "../errors.ts";
import { withMembers } from "../lib/with-members.ts";
import type { SharedDatabase } from "./database.ts";

/** A caller cannot check the config. The original error is the cause; the heartbeat of the instance logs it. */
export function databaseForCallers(database: SharedDatabase): SharedDatabase {
  return withMembers(database, {
    query: <Row>(...given: Parameters<SharedDatabase["query"]>) => database.query<Row>(...given).catch(refuse),
    transaction: (...given) => database.transaction(...given).catch(refuse),
    snapshot: (...given) => database.snapshot(...given).catch(refuse),
  });
}

function refuse(cause: unknown): never {
  if (!(cause instanceof ResourceError) || cause.kind !== "unavailable") throw cause;
  const { passing } = cause;
  const message = passing
    ? "the database of this server is away; try again soon"
    : "the database of this server cannot be used; its operator finds the reason in the log";
  throw new ResourceError("unavailable", message, { passing, cause });
}
