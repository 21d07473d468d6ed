/** A notebook: its cells as Markdown and code, with their outputs. Nothing of it runs, and no text of it is set as HTML. */
import type { ComponentChild } from "preact";
import { useMemo, useState } from "preact/hooks";
import { blocksOf, blocksOfHtml, type MarkdownBlock } from "../markdown.ts";
import { Blocks, Fence } from "./markdown-view.tsx";
import { type NotebookCell, type NotebookOutput, parseNotebookView } from "./notebook.ts";
import { Picture } from "./picture.tsx";
import { TextView } from "./text-view.tsx";
import { useSight } from "./use-sight.ts";
import type { ViewProps } from "./view.ts";

const cellsAtOnce = 20;
/** Longer outputs are cut. */
const maxOutput = 20_000;

export default function NotebookView(props: ViewProps) {
  const notebook = useMemo(() => parseNotebookView(props.text), [props.text]);
  const [count, setCount] = useState(cellsAtOnce);
  const end = useSight(() => setCount((before) => before + cellsAtOnce), [count, notebook]);
  if (!notebook) return <TextView text={props.text} />;
  const { cells, language } = notebook;
  return (
    <div class="notebook">
      {cells.length === 0 && <p class="state">{props.language.texts.previews.noCells}</p>}
      {cells.slice(0, count).map((cell, index) => (
        <Cell key={index} {...{ cell, props }} codeLanguage={language} />
      ))}
      {count < cells.length && <div class="end" ref={end} />}
    </div>
  );
}

interface CellProps {
  readonly cell: NotebookCell;
  readonly props: ViewProps;
  readonly codeLanguage: string;
}

function Cell({ cell: { kind, text, count, outputs }, props, codeLanguage }: CellProps) {
  const { texts } = props.language;
  if (kind === "markdown") return <Rendered text={text} props={props} parse={blocksOf} />;
  return (
    <div class="cell">
      {kind === "code" && <p class="cell-label">{texts.previews.codeCell(count)}</p>}
      <div class="markdown">
        <Fence text={text} language={kind === "code" ? codeLanguage : ""} texts={texts} />
      </div>
      {outputs.map((output, index) => (
        <div key={index} class={output.kind === "error" ? "cell-output cell-error" : "cell-output"}>
          {outputView(output, props)}
        </div>
      ))}
    </div>
  );
}

function outputView(output: NotebookOutput, props: ViewProps): ComponentChild {
  const { previews, shown } = props.language.texts;
  switch (output.kind) {
    case "picture":
      return <Picture body={output.body} type={output.type} name={output.alt || previews.output} />;
    case "html":
      return <Rendered text={output.text} props={props} parse={blocksOfHtml} />;
    case "markdown":
      return <Rendered text={output.text} props={props} parse={blocksOf} />;
    case "other":
      return <p class="quiet">{previews.otherOutput(output.types.join(", ").slice(0, 200))}</p>;
    default:
      return (
        <>
          <pre tabIndex={0}>{output.text.slice(0, maxOutput)}</pre>
          {output.text.length > maxOutput && <p class="quiet">{shown.andMore(output.text.length - maxOutput)}</p>}
        </>
      );
  }
}

interface RenderedProps {
  readonly text: string;
  readonly props: ViewProps;
  readonly parse: (text: string) => readonly MarkdownBlock[];
}

function Rendered({ text, props: { uri, follow, language }, parse }: RenderedProps) {
  const blocks = useMemo(() => parse(text), [text]);
  return <Blocks {...{ blocks, follow }} base={uri} hasLines={false} texts={language.texts} />;
}
