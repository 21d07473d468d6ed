/** Catalogue objects as entries. */
import { directoryType } from "../../resources.ts";
import type { Entry } from "../../source.ts";
import { overviewDescription, schemaType } from "../../backends/sql/description.ts";
import type { CatalogItem } from "./catalog.ts";
import { postgresPath } from "./addresses.ts";
import { tableKinds } from "./tables.ts";

export function catalogEntry(
  { place, comment, letter }: CatalogItem,
  database: string,
  leaf?: "definition" | "rows",
): Entry {
  const description = comment === undefined ? {} : { description: comment.slice(0, 1000).toWellFormed() };
  switch (place.kind) {
    case "schema":
      return { path: postgresPath(place), name: place.schema, ...description, mimeType: directoryType };
    case "functions":
      return { path: postgresPath(place), mimeType: directoryType };
    case "overview":
      return {
        path: postgresPath(place),
        name: `${place.schema} overview`,
        title: `Overview of ${database}.${place.schema}`,
        description: overviewDescription,
        ...description,
        mimeType: "text/markdown",
      };
    case "types":
      return {
        path: postgresPath(place),
        name: `${place.schema} types`,
        title: `Types of ${database}.${place.schema}`,
        description: "Enums, domains, composite and range types",
        mimeType: "application/json",
      };
    case "function":
      return {
        path: postgresPath(place),
        name: `${place.schema}.${place.name}`,
        title: `Function ${database}.${place.schema}.${place.name}`,
        ...description,
        mimeType: "application/json",
      };
    case "table": {
      const { schema, name } = place;
      if (leaf === undefined) return { path: postgresPath(place), name, ...description, mimeType: directoryType };
      const what = leaf === "rows" ? "rows" : "schema";
      return {
        path: postgresPath({ kind: leaf, schema, name }),
        name: `${schema}.${name} ${what}`,
        title:
          leaf === "rows"
            ? `Rows of ${database}.${schema}.${name}`
            : `Database schema for ${database}.${schema}.${name}`,
        ...description,
        mimeType: leaf === "rows" ? "application/json" : schemaType,
        meta: { "pressmark/kind": tableKinds[letter ?? ""] ?? "table" },
      };
    }
  }
}
