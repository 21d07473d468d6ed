/** Schemas of the database itself. */
export function isSystem(schema: string): boolean {
  return schema.startsWith("pg_") || schema === "information_schema";
}
