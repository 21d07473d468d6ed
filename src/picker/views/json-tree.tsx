/** JSON as a tree. Closed parts are not drawn, however deep or long they are. */
import { useState } from "preact/hooks";
import type { PickerTexts } from "../texts.ts";
import { compact, isJsonList, isJsonRecord, type Json, leaf } from "./json.ts";

interface TreeProps {
  readonly value: Json;
  readonly texts: PickerTexts;
}

const firstShown = 100;
const moreShown = 400;
const maxString = 4000;
const previewLength = 80;

export function JsonTree({ value, texts }: TreeProps) {
  return (
    <ul class="json">
      <Node {...{ value, texts }} depth={0} />
    </ul>
  );
}

interface NodeProps extends TreeProps {
  readonly name?: string | number;
  readonly depth: number;
}

function Node({ value, name, depth, texts }: NodeProps) {
  const size = isJsonList(value) ? value.length : isJsonRecord(value) ? Object.keys(value).length : undefined;
  const [isOpen, setOpen] = useState(depth === 0 || (depth < 3 && (size ?? 0) <= 12));
  const [shown, setShown] = useState(firstShown);
  const label = name !== undefined && (
    <>
      <span class={typeof name === "number" ? "json-index" : "code-variable"}>{name}</span>
      {": "}
    </>
  );
  if (size === undefined || size === 0)
    return (
      <li class="json-leaf">
        {label}
        <Leaf value={value} />
      </li>
    );
  const entries: readonly (readonly [string | number, Json])[] = !isOpen
    ? []
    : isJsonList(value)
      ? value.slice(0, shown).map((each, index) => [index, each] as const)
      : Object.entries(value as Readonly<Record<string, Json>>).slice(0, shown);
  return (
    <li>
      <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          {label}
          <span class="quiet">{isJsonList(value) ? `[${size}]` : `{${size}}`}</span>
          {!isOpen && <span class="json-preview">{compact(value, previewLength)}</span>}
        </summary>
        {isOpen && (
          <ul>
            {entries.map(([each, inner]) => (
              <Node key={each} name={each} value={inner} depth={depth + 1} texts={texts} />
            ))}
            {size > shown && (
              <li>
                <button type="button" class="small" onClick={() => setShown(shown + moreShown)}>
                  {texts.shown.andMore(size - shown)}
                </button>
              </li>
            )}
          </ul>
        )}
      </details>
    </li>
  );
}

function Leaf({ value }: { readonly value: Json }) {
  if (isJsonList(value)) return <span class="quiet">[]</span>;
  if (isJsonRecord(value)) return <span class="quiet">{"{}"}</span>;
  const text = leaf(value);
  const kind =
    typeof value === "string" ? "string" : value === null || typeof value === "boolean" ? "keyword" : "number";
  return <span class={`code-${kind}`}>{text.length > maxString ? `${text.slice(0, maxString)}…` : text}</span>;
}
