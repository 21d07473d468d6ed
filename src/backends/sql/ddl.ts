/** A table as the SQL statement that would create it, for people to read. */
import {
  type TableColumn,
  type ForeignKey,
  fullName,
  type FunctionDescription,
  isView,
  type Limited,
  type TableDescription,
} from "./description.ts";
import { plainIdentifier } from "./segments.ts";

/** Generated from the description, unless the database stores the statement. */
export function toDdl(table: TableDescription): string {
  const body = table.definition ?? createStatement(table);
  const indexes = table.indexes.flatMap(({ definition }) => definition ?? []);
  const triggers = (table.triggers ?? []).map(({ definition }) => definition);
  return [body, ...indexes, ...triggers].map((statement) => `${withEnd(statement)}\n`).join("");
}

/** The statement alone, without indexes and comments. */
export function createStatement(table: TableDescription): string {
  const name = fullName(table);
  if (isView(table)) {
    const what = `CREATE ${table.kind.toUpperCase()} ${name}`;
    if (table.query === undefined) return comment(`${what}: its query names what is not served here`);
    return `${what} AS\n${table.query.trimEnd().replace(/;$/, "")}`;
  }
  const lines = [
    ...table.columns.map(columnLine),
    ...(table.primaryKey ? [`PRIMARY KEY (${names(table.primaryKey)})`] : []),
    ...table.constraints.map((each) => `CONSTRAINT ${plainIdentifier(each.name)} ${each.definition}`),
    ...table.foreignKeys.map(foreignKeyLine),
  ];
  const what = table.kind === "foreign table" ? "CREATE FOREIGN TABLE" : "CREATE TABLE";
  const suffix = table.suffix === undefined ? "" : ` ${table.suffix}`;
  return lines.length === 0 ? `${what} ${name} ()${suffix}` : `${what} ${name} (\n  ${lines.join(",\n  ")}\n)${suffix}`;
}

export function functionDdl(functions: readonly FunctionDescription[]): string {
  return functions
    .map(({ name, kind, arguments: given, returns, definition }) =>
      definition === undefined
        ? `${comment(`${kind.toUpperCase()} ${plainIdentifier(name)}(${given})${returns === undefined ? "" : ` RETURNS ${returns}`}`)}\n`
        : `${withEnd(definition.trimEnd())}\n`,
    )
    .join("\n");
}

function columnLine(column: TableColumn): string {
  const { name, type, nullable, default: initial, generated, stored, identity, collation } = column;
  return [
    plainIdentifier(name),
    ...(type === "" ? [] : [type]),
    ...(collation === undefined ? [] : [`COLLATE ${plainIdentifier(collation)}`]),
    ...(identity === undefined ? [] : [`GENERATED ${identity.toUpperCase()} AS IDENTITY`]),
    ...(generated === undefined ? [] : [`GENERATED ALWAYS AS (${generated}) ${stored ? "STORED" : "VIRTUAL"}`]),
    ...(initial === undefined ? [] : [`DEFAULT ${initial}`]),
    ...(nullable ? [] : ["NOT NULL"]),
  ].join(" ");
}

function foreignKeyLine({ name, columns, references, onUpdate, onDelete }: ForeignKey): string {
  const target = references.columns.length === 0 ? "" : ` (${names(references.columns)})`;
  return [
    ...(name === undefined ? [] : [`CONSTRAINT ${plainIdentifier(name)}`]),
    `FOREIGN KEY (${names(columns)}) REFERENCES ${fullName(references)}${target}`,
    ...(onUpdate === undefined ? [] : [`ON UPDATE ${onUpdate}`]),
    ...(onDelete === undefined ? [] : [`ON DELETE ${onDelete}`]),
  ].join(" ");
}

function names(columns: readonly string[]): string {
  return columns.map(plainIdentifier).join(", ");
}

/** Comments that say what is missing in DDL. */
export function limitComments(limited: Limited): string {
  return Object.entries(limited)
    .map(([what, count]) => `${comment(`Only the first ${count} ${what} are part of this.`)}\n`)
    .join("");
}

/** On one line: what follows a line break in a name would be executed. */
export function comment(text: string): string {
  return `-- ${text.replaceAll(/\s+/g, " ")}`;
}

/** A comment at the end of a statement would hide the semicolon. */
function withEnd(statement: string): string {
  const lastLine = statement.slice(statement.lastIndexOf("\n") + 1);
  if (statement === lastLine && statement.startsWith("--")) return statement;
  return `${statement}${lastLine.includes("--") ? "\n" : ""};`;
}
