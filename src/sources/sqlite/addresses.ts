/** Addresses in a database file, parsed and formatted. */
import { pathOf, segmentsOf } from "../../source.ts";
import { createNameSegments } from "../../backends/sql/segments.ts";

type SqliteAddress =
  | { readonly kind: "database" | "overview" }
  | { readonly kind: "table" | "definition" | "rows"; readonly table: string };

const segments = createNameSegments(["overview"]);
export const encodePath = segments.format;

export function sqlitePath(place: SqliteAddress): string {
  switch (place.kind) {
    case "database":
      return "";
    case "overview":
      return "overview";
    case "table":
      return pathOf([encodePath(place.table)]);
    case "definition":
      return pathOf([encodePath(place.table), "schema"]);
    case "rows":
      return pathOf([encodePath(place.table), "rows"]);
  }
}

/** Undefined for a path that nothing can have. */
export function parseSqlitePath(path: string): SqliteAddress | undefined {
  const [first, second, ...more] = segmentsOf(path);
  if (first === undefined) return { kind: "database" };
  if (first === "overview") return second === undefined ? { kind: "overview" } : undefined;
  const table = segments.parse(first);
  if (table === undefined || more.length > 0) return undefined;
  if (second === undefined) return { kind: "table", table };
  if (second === "schema") return { kind: "definition", table };
  return second === "rows" ? { kind: "rows", table } : undefined;
}
