/** The formats of a table description. */
import { notFound, quote, ResourceError } from "../../errors.ts";
import type { Address } from "../../source.ts";
import { schemaType } from "./description.ts";

export type TableFormat = "json" | "ddl" | "markdown";

export const tableFormats: readonly TableFormat[] = ["json", "ddl", "markdown"];

/** Throws "not-found" for an unknown query parameter. */
export function tableFormatOf(
  { path, query = {} }: Address,
  unlessSaid: TableFormat,
  known: readonly TableFormat[],
): TableFormat {
  const { format, ...strange } = query;
  if (Object.keys(strange).length > 0) throw notFound(path);
  if (format === undefined) return unlessSaid;
  const found = known.find((each) => each === format);
  if (found === undefined)
    throw new ResourceError("invalid", `format must be one of ${known.join(", ")}, not ${quote(format, 40)}`);
  return found;
}

export function tableTypeOf(format: TableFormat, json = schemaType): string {
  if (format === "json") return json;
  return format === "ddl" ? "application/sql" : "text/markdown";
}

export function hasQuery({ query }: Address): boolean {
  return query !== undefined && Object.keys(query).length > 0;
}
