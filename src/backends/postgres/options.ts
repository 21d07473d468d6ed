/** Options of a database mount. Declared once: validation, help and docs use it. */
import { intOption } from "../../lib/int-option.ts";
import type { z } from "zod";
import { documentOptions } from "../sql/document-table.ts";

/** Options for authentication and TLS. */
export function authenticationOptions(zod: typeof z) {
  return {
    password: zod.string().min(1).optional().describe("Password, if it is not part of the url: ${env:PGPASSWORD}"),
    ca: zod
      .string()
      .min(1)
      .optional()
      .describe("File with the certificates of the authority that signed the server's certificate")
      .meta({ format: "path" }),
  };
}

export type PostgresOptions = z.output<ReturnType<typeof postgresOptions>>;

export function postgresOptions(zod: typeof z) {
  const name = zod.string().min(1).max(1000);
  return zod
    .object({
      url: zod
        .string()
        .min(1)
        .describe(
          "Address of the database, postgres://user@host:5432/database?sslmode=verify-full; best as a reference: ${env:DATABASE_URL}",
        ),
      ...authenticationOptions(zod),
      schemas: zod.array(name).max(1000).optional().describe("Patterns of the schemas to serve. Default: all"),
      tables: zod
        .object({
          include: zod.array(name).max(1000).optional().describe("Serve only these"),
          exclude: zod.array(name).max(1000).optional().describe("Do not serve these"),
        })
        .strict()
        .optional()
        .describe(
          "Patterns of tables and views, as table or schema.table; excluded ones appear nowhere, and views that read them are excluded too",
        ),
      functions: zod
        .enum(["none", "signatures", "definitions"])
        .optional()
        .describe(
          "How much of functions is served. Default: definitions; signatures if schemas are excluded, none if tables are",
        ),
      rows: zod
        .union([zod.boolean(), zod.array(name).max(1000)])
        .default(false)
        .describe("Whether rows are served, or patterns of the tables whose rows are served"),
      maxRows: intOption(zod, 1, 1000, 100).describe("Most rows on one page"),
      maxBytes: intOption(zod, 1024, 64 * 1024 * 1024, 1024 * 1024).describe("Most bytes of rows on one page"),
      fullText: zod
        .array(
          zod
            .object({
              table: name.describe("Table as table or schema.table; its rows must be served"),
              columns: zod.array(name).min(1).max(50).describe("Columns to search"),
              config: zod.string().min(1).max(200).default("simple").describe("Text search configuration"),
            })
            .strict(),
        )
        .max(50)
        .optional()
        .describe("Tables whose rows are searched by the database itself: table, columns, and config (simple)"),
      documents: documentOptions(zod, name, {
        changedAt: name
          .optional()
          .describe("Column whose value grows with each change of a row, such as a time; best with an index"),
      }),
      listen: zod
        .string()
        .min(1)
        .max(63)
        .optional()
        .describe("Channel on which the database announces (NOTIFY) the name of a table when its rows change"),
      pollMs: intOption(zod, 100, 3_600_000, 5000).describe("How often to check for changed tables while watched"),
      timeoutMs: intOption(zod, 100, 600_000, 5000).describe(
        "Time limit of one call, with connecting and all its statements and retries",
      ),
      maxConnections: intOption(zod, 1, 20, 3).describe("Most open connections"),
    })
    .strict();
}
