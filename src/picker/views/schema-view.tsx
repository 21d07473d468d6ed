/** A database table: its columns, keys and indexes, and related tables. */
import type { ComponentChild } from "preact";
import { useMemo } from "preact/hooks";
import { CodeBlock } from "./code-view.tsx";
import { ErDiagram } from "./er-diagram.tsx";
import { PlainTable } from "./plain-table.tsx";
import { diagramOf, type SchemaKey, type Schema } from "./schema.ts";
import type { ViewProps } from "./view.ts";

interface SchemaProps extends Pick<ViewProps, "uri" | "language" | "follow"> {
  readonly schema: Schema;
}

export default function SchemaView({ schema, uri, language: { texts, code }, follow }: SchemaProps) {
  const diagram = useMemo(() => diagramOf(schema), [schema]);
  const { columns, foreignKeys, referencedBy, indexes, constraints, definition } = schema;
  const facts = [
    schema.kind,
    ...(schema.rowEstimate === undefined ? [] : [texts.shown.aboutRows(schema.rowEstimate.toLocaleString(code))]),
    ...(schema.owner === "" ? [] : [texts.shown.ownedBy(schema.owner)]),
  ];

  /** Link to the schema of a related table; plain text if its name may need escaping in a URI. */
  function tableLink({ table, schema: of }: SchemaKey): ComponentChild {
    const isBeside = uri.endsWith("/schema") && /^[a-z_][a-z0-9_]*$/i.test(table) && of === "";
    if (!isBeside) return <code>{of === "" ? table : `${of}.${table}`}</code>;
    const folder = uri.slice(0, -"/schema".length);
    const target = `${folder.slice(0, folder.lastIndexOf("/") + 1)}${table}/schema`;
    return (
      <button type="button" class="link" title={target} onClick={() => follow(target)}>
        {table}
      </button>
    );
  }

  return (
    <div class="schema">
      <p class="quiet">{facts.join(" · ")}</p>
      {schema.comment !== "" && <p>{schema.comment}</p>}
      {diagram.relations.length > 0 && <ErDiagram {...{ diagram, texts }} />}
      <Section
        title={texts.shown.columns}
        head={[
          texts.shown.name,
          texts.shown.type,
          texts.shown.keysOf,
          texts.shown.isRequired,
          texts.shown.default,
          texts.shown.comment,
        ]}
        rows={columns.map((column) => [
          <code>{column.name}</code>,
          <code>{column.type}</code>,
          column.keys.map((key) => texts.shown.key[key]).join(", "),
          column.nullable ? "" : texts.shown.required,
          column.default !== "" && <code>{column.default}</code>,
          column.comment,
        ])}
      />
      <Section
        title={texts.shown.foreignKeys}
        head={[texts.shown.columns, texts.shown.refersTo, texts.shown.columns, ""]}
        rows={foreignKeys.map((key) => [codes(key.columns), tableLink(key), codes(key.to), key.rules])}
      />
      <Section
        title={texts.shown.referencedBy}
        head={[texts.shown.table, texts.shown.columns, texts.shown.refersTo]}
        rows={referencedBy.map((key) => [tableLink(key), codes(key.columns), codes(key.to)])}
      />
      <Section
        title={texts.shown.indexes}
        head={[texts.shown.name, texts.shown.columns, ""]}
        rows={indexes.map((index) => [
          <code>{index.name}</code>,
          codes(index.columns),
          index.unique && texts.shown.key.UK,
        ])}
      />
      <Section
        title={texts.shown.constraints}
        head={[texts.shown.name, texts.shown.type, texts.shown.definition]}
        rows={constraints.map((each) => [<code>{each.name}</code>, each.kind, <code>{each.definition}</code>])}
      />
      {definition !== "" && (
        <>
          <h3>{texts.shown.definition}</h3>
          <CodeBlock text={definition} language="sql" />
        </>
      )}
    </div>
  );
}

interface SectionProps {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly ComponentChild[])[];
}

/** Empty columns are left out. */
function Section({ title, head, rows }: SectionProps) {
  if (rows.length === 0) return null;
  const shown = <T,>(cells: readonly T[]) => cells.filter((_, index) => rows.some((row) => Boolean(row[index])));
  return (
    <>
      <h3>{title}</h3>
      <PlainTable label={title} head={shown(head)} rows={rows.map(shown)} />
    </>
  );
}

function codes(names: readonly string[]): ComponentChild {
  return names.length > 0 && <code>{names.join(", ")}</code>;
}
