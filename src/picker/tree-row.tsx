/** One row of the tree: a resource with its metadata, or a note on a folder. */
import { useMemo } from "preact/hooks";
import { resourceFactsOf } from "./facts.ts";
import { IconImage } from "./icon.tsx";
import type { Language } from "./texts.ts";
import type { Chosen } from "./tray.ts";
import type { TreeRow } from "./tree-rows.ts";
import { shortTitle } from "../lib/own-title.ts";

interface RowProps {
  readonly row: TreeRow;
  readonly index: number;
  readonly top: number;
  readonly isActive: boolean;
  readonly isShown: boolean;
  readonly isChosen: boolean;
  readonly tokens: Chosen["tokens"];
  readonly now: number;
  readonly language: Language;
}

/** Drawn again only when it has changed: most rows stay the same during a scroll. */
export function TreeRowView(props: RowProps) {
  return useMemo(() => draw(props), Object.values(props));
}

function draw({ row, index, top, isActive, isShown, isChosen, tokens, now, language }: RowProps) {
  const { texts } = language;
  const style = { top: `${top}px`, paddingInlineStart: `${row.depth * 16 + 8}px` };
  const place = { id: `row-${index}`, "data-index": index, "aria-level": row.depth + 1 };
  const shared = { ...place, role: "treeitem" as const, style };
  const look = `row${isActive ? " active" : ""}${isShown ? " shown" : ""}`;
  if (row.kind !== "resource") {
    const { loading, more, empty, failed, retry } = texts;
    const note = { loading, more, empty, failed: `${failed}. ${retry}` }[row.kind];
    return (
      <div {...shared} class={`${look} saying ${row.kind}`} aria-selected={false} title={row.problem}>
        {row.problem === undefined ? note : `${note} (${row.problem})`}
      </div>
    );
  }
  const { resource, isFolder, isOpen, position, siblings } = row;
  return (
    <div
      {...shared}
      class={look}
      aria-selected={isShown}
      aria-posinset={position}
      aria-setsize={siblings}
      {...(isFolder ? { "aria-expanded": isOpen } : { "aria-checked": isChosen })}
      title={resource.description ?? resource.uri}
    >
      <span class={`twist${isOpen ? " open" : ""}`} aria-hidden="true">
        {isFolder ? "›" : ""}
      </span>
      <IconImage type={resource.mimeType} />
      <span class="name">{shortTitle(resource)}</span>
      {resourceFactsOf(resource, tokens, now, language).map(({ kind, short, long }) => (
        <span key={kind} class={`fact ${kind}`} title={long}>
          {short}
        </span>
      ))}
      {!isFolder && <span class={`tick${isChosen ? " on" : ""}`} aria-hidden="true" />}
    </div>
  );
}
