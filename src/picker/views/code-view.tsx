/** Code with line numbers, highlighted as far as time allows. */
import { useContext, useEffect, useMemo, useState } from "preact/hooks";
import { blockEnd } from "../pieces.ts";
import { colourBlock, highlightedLines, type HighlightRun } from "./highlight.ts";
import { Coloured, type LinePiece, LinesShown, LinesView } from "./lines-view.tsx";
import type { ViewProps } from "./view.ts";

export default function CodeView({ text, type }: ViewProps) {
  const { first } = useContext(LinesShown);
  const coloured = useColours(text, type);
  const pieces = useMemo(
    () => blocksOf(highlightedLines([...coloured, { text: text.slice(lengthOf(coloured)) }]), first),
    [text, first, coloured],
  );
  return <LinesView class="text code" pieces={pieces} />;
}

/** Blocks of lines that are drawn together. */
function blocksOf(lines: readonly (readonly HighlightRun[])[], firstLine: number): readonly LinePiece[] {
  const blocks: LinePiece[] = [];
  for (let line = firstLine; line < firstLine + lines.length; line = blockEnd(line)) {
    const block = lines.slice(line - firstLine, blockEnd(line) - firstLine);
    const length = block.reduce((sum, runs) => sum + lengthOf(runs), 0);
    blocks.push({ line, lineCount: block.length, length, isContinued: false, lines: () => block });
  }
  return blocks;
}

/** In a fence of Markdown: highlighted in one step, without numbers. */
export function CodeBlock({ text, language }: { readonly text: string; readonly language: string }) {
  const coloured = useColours(text, language);
  return (
    <pre tabIndex={0}>
      <code>
        {coloured.map((run) => (
          <Coloured {...run} />
        ))}
        {text.slice(lengthOf(coloured))}
      </code>
    </pre>
  );
}

interface Colours {
  /** The text that these runs begin. */
  readonly of: string;
  readonly runs: readonly HighlightRun[];
  /** Runs before the last block, which may change when more of the text is loaded. */
  readonly settled: readonly HighlightRun[];
}

const none: Colours = { of: "", runs: [], settled: [] };
const maxLength = 512 * 1024;

/** Highlights the text from its beginning, block by block, while the page is idle. */
function useColours(text: string, type: string): readonly HighlightRun[] {
  const [found, setFound] = useState(none);
  useEffect(() => {
    const known = text.startsWith(found.of) ? found : none;
    let runs = known.of === text ? known.runs : known.settled;
    let to = lengthOf(runs);
    let shown = to;
    let waiting = 0;
    const colour = (): void => {
      const block = colourBlock(text, to, type);
      if (!block) return;
      const settled = runs;
      runs = [...runs, ...block.runs];
      to = block.to;
      const isOver = to >= Math.min(text.length, maxLength);
      // Drawing takes time in proportion to everything drawn so far.
      if (isOver || to >= 2 * shown) {
        shown = to;
        setFound({ of: text, runs, settled });
      }
      if (!isOver) waiting = whenIdle(colour);
    };
    if (to < Math.min(text.length, maxLength)) waiting = whenIdle(colour);
    return () => cancelIdle(waiting);
  }, [text, type]);
  // Until the new text is highlighted, old runs are used for the common beginning.
  return text.startsWith(found.of) ? found.runs : none.runs;
}

function lengthOf(runs: readonly HighlightRun[]): number {
  return runs.reduce((sum, { text }) => sum + text.length, 0);
}

// Safari has no requestIdleCallback.
function whenIdle(act: () => void): number {
  return typeof requestIdleCallback === "function"
    ? requestIdleCallback(act, { timeout: 1000 })
    : Number(setTimeout(act, 50));
}

function cancelIdle(waiting: number): void {
  if (typeof cancelIdleCallback === "function") cancelIdleCallback(waiting);
  else clearTimeout(waiting);
}
