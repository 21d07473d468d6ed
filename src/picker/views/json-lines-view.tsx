/** JSON lines: a table if every line is an object, otherwise a list of trees. Invalid lines are shown as text. */
import { useMemo, useState } from "preact/hooks";
import { Choices } from "./choices.tsx";
import { DataTable } from "./data-table.tsx";
import { compact, type Json, parseJsonView } from "./json.ts";
import { JsonTree } from "./json-tree.tsx";
import { recordsOf } from "./records.ts";
import type { ViewProps } from "./view.ts";

const maxLines = 100_000;

export default function JsonLinesView({ text, name, isWhole, language: { texts } }: ViewProps) {
  const { values, bad, isCut } = useMemo(() => linesIn(text, isWhole), [text, isWhole]);
  const [isTree, setTree] = useState(false);
  const records = useMemo(() => recordsOf(values) ?? singles(values), [values]);
  return (
    <>
      {bad > 0 && <p class="quiet">{texts.shown.badLines(bad)}</p>}
      <Choices
        label={texts.shown.shownAs}
        choices={[
          [texts.shown.asTable, !isTree, () => setTree(false)],
          [texts.shown.asTree, isTree, () => setTree(true)],
        ]}
      />
      {isTree ? (
        <JsonTree value={values} texts={texts} />
      ) : (
        <DataTable {...records} {...{ texts, isWhole }} label={name} />
      )}
      {isCut && <p class="quiet">{texts.shown.notAllRows}</p>}
    </>
  );
}

function linesIn(text: string, isWhole: boolean) {
  const lines = text.split("\n");
  // The last line may continue in the next part.
  if (!isWhole) lines.pop();
  const filled = lines.filter((line) => line.trim() !== "");
  let bad = 0;
  const values = filled.slice(0, maxLines).map((line): Json => {
    const read = parseJsonView(line);
    if (!read) bad += 1;
    return read ? read.value : line;
  });
  return { values, bad, isCut: filled.length > maxLines };
}

/** Not all are objects: one cell per line. */
function singles(values: readonly Json[]) {
  const rows = values.map((value) => [typeof value === "string" ? value : compact(value, 1000)]);
  return { head: ["JSON"], rows };
}
