/** JSON as the wire tests read it: unknown until looked at. */

export type Json = string | number | boolean | null | readonly Json[] | JsonRecord;
export interface JsonRecord {
  readonly [key: string]: Json;
}

export function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
