/** JSON: as a plot, a schema, a git log or a table if it has that form, otherwise as a tree. */
import type { ComponentChild } from "preact";
import { useMemo, useState } from "preact/hooks";
import { Choices } from "./choices.tsx";
import { DataTable } from "./data-table.tsx";
import { parseGitCommit, parseGitLog } from "./git-log.ts";
import { type Json, parseJsonView } from "./json.ts";
import { JsonTree } from "./json-tree.tsx";
import { Lazily } from "./lazily.tsx";
import { recordsIn } from "./records.ts";
import { parseSchema } from "./schema.ts";
import { seriesOfMatrix } from "./series.ts";
import { TextView } from "./text-view.tsx";
import type { ViewProps } from "./view.ts";

const loadPlot = () => import("./plot.tsx");
const loadLog = () => import("./git-log-view.tsx");
const loadCommit = () => import("./git-commit-view.tsx");
const loadSchema = () => import("./schema-view.tsx");

export default function JsonView(props: ViewProps) {
  const { text, language } = props;
  const { texts } = language;
  const read = useMemo(() => parseJsonView(text), [text]);
  const [isTree, setTree] = useState(false);
  const other = useMemo(() => read && inItsWay(read.value, props), [read, language]);
  if (!read) return <TextView text={text} />;
  const tree = <JsonTree value={read.value} texts={texts} />;
  if (!other) return tree;
  return (
    <>
      <Choices
        label={texts.shown.shownAs}
        choices={[
          [other.name, !isTree, () => setTree(false)],
          [texts.shown.asTree, isTree, () => setTree(true)],
        ]}
      />
      {isTree ? tree : other.view}
    </>
  );
}

interface Way {
  readonly name: string;
  readonly view: ComponentChild;
}

function inItsWay(value: Json, { language, name, uri, isWhole, follow }: ViewProps): Way | undefined {
  const { texts } = language;
  const waiting = () => <p class="quiet">{texts.loading}</p>;
  const schema = parseSchema(value);
  if (schema) {
    const props = { schema, uri, language, follow };
    return { name: texts.shown.asSchema, view: <Lazily load={loadSchema} props={props} meanwhile={waiting} /> };
  }
  const log = parseGitLog(value);
  if (log) {
    const props = { log, uri, name, language, follow };
    return { name: texts.previews.asCommits, view: <Lazily load={loadLog} props={props} meanwhile={waiting} /> };
  }
  const commit = parseGitCommit(value);
  if (commit) {
    const props = { commit, uri, language, follow };
    return { name: texts.previews.commit, view: <Lazily load={loadCommit} props={props} meanwhile={waiting} /> };
  }
  const series = seriesOfMatrix(value);
  if (series && series.length > 0)
    return {
      name: texts.shown.asPlot,
      view: <Lazily load={loadPlot} props={{ series, language }} meanwhile={waiting} />,
    };
  const records = recordsIn(value);
  return (
    records && { name: texts.shown.asTable, view: <DataTable {...records} {...{ texts, isWhole }} label={name} /> }
  );
}
