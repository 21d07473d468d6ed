/** A diff: added and removed lines of each file, marked by signs and words as well as by colour. */
import type { ComponentChild } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { PickerTexts } from "../texts.ts";
import { type DiffLine, type FileDiff, parseDiff, type RunOfLines, diffRuns } from "./diff.ts";
import { useSight } from "./use-sight.ts";
import type { ViewProps } from "./view.ts";

const linesAtOnce = 500;

interface Piece {
  readonly file: FileDiff;
  readonly first: number;
}

export default function DiffView({ text, language: { texts } }: ViewProps) {
  const pieces = useMemo(() => parseDiff(text).flatMap(piecesOf), [text]);
  const [count, setCount] = useState(3);
  const end = useSight(() => setCount((before) => Math.min(pieces.length, before + 3)), [count, pieces]);
  return (
    <div class="diff">
      {pieces.slice(0, count).map(({ file, first }, index) => (
        <section key={index}>
          {first === 0 && <Heading {...{ file, texts }} />}
          <pre>{diffRuns(file.lines.slice(first, first + linesAtOnce)).map((run) => runView(run, texts))}</pre>
        </section>
      ))}
      {count < pieces.length && <div class="end" ref={end} />}
    </div>
  );
}

function piecesOf(file: FileDiff): readonly Piece[] {
  const count = Math.max(1, Math.ceil(file.lines.length / linesAtOnce));
  return Array.from({ length: count }, (_, index) => ({ file, first: index * linesAtOnce }));
}

function Heading({
  file: { name, was, added, removed },
  texts,
}: {
  readonly file: FileDiff;
  readonly texts: PickerTexts;
}) {
  if (name === "") return null;
  return (
    <h3>
      {was !== undefined && <span class="quiet">{was} → </span>}
      {name} <span class="diff-count">{texts.shown.diffCount(added, removed)}</span>
    </h3>
  );
}

function runView({ kind, lines }: RunOfLines, texts: PickerTexts): ComponentChild {
  switch (kind) {
    case "added":
      return (
        <ins>
          <span class="unseen">{texts.shown.added}</span>
          {lines.map((line) => lineView(line, "+"))}
        </ins>
      );
    case "removed":
      return (
        <del>
          <span class="unseen">{texts.shown.removed}</span>
          {lines.map((line) => lineView(line, "−"))}
        </del>
      );
    default:
      return <span class={`diff-${kind}`}>{lines.map((line) => lineView(line, ""))}</span>;
  }
}

function lineView({ before, after, text }: DiffLine, sign: string): ComponentChild {
  return (
    <span class="diff-line">
      <span class="diff-number" data-line={before ?? ""} />
      <span class="diff-number" data-line={after ?? ""} />
      <span class="diff-sign">{sign}</span>
      <span class="diff-text">{`${text}\n`}</span>
    </span>
  );
}
