/** CSV and TSV: a table, with a plot above it if it has a column of times. */
import { useMemo } from "preact/hooks";
import { DataTable } from "./data-table.tsx";
import { Lazily } from "./lazily.tsx";
import { parseSeparated } from "./separated.ts";
import { seriesOfTable } from "./series.ts";
import { TextView } from "./text-view.tsx";
import type { ViewProps } from "./view.ts";

const loadPlot = () => import("./plot.tsx");

export default function SeparatedView({ text, type, name, isWhole, language }: ViewProps) {
  const { texts } = language;
  const { head, rows, isCut } = useMemo(() => parseSeparated(text, type, isWhole), [text, type, isWhole]);
  const series = useMemo(() => seriesOfTable(head, rows), [head, rows]);
  const plot = useMemo(() => ({ series: series ?? [], language }), [series, language]);
  if (head.length === 0) return <TextView text={text} />;
  return (
    <>
      {series && <Lazily load={loadPlot} props={plot} meanwhile={() => null} />}
      <DataTable {...{ head, rows, texts, isWhole }} label={name} />
      {isCut && <p class="quiet">{texts.shown.notAllRows}</p>}
    </>
  );
}
