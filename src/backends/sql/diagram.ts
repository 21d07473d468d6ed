/** Tables and their foreign keys as a Mermaid diagram. */
import { type TableColumn, fullName, isView, type TableDescription } from "./description.ts";

/** Above this number of tables, only key columns are drawn. */
const fewTables = 40;
const maxColumns = 60;

/** Draws only the given tables, and only keys between them. */
export function toDiagram(tables: readonly TableDescription[]): string {
  const drawn = tables.filter((table) => !isView(table));
  const ids = new Map(drawn.map((table, index) => [fullName(table), idOf(table.table, index)]));
  const lines = ["erDiagram"];
  for (const table of drawn) {
    const id = ids.get(fullName(table)) ?? "";
    const label = id === table.table ? id : `${id}["${quotable(table.table)}"]`;
    const columns = shownColumns(table, drawn.length <= fewTables);
    if (columns.length === 0) lines.push(`  ${label}`);
    else lines.push(`  ${label} {`, ...columns.map((column) => `    ${attribute(column, table)}`), "  }");
  }
  for (const table of drawn)
    for (const key of table.foreignKeys) {
      const target = ids.get(fullName(key.references));
      if (target === undefined) continue;
      // Each row refers to one row there, or to none if the column may be null.
      const isOptional = key.columns.some((name) => table.columns.find((column) => column.name === name)?.nullable);
      const theirs = isOptional ? "|o" : "||";
      const ours = isUnique(table, key.columns) ? "o|" : "o{";
      lines.push(`  ${target} ${theirs}--${ours} ${ids.get(fullName(table))} : "${quotable(key.columns.join(", "))}"`);
    }
  return lines.join("\n");
}

function shownColumns(table: TableDescription, all: boolean): readonly TableColumn[] {
  const keys = new Set([...(table.primaryKey ?? []), ...table.foreignKeys.flatMap(({ columns }) => columns)]);
  return table.columns.filter(({ name }) => all || keys.has(name)).slice(0, maxColumns);
}

function attribute({ name, type }: TableColumn, table: TableDescription): string {
  const marks = [
    ...(table.primaryKey?.includes(name) ? ["PK"] : []),
    ...(table.foreignKeys.some(({ columns }) => columns.includes(name)) ? ["FK"] : []),
    ...(isUnique(table, [name]) && !table.primaryKey?.includes(name) ? ["UK"] : []),
  ];
  const word = asWord(name, "column");
  return [
    asWord(type, "any"),
    word,
    ...(marks.length === 0 ? [] : [marks.join(", ")]),
    ...(word === name ? [] : [`"${quotable(name)}"`]),
  ].join(" ");
}

function isUnique(table: TableDescription, columns: readonly string[]): boolean {
  const same = (others: readonly string[]) =>
    others.length === columns.length && others.every((other) => columns.includes(other));
  return (
    (table.primaryKey !== undefined && same(table.primaryKey)) ||
    table.constraints.some((each) => each.kind === "unique" && same(each.columns)) ||
    table.indexes.some((index) => index.unique && !index.definition?.includes(" WHERE ") && same(index.columns))
  );
}

/** The name if Mermaid accepts it as an identifier; otherwise a number, with the name beside it. */
function idOf(name: string, index: number): string {
  return /^[A-Za-z][A-Za-z0-9_]*$/.test(name) &&
    !/^(?:t\d+|erdiagram|direction|style|class\w*|title|acc\w+|only|one|many|zero|optionally|to|u|o)$/i.test(name)
    ? name
    : `t${index}`;
}

function asWord(text: string, otherwise: string): string {
  const word = text.replaceAll(/[^A-Za-z0-9_]+/g, "_").replace(/^[^A-Za-z]+/, "");
  return word.replace(/_$/, "") === "" ? otherwise : word.replace(/_$/, "").slice(0, 63);
}

function quotable(text: string): string {
  return text
    .replaceAll('"', "'")
    .replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, " ")
    .replaceAll("`", "'")
    .slice(0, 80);
}
