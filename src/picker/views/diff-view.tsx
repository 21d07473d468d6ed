/** A diff: added and removed lines of each file, marked by signs and words as well as by colour. */
import type { ComponentChild } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { PickerTexts } from "../texts.ts";
import { Choices } from "./choices.tsx";
import { type DiffLine, type FileDiff, parseDiff, type RunOfLines, diffRuns } from "./diff.ts";
import { DiffSides } from "./diff-sides.tsx";
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
  const { element, isPossible, isWide } = useWidth();
  const [chosen, setChosen] = useState<boolean>();
  const isBeside = isPossible && (chosen ?? isWide);
  return (
    <div class="diff" ref={element}>
      {isPossible && (
        <Choices
          label={texts.shown.shownAs}
          choices={[
            [texts.previews.unified, !isBeside, () => setChosen(false)],
            [texts.previews.sideBySide, isBeside, () => setChosen(true)],
          ]}
        />
      )}
      {pieces.slice(0, count).map(({ file, first }, index) => (
        <section key={index}>
          {first === 0 && <Heading {...{ file, texts }} />}
          {isBeside ? (
            <DiffSides lines={file.lines.slice(first, first + linesAtOnce)} name={file.name} texts={texts} />
          ) : (
            <pre>{diffRuns(file.lines.slice(first, first + linesAtOnce)).map((run) => runView(run, texts))}</pre>
          )}
        </section>
      ))}
      {count < pieces.length && <div class="end" ref={end} />}
    </div>
  );
}

const widePx = 900;

/** Two columns can be chosen on a screen of this width, and are shown at once if the preview itself is as wide. */
function useWidth() {
  const element = useRef<HTMLDivElement>(null);
  const [isPossible, setPossible] = useState(false);
  const [isWide, setWide] = useState(false);
  useEffect(() => {
    const screen = matchMedia(`(min-width: ${widePx}px)`);
    const look = (): void => {
      setPossible(screen.matches);
      setWide((element.current?.clientWidth ?? 0) >= widePx);
    };
    look();
    screen.addEventListener("change", look);
    const observer = new ResizeObserver(look);
    if (element.current) observer.observe(element.current);
    return () => {
      screen.removeEventListener("change", look);
      observer.disconnect();
    };
  }, []);
  return { element, isPossible, isWide };
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
