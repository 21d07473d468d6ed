/** One row of the tree: a resource with its metadata in columns, or a note on a folder. */
import { useMemo } from "preact/hooks";
import { resourceFactsOf } from "./facts.ts";
import { IconImage } from "./icon.tsx";
import type { Language } from "./texts.ts";
import type { Choice, Chosen } from "./tray.ts";
import type { TreeRow } from "./tree-rows.ts";
import { shownTitle } from "./shown-title.ts";

interface RowProps {
  readonly row: TreeRow;
  readonly index: number;
  readonly top: number;
  readonly isActive: boolean;
  readonly isShown: boolean;
  readonly choice: Choice;
  readonly tokens: Chosen["tokens"];
  readonly now: number;
  readonly language: Language;
}

/** Drawn again only when it has changed: most rows stay the same during a scroll. */
export function TreeRowView(props: RowProps) {
  return useMemo(() => draw(props), Object.values(props));
}

function draw({ row, index, top, isActive, isShown, choice, tokens, now, language }: RowProps) {
  const { texts } = language;
  const style = { top: `${top}px` };
  const indent = { paddingInlineStart: `${row.depth * 14}px` };
  const place = { id: `row-${index}`, "data-index": index, "aria-level": row.depth + 1 };
  const shared = { ...place, role: "treeitem" as const, style };
  const look = `row${isActive ? " active" : ""}${isShown ? " shown" : ""}`;
  if (row.kind !== "resource") {
    const { loading, more, empty, failed, retry } = texts;
    const note = { loading, more, empty, failed: `${failed}. ${retry}` }[row.kind];
    return (
      <div {...shared} class={`${look} saying ${row.kind}`} aria-selected={false} title={row.problem}>
        <span style={indent}>{row.problem === undefined ? note : `${note} (${row.problem})`}</span>
      </div>
    );
  }
  const { resource, canOpen, isOpen, position, siblings } = row;
  const facts = resourceFactsOf(resource, tokens, now, language);
  const priority = facts.find(({ kind }) => kind === "priority");
  return (
    <div
      {...shared}
      class={look}
      aria-selected={isShown}
      aria-posinset={position}
      aria-setsize={siblings}
      {...(canOpen && { "aria-expanded": isOpen })}
      aria-checked={checked[choice]}
      title={resource.description ?? resource.uri}
    >
      <span class={`tick ${ticks[choice]}`} aria-hidden="true" />
      <span class="lead" style={indent}>
        <span class={`twist${isOpen ? " open" : ""}`} aria-hidden="true">
          {canOpen ? "›" : ""}
        </span>
        <IconImage type={resource.mimeType} uri={resource.uri} />
        <span class="name">{shownTitle(resource)}</span>
        {priority && (
          <span class="fact priority" title={priority.long}>
            {priority.short}
          </span>
        )}
      </span>
      {columns.map((column) => {
        const fact = facts.find(({ kind }) => kind === column);
        return (
          <span key={column} class={`fact ${column}`} title={fact?.long}>
            {fact?.short}
            {fact && column === "cost" && <span class="unseen"> {language.texts.layout.column.tokens}</span>}
          </span>
        );
      })}
    </div>
  );
}

const columns = ["size", "cost", "fresh"] as const;
const ticks = { all: "on", some: "part", none: "" } as const;
const checked = { all: true, some: "mixed", none: false } as const;

/** The names of the columns. */
export function TreeColumns({ language: { texts } }: Pick<RowProps, "language">) {
  const { name, size, tokens, changed } = texts.layout.column;
  return (
    <div class="columns" aria-hidden="true">
      <span class="lead">{name}</span>
      <span class="fact size">{size}</span>
      <span class="fact cost">{tokens}</span>
      <span class="fact fresh">{changed}</span>
    </div>
  );
}
