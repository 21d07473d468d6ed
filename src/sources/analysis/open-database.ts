/** Opens the database for results: a file, or a server that many machines share. */
import { invalid } from "../../errors.ts";
import type { Runtime } from "../../source.ts";
import type { AnalysisOptions } from "./options.ts";
import type { Database } from "./sql.ts";
import { createFile } from "./sqlite-database.ts";

/** Nothing is opened or connected before the first call. */
export async function openAnalysisDatabase(options: AnalysisOptions, runtime: Runtime): Promise<Database> {
  const { path, url, password, ca, schema, timeoutMs, maxConnections } = options;
  if (url === undefined) {
    if (path === undefined)
      throw invalid(
        'set "path", a file, or "url", a database, to store the results; only a server with server.state needs neither',
      );
    return createFile(path, runtime);
  }
  const { parseUrl, tlsAttempts } = await import("../../backends/postgres/url.ts");
  const { createPostgresDatabase } = await import("./postgres-database.ts");
  const target = parseUrl(url);
  return createPostgresDatabase({
    target,
    password,
    tls: tlsAttempts(target, ca),
    schema,
    timeoutMs,
    maxConnections,
    runtime,
  });
}
