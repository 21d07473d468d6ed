/** Plain text. A long one is drawn as far as it has been scrolled. */
import { useMemo, useState } from "preact/hooks";
import { piecesOf } from "../pieces.ts";
import { useSight } from "./use-sight.ts";

export function TextView({ text }: { readonly text: string }) {
  const pieces = useMemo(() => piecesOf(text), [text]);
  const [count, setCount] = useState(1);
  const end = useSight(() => setCount((before) => Math.min(pieces.length, before + 1)), [count, pieces]);
  return (
    <div class="text">
      {pieces.slice(0, count).map((piece, index) => (
        <pre key={index}>{piece}</pre>
      ))}
      {count < pieces.length && <div class="end" ref={end} />}
    </div>
  );
}
