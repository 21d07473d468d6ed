/** Schemas that come with the database. */
export function isSystem(schema: string): boolean {
  return schema.startsWith("pg_") || schema === "information_schema";
}
