/** The shared database, with errors for those who call the server instead of for its operator. */
import { ResourceError } from "../errors.ts";
import { withMembers } from "../lib/with-members.ts";
import type { SharedDatabase, SharedSql } from "./database.ts";

/**
 * A caller cannot check the config. The original error is the cause; the heartbeat of the instance logs it. The work of a transaction still
 * receives the errors of its statements as they are, and what it throws itself is not changed.
 */
export function databaseForCallers(database: SharedDatabase): SharedDatabase {
  return withMembers(database, {
    query: <Row>(...given: Parameters<SharedDatabase["query"]>) => database.query<Row>(...given).catch(refuse),
    transaction: (work, ...given) => refusing(work, (own) => database.transaction(own, ...given)),
    snapshot: (work, ...given) => refusing(work, (own) => database.snapshot(own, ...given)),
  });
}

type Work<T> = (sql: SharedSql) => Promise<T>;

async function refusing<T>(work: Work<T>, run: (work: Work<T>) => Promise<T>): Promise<T> {
  const ofStatements = new Set<unknown>();
  const ofWork = new Set<unknown>();
  try {
    return await run(async ({ query }) => {
      try {
        return await work({
          query: <Row>(...given: Parameters<SharedSql["query"]>) =>
            query<Row>(...given).catch((cause: unknown) => {
              ofStatements.add(cause);
              throw cause;
            }),
        });
      } catch (cause) {
        if (!ofStatements.has(cause)) ofWork.add(cause);
        throw cause;
      }
    });
  } catch (cause) {
    if (ofWork.has(cause)) throw cause;
    return refuse(cause);
  }
}

function refuse(cause: unknown): never {
  throw errorForCallers(cause);
}

/** Of an error of the database. Others are returned unchanged. */
export function errorForCallers(cause: unknown): unknown {
  if (!(cause instanceof ResourceError) || cause.kind !== "unavailable") return cause;
  const { passing } = cause;
  const message = passing
    ? "the database of this server is away; try again soon"
    : "the database of this server cannot be used; its operator finds the reason in the log";
  return new ResourceError("unavailable", message, { passing, cause });
}
