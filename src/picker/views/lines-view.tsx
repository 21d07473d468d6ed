/** Numbered lines. Those that have not been scrolled to are empty space of about the same height. */
import { createContext } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Lines } from "../../lib/line-range-uri.ts";
import type { HighlightRun } from "./highlight.ts";

/** The number of the first line of the text, and the lines that must be drawn. */
export const LinesShown = createContext<{ readonly first: number; readonly wanted?: Lines }>({ first: 1 });

export interface LinePiece {
  /** Number of the first line. */
  readonly line: number;
  readonly lineCount: number;
  /** In characters. */
  readonly length: number;
  /** True if it begins within a line. */
  readonly isContinued: boolean;
  readonly lines: () => readonly (readonly HighlightRun[])[];
}

const marginPx = 800;
const lineHeightPx = 19.5;
const charactersInLine = 110;

export function LinesView({ pieces, class: name }: { readonly pieces: readonly LinePiece[]; readonly class: string }) {
  const { wanted } = useContext(LinesShown);
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => {
    if (!box.current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        const near = entries.filter(({ isIntersecting }) => isIntersecting).map(({ target }) => keyIn(target));
        if (near.length > 0) setSeen((before) => new Set([...before, ...near]));
      },
      // A margin counts only around the scrolling element.
      { root: box.current.closest(".content"), rootMargin: `${marginPx}px` },
    );
    for (const room of box.current.querySelectorAll("[data-piece]")) observer.observe(room);
    return () => observer.disconnect();
  }, [pieces, wanted]);
  const last = pieces.at(-1);
  const digits = String((last?.line ?? 1) + (last?.lineCount ?? 0)).length;
  return (
    <div class={name} ref={box} style={{ "--digits": `${digits}ch` }}>
      {pieces.map((piece, index) => {
        const key = `${piece.line} ${piece.isContinued ? index : ""}`;
        if (index === 0 || seen.has(key) || contains(piece, wanted)) return <Piece key={key} piece={piece} />;
        const count = Math.max(piece.lineCount, piece.length / charactersInLine);
        return <div key={key} data-piece={key} style={{ height: `${count * lineHeightPx}px` }} />;
      })}
    </div>
  );
}

function keyIn(element: Element): string {
  return element.getAttribute("data-piece") ?? "";
}

/** With the lines that follow the first, as far as they may be visible at once. */
function contains({ line, lineCount }: LinePiece, wanted: Lines | undefined): boolean {
  return wanted !== undefined && line <= wanted[0] + lineCount && wanted[0] < line + lineCount;
}

function Piece({ piece }: { readonly piece: LinePiece }) {
  return useMemo(
    () => (
      <pre>
        {piece.lines().map((runs, index) => (
          <span
            key={index}
            class={index === 0 && piece.isContinued ? "line continued" : "line"}
            data-line={piece.line + index}
          >
            {runs.map((run) => (
              <Coloured {...run} />
            ))}
          </span>
        ))}
      </pre>
    ),
    [piece],
  );
}

export function Coloured({ text, kind }: HighlightRun) {
  return kind === undefined ? <>{text}</> : <span class={`code-${kind}`}>{text}</span>;
}
