/** Addresses in the database, parsed and formatted. */
import { compareCodePoints } from "../../lib/address-order.ts";
import { pathOf, segmentsOf } from "../../source.ts";
import { createNameSegments } from "../../backends/sql/segments.ts";

export type PostgresAddress =
  | { readonly kind: "database" }
  | { readonly kind: "schema" | "overview" | "types" | "functions"; readonly schema: string }
  | { readonly kind: "function"; readonly schema: string; readonly name: string }
  | { readonly kind: "table"; readonly schema: string; readonly name: string }
  | PostgresLeaf;

/** A resource below a table. */
interface PostgresLeaf {
  readonly kind: "definition" | "rows";
  readonly schema: string;
  readonly name: string;
  /** Written without the schema, which is then `public`. */
  readonly isShort?: boolean;
}

export function isLeaf(place: PostgresAddress): place is PostgresLeaf {
  return place.kind === "definition" || place.kind === "rows";
}

const segments = createNameSegments(["overview", "types", "functions", "schema", "rows"]);
export const { format } = segments;

/** The path of an address. */
export function postgresPath(place: PostgresAddress): string {
  switch (place.kind) {
    case "database":
      return "";
    case "schema":
      return pathOf([format(place.schema)]);
    case "function":
      return pathOf([format(place.schema), "functions", format(place.name)]);
    case "table":
      return pathOf([format(place.schema), format(place.name)]);
    case "definition":
      return pathOf([format(place.schema), format(place.name), "schema"]);
    case "rows":
      return pathOf([format(place.schema), format(place.name), "rows"]);
    default:
      return pathOf([format(place.schema), place.kind]);
  }
}

/** Undefined for a path that nothing can have. */
export function parsePostgresPath(path: string): PostgresAddress | undefined {
  const [first, second, third, ...more] = segmentsOf(path);
  if (first === undefined) return { kind: "database" };
  const schema = segments.parse(first);
  if (schema === undefined || more.length > 0) return undefined;
  if (second === undefined) return { kind: "schema", schema };
  if (third === undefined) {
    if (second === "overview" || second === "types" || second === "functions") return { kind: second, schema };
    const leaf = leafOf(second);
    if (leaf) return { kind: leaf, schema: "public", name: schema, isShort: true };
    const name = segments.parse(second);
    return name === undefined ? undefined : { kind: "table", schema, name };
  }
  if (second === "functions") {
    const name = segments.parse(third);
    return name === undefined ? undefined : { kind: "function", schema, name };
  }
  const name = segments.parse(second);
  const leaf = leafOf(third);
  return name === undefined || leaf === undefined ? undefined : { kind: leaf, schema, name };
}

function leafOf(segment: string): "definition" | "rows" | undefined {
  return segment === "schema" ? "definition" : segment === "rows" ? "rows" : undefined;
}

/** List order: segment by segment, each by code points. */
export function comparePaths(left: string, right: string): number {
  const [ours, theirs] = [segmentsOf(left), segmentsOf(right)];
  for (const [index, segment] of ours.entries()) {
    const other = theirs[index];
    if (other === undefined) return 1;
    const order = compareCodePoints(segment, other);
    if (order !== 0) return order;
  }
  return ours.length - theirs.length;
}
