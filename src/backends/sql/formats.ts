/** The formats of a table description. */
import { invalid, notFound, quote } from "../../errors.ts";
import type { Address, Part, SourceTemplate } from "../../source.ts";
import { toDdl } from "./ddl.ts";
import { schemaType, type TableDescription } from "./description.ts";
import { type Overview, overviewMarkdown, tableMarkdown } from "./overview.ts";

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
  if (found === undefined) throw invalid(`format must be one of ${known.join(", ")}, not ${quote(format, 40)}`);
  return found;
}

export function tableTypeOf(format: TableFormat, json = schemaType): string {
  if (format === "json") return json;
  return format === "ddl" ? "application/sql" : "text/markdown";
}

export function textPart(text: string, mimeType: string): Part {
  return { body: { text }, mimeType };
}

export function tablePart(table: TableDescription, format: TableFormat, ddl = toDdl(table)): Part {
  const texts = { json: () => JSON.stringify(table), ddl: () => ddl, markdown: () => tableMarkdown(table, ddl) };
  return textPart(texts[format](), tableTypeOf(format));
}

export function overviewPart(overview: Overview, format: TableFormat, ddl: () => string): Part {
  const texts = {
    json: () => JSON.stringify(overview),
    ddl: () =>
      overview.leftOut > 0 ? `-- At least ${overview.leftOut} more tables are not part of this.\n${ddl()}` : ddl(),
    markdown: () => overviewMarkdown(overview),
  };
  return textPart(texts[format](), tableTypeOf(format));
}

/** The rows below the address of a table. */
export function rowsTemplate(table: string, maxRows: number): SourceTemplate {
  return {
    template: `${table}/rows{?limit,after,key}`,
    name: "Rows",
    description: `Rows of a table in key order, up to ${maxRows} per page; after continues behind a row, key selects one row`,
    mimeType: "application/json",
  };
}
