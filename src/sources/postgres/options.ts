/** What a mount of a database may say. Declared once: validation, help and docs come from it. */
import type { z } from "zod";

export interface PostgresOptions {
  readonly url: string;
  readonly password?: string | undefined;
  readonly ca?: string | undefined;
  readonly schemas?: readonly string[] | undefined;
  readonly tables?:
    | { readonly include?: readonly string[] | undefined; readonly exclude?: readonly string[] | undefined }
    | undefined;
  readonly functions?: "none" | "signatures" | "definitions" | undefined;
  readonly rows: boolean | readonly string[];
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly fullText?:
    | readonly { readonly table: string; readonly columns: readonly string[]; readonly config: string }[]
    | undefined;
  readonly listen?: string | undefined;
  readonly pollMs: number;
  readonly timeoutMs: number;
  readonly maxConnections: number;
}

/** With what both sides prove who they are. */
export function proofOptions(zod: typeof z) {
  return {
    password: zod.string().min(1).optional().describe("where it is not part of the url: ${env:PGPASSWORD}"),
    ca: zod
      .string()
      .min(1)
      .optional()
      .describe("a file with the certificates that the server's is signed with")
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
        .describe("postgres://user@host:5432/database?sslmode=verify-full; best as a reference: ${env:DATABASE_URL}"),
      ...proofOptions(zod),
      schemas: zod
        .array(name)
        .max(1000)
        .optional()
        .describe("patterns of the schemas that are served; all unless said"),
      tables: zod
        .object({
          include: zod.array(name).max(1000).optional().describe("only these"),
          exclude: zod.array(name).max(1000).optional().describe("not these"),
        })
        .strict()
        .optional()
        .describe(
          "patterns of tables and views, as table or schema.table; what is left out is nowhere spoken of, and views that read it are left out too",
        ),
      functions: zod
        .enum(["none", "signatures", "definitions"])
        .optional()
        .describe(
          "how much of functions is served; definitions unless said, signatures where schemas are left out, none where tables are",
        ),
      rows: zod
        .union([zod.boolean(), zod.array(name).max(1000)])
        .default(false)
        .describe("whether rows are served, or of which tables, as patterns"),
      maxRows: zod.int().min(1).max(1000).default(100).describe("how many rows are given at once"),
      maxBytes: zod
        .int()
        .min(1024)
        .max(64 * 1024 * 1024)
        .default(1024 * 1024)
        .describe("how many bytes of rows are given at once"),
      fullText: zod
        .array(
          zod
            .object({
              table: name.describe("table or schema.table; its rows must be served"),
              columns: zod.array(name).min(1).max(50).describe("what is searched"),
              config: zod.string().min(1).max(200).default("simple").describe("the text search configuration"),
            })
            .strict(),
        )
        .max(50)
        .optional()
        .describe("tables whose rows are searched by the database itself"),
      listen: zod
        .string()
        .min(1)
        .max(63)
        .optional()
        .describe("a channel to which the name of a table is sent (NOTIFY) when its rows change"),
      pollMs: zod
        .int()
        .min(100)
        .max(3_600_000)
        .default(5000)
        .describe("how often to look for changed tables while watched"),
      timeoutMs: zod
        .int()
        .min(100)
        .max(600_000)
        .default(5000)
        .describe("how long one question may take, with connecting and all its statements and attempts"),
      maxConnections: zod.int().min(1).max(20).default(3).describe("how many connections are open at once"),
    })
    .strict();
}
