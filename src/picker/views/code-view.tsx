/** Code with numbered lines, in colours as far as there is time for them. */
import { useEffect, useMemo, useState } from "preact/hooks";
import { linesOf, type Run, runsOf } from "./highlight.ts";
import { useSight } from "./use-sight.ts";
import type { ViewProps } from "./view.ts";

const linesAtOnce = 250;
/** A line that is longer was written by no person, and is not worth the time. */
const maxLine = 1000;

export default function CodeView({ text, type }: ViewProps) {
  const coloured = useColours(text, type);
  const lines = useMemo(() => linesOf([...coloured, { text: text.slice(lengthOf(coloured)) }]), [text, coloured]);
  const [count, setCount] = useState(1);
  const pieces = Math.ceil(lines.length / linesAtOnce);
  const end = useSight(() => setCount((before) => Math.min(pieces, before + 1)), [count, pieces]);
  return (
    <div class="text code">
      {Array.from({ length: Math.min(count, pieces) }, (_, index) => (
        <Lines key={index} first={index * linesAtOnce} lines={lines} />
      ))}
      {count < pieces && <div class="end" ref={end} />}
    </div>
  );
}

/** In a fence of Markdown: all at once, without numbers. */
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

function Lines({ first, lines }: { readonly first: number; readonly lines: readonly (readonly Run[])[] }) {
  return (
    <pre>
      {lines.slice(first, first + linesAtOnce).map((runs, index) => (
        <span key={index} class="line" data-line={first + index + 1}>
          {runs.map((run) => (
            <Coloured {...run} />
          ))}
        </span>
      ))}
    </pre>
  );
}

function Coloured({ text, kind }: Run) {
  return kind === undefined ? <>{text}</> : <span class={`code-${kind}`}>{text}</span>;
}

interface Colours {
  /** The text that these are the beginning of. */
  readonly of: string;
  readonly runs: readonly Run[];
  /** Whether there will be no more of them. */
  readonly isAll: boolean;
}

const none: Colours = { of: "", runs: [], isAll: false };
const firstLength = 2 * 1024;
const maxLength = 512 * 1024;
/** Some texts take a grammar a time that grows much faster than they do: what took longer is not tried with twice as much. */
const patienceMs = 60;

/**
 * The colours of as much of the text as can be had in little time: of the beginning first, then of twice as much and so on,
 * each when the page has nothing else to do.
 */
function useColours(text: string, type: string): readonly Run[] {
  const [found, setFound] = useState(none);
  useEffect(() => {
    const known = text.startsWith(found.of) ? found : none;
    if (known.isAll) return undefined;
    let waiting = 0;
    const colour = (length: number): void => {
      const part = text.slice(0, endOfLine(text, length));
      // A grammar is made ready once, which is no fault of the text.
      if (hasLongLine(part) || !runsOf("", type)) return;
      const startMs = performance.now();
      const runs = runsOf(part, type);
      if (!runs) return;
      const isAll = length >= maxLength || performance.now() - startMs > patienceMs;
      setFound({ of: text, runs, isAll });
      if (!isAll && part.length < text.length) waiting = whenIdle(() => colour(length * 2));
    };
    waiting = whenIdle(() => colour(Math.max(firstLength, lengthOf(known.runs))));
    return () => cancelIdle(waiting);
  }, [text, type]);
  // Until the new text is coloured, the old colours stand where it goes on as it was.
  return text.startsWith(found.of) ? found.runs : none.runs;
}

function lengthOf(runs: readonly Run[]): number {
  return runs.reduce((sum, { text }) => sum + text.length, 0);
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end < 0 ? text.length : end + 1;
}

function hasLongLine(text: string): boolean {
  for (let from = 0; from < text.length;) {
    const to = endOfLine(text, from);
    if (to - from > maxLine) return true;
    from = to;
  }
  return false;
}

// Safari has no such thing as idle time.
function whenIdle(act: () => void): number {
  return typeof requestIdleCallback === "function"
    ? requestIdleCallback(act, { timeout: 1000 })
    : Number(setTimeout(act, 50));
}

function cancelIdle(waiting: number): void {
  if (typeof cancelIdleCallback === "function") cancelIdleCallback(waiting);
  else clearTimeout(waiting);
}
