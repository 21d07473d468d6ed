/** A schema on one page: its tables and their relations. */
import {
  fullName,
  isView,
  type Limited,
  type NamedStatement,
  type TableDescription,
  type TypeDescription,
} from "./description.ts";
import { toDiagram } from "./diagram.ts";

export interface Overview {
  readonly database: string;
  readonly schema?: string;
  readonly comment?: string;
  readonly tables: readonly TableDescription[];
  readonly types: readonly TypeDescription[];
  /** Names only. */
  readonly functions: readonly string[];
  /** How many tables, at least, are missing here because there are too many. */
  readonly leftOut: number;
  /** Present if there are more types, partitions or other objects than are described. */
  readonly limited?: Limited;
}

export function overviewMarkdown({
  database,
  schema,
  comment,
  tables,
  types,
  functions,
  leftOut,
  limited = {},
}: Overview): string {
  const title = schema === undefined ? database : `${database}: ${schema}`;
  const stored = tables.filter((table) => !isView(table));
  const views = tables.filter(isView);
  const sections = [
    `# ${inline(title)}`,
    ...(comment === undefined ? [] : [inline(comment)]),
    counted([
      [stored.length, "table"],
      [views.length, "view"],
      [types.length, "type"],
      [functions.length, "function"],
    ]),
    ...(leftOut > 0 ? [`At least ${leftOut} more are not described here.`] : []),
    ...Object.entries(limited).map(([what, count]) => `Only the first ${count} ${what} are described here.`),
    ...(stored.length > 0 ? ["## Relations", fenced("mermaid", toDiagram(stored))] : []),
    ...(stored.length > 0 ? ["## Tables", ...stored.map(tableSection)] : []),
    ...(views.length > 0 ? ["## Views", ...views.map(tableSection)] : []),
    ...(types.length > 0 ? ["## Types", types.map(typeLine).join("\n")] : []),
    ...(functions.length > 0 ? ["## Functions", functions.map((name) => `- ${code(name)}`).join("\n")] : []),
  ];
  return `${sections.join("\n\n")}\n`;
}

/** One table as Markdown. */
export function tableMarkdown(table: TableDescription, ddl: string): string {
  return `${[`# ${inline(fullName(table))}`, ...tableBody(table), fenced("sql", ddl.trimEnd())].join("\n\n")}\n`;
}

function tableSection(table: TableDescription): string {
  return [`### ${inline(table.table)}`, ...tableBody(table)].join("\n\n");
}

function tableBody(table: TableDescription): string[] {
  const facts = [
    `${table.unlogged ? "unlogged " : ""}${table.kind}`,
    ...(table.partitions ? [`${table.partitions.length} partitions`] : []),
    ...(table.rowEstimate === undefined ? [] : [`about ${table.rowEstimate} rows`]),
    ...(table.owner === undefined ? [] : [`owned by ${code(table.owner)}`]),
    ...(table.rowSecurity === undefined ? [] : [`row level security ${table.rowSecurity}`]),
  ];
  return [
    `${capital(facts.join(", "))}.${table.comment === undefined ? "" : ` ${inline(table.comment)}`}`,
    ...(table.columns.length === 0 ? [] : [columnTable(table)]),
    ...keyLines(table),
  ];
}

function columnTable(table: TableDescription): string {
  const keys = new Set(table.primaryKey);
  const rows = table.columns.map(({ name, type, nullable, comment }) =>
    [
      `${code(name)}${keys.has(name) ? " (key)" : ""}`,
      type === "" ? "" : code(type),
      nullable ? "" : "required",
      comment === undefined ? "" : inline(comment),
    ].join(" | "),
  );
  return ["| Column | Type | | |", "| --- | --- | --- | --- |", ...rows.map((row) => `| ${row} |`)].join("\n");
}

function keyLines(table: TableDescription): string[] {
  const { foreignKeys, referencedBy, inherits = [], policies = [], triggers = [], rules = [] } = table;
  const lines = [
    ...foreignKeys.map(
      ({ columns, references }) =>
        `- ${codes(columns)} → ${code(fullName(references))}${references.columns.length === 0 ? "" : ` (${codes(references.columns)})`}`,
    ),
    ...referencedBy.map((from) => `- ${codes(from.to)} ← ${code(fullName(from))} (${codes(from.columns)})`),
    ...(inherits.length === 0 ? [] : [`- Inherits from ${codes(inherits)}`]),
    ...named("Policies", policies),
    ...named("Triggers", triggers),
    ...named("Rules", rules),
  ];
  return lines.length === 0 ? [] : [lines.join("\n")];
}

function named(what: string, all: readonly NamedStatement[]): string[] {
  return all.length === 0 ? [] : [`- ${what}: ${codes(all.map(({ name }) => name))}`];
}

function codes(names: readonly string[]): string {
  return names.map(code).join(", ");
}

function typeLine({ name, kind, values, comment, definition }: TypeDescription): string {
  const given = comment === undefined ? "" : ` – ${inline(comment)}`;
  if (!values) return `- ${code(name)}, ${kind}: ${code(definition)}${given}`;
  return `- ${code(name)}: ${values.slice(0, 100).map(code).join(", ")}${values.length > 100 ? ", …" : ""}${given}`;
}

function counted(kinds: readonly (readonly [count: number, what: string])[]): string {
  const some = kinds.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}${count === 1 ? "" : "s"}`);
  return some.length === 0 ? "It is empty." : `${some.join(", ")}.`;
}

/** On one line, with Markdown characters escaped. */
function inline(text: string): string {
  return shorten(text).replaceAll(/[\\`*_{}[\]<>|#~!&]/g, "\\$&");
}

/** In a code span, only the characters that would end it or the table cell need escaping. */
function code(text: string): string {
  const short = shorten(text).replaceAll("|", "\\|");
  const ticks = short.includes("`") ? "``" : "`";
  return ticks === "`" ? `\`${short}\`` : `\`\` ${short.replaceAll("``", "` `")} \`\``;
}

function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

function shorten(text: string): string {
  const plain = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return plain.length > 500 ? `${plain.slice(0, 500).toWellFormed()}…` : plain;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
