/** Options of a database mount. Declared once: validation, help and docs use it. */
import type { z } from "zod";

export interface PostgresOptions {
  readonly url: string;
  readonly password?: string;
  readonly ca?: string;
  readonly schemas?: readonly string[];
  readonly tables?:
    | { readonly include?: readonly string[]; readonly exclude?: readonly string[] | undefined }
    | undefined;
  readonly functions?: "none" | "signatures" | "definitions";
  readonly rows: boolean | readonly string[];
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly fullText?:
    | readonly { readonly table: string; readonly columns: readonly string[]; readonly config: string }[]
    | undefined;
  readonly listen?: string;
  readonly pollMs: number;
  readonly timeoutMs: number;
  readonly maxConnections: number;
}

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

export function postgresOptions(zod: typeof z): z.ZodType<PostgresOptions> {
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
      maxRows: zod.int().min(1).max(1000).default(100).describe("Most rows on one page"),
      maxBytes: zod
        .int()
        .min(1024)
        .max(64 * 1024 * 1024)
        .default(1024 * 1024)
        .describe("Most bytes of rows on one page"),
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
        .describe("Tables whose rows are searched by the database itself"),
      listen: zod
        .string()
        .min(1)
        .max(63)
        .optional()
        .describe("Channel on which the database announces (NOTIFY) the name of a table when its rows change"),
      pollMs: zod
        .int()
        .min(100)
        .max(3_600_000)
        .default(5000)
        .describe("How often to check for changed tables while watched"),
      timeoutMs: zod
        .int()
        .min(100)
        .max(600_000)
        .default(5000)
        .describe("Time limit of one call, with connecting and all its statements and retries"),
      maxConnections: zod.int().min(1).max(20).default(3).describe("Most open connections"),
    })
    .strict();
}
