/** Problems of the database to report to the administrator: above all, whether the role could write. */
import type { Call } from "../../resources.ts";
import type { SourceProblem } from "../../source.ts";
import { fullName } from "../../backends/sql/description.ts";
import { leftOutProblem } from "../../backends/sql/left-out.ts";
import type { Catalog } from "./catalog.ts";
import type { PostgresConnection } from "./connection.ts";
import { isNear, mayBePlain, type Target } from "../../backends/postgres/url.ts";

const powers = `
  SELECT current_user::text AS role, current_setting('server_version_num')::int AS version, r.rolsuper AS super,
    EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'p', 'v', 'f') AND NOT starts_with(n.nspname::text, 'pg_') AND n.nspname <> 'information_schema'
        AND has_schema_privilege(n.oid, 'USAGE')
        AND has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')) AS writes,
    EXISTS (SELECT FROM pg_namespace n WHERE NOT starts_with(n.nspname::text, 'pg_') AND has_schema_privilege(n.oid, 'CREATE')) AS creates
  FROM pg_roles r WHERE r.rolname = current_user`;

const oldest = 130_000;

export async function problemsOf(
  connection: Pick<PostgresConnection, "query">,
  catalog: Pick<Catalog, "leftOutViews">,
  target: Target,
  { signal }: Call,
): Promise<readonly SourceProblem[]> {
  const [row] = await connection.query({ text: powers }, signal);
  const { version, super: isSuper, writes, creates } = (row ?? {}) as Readonly<Record<string, unknown>>;
  const problems: SourceProblem[] = [];
  if (isSuper === true || writes === true || creates === true) {
    const what =
      isSuper === true ? "is a superuser" : writes === true ? "could write to tables" : "could create tables";
    problems.push({
      path: "",
      says: `connects with a role that ${what}; all queries are read-only, but a role that cannot write is safer`,
      advice:
        "CREATE ROLE pressmark LOGIN; GRANT pg_read_all_data TO pressmark (PostgreSQL 14 and later), or GRANT USAGE and SELECT on what is to be served",
    });
  }
  if (mayBePlain(target) && !isNear(target))
    problems.push({
      path: "",
      says: `connects to another machine with sslmode=${target.sslmode}, which allows connections without TLS: others on the network can read all rows`,
      advice: "set sslmode=verify-full in the url",
    });
  if (Number(version) < oldest)
    problems.push({ path: "", says: "is a server older than PostgreSQL 13, which is not tested" });
  const views = await catalog.leftOutViews(signal);
  if (views.length > 0) problems.push(leftOutProblem(views.map(fullName)));
  return problems;
}
