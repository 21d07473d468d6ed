/** Plain text with line numbers. */
import { useContext, useMemo } from "preact/hooks";
import { piecesOf } from "../pieces.ts";
import { LinesShown, LinesView } from "./lines-view.tsx";

export function TextView({ text }: { readonly text: string }) {
  const { first } = useContext(LinesShown);
  const pieces = useMemo(
    () =>
      piecesOf(text, first).map((piece) => ({
        ...piece,
        length: piece.text.length,
        lines: () => piece.text.split(/(?<=\n)/).map((line) => [{ text: line }]),
      })),
    [text, first],
  );
  return <LinesView class="text" pieces={pieces} />;
}
