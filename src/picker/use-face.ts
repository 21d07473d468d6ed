/** Chooses what the preview shows: the view of the type, the source text, or metadata. */
import { useState } from "preact/hooks";
import type { Lines } from "../lib/line-range-uri.ts";
import type { Resource } from "../resources.ts";
import type { PreviewState } from "./state.ts";

export const faces = ["view", "raw", "about"] as const;
export type Face = (typeof faces)[number];

/** Keeps the chosen tab, unless it cannot show the lines that were requested since. */
export function useFace(preview: PreviewState | undefined) {
  const [chosen, setChosen] = useState<{ readonly face: Face; readonly lines?: Lines }>({ face: "view" });
  const [missing, setMissing] = useState<Lines>();
  const lines = preview?.lines;
  const textFace = preview && faceOfText(preview);
  const isChosen = !lines || chosen.lines === lines;
  const face = isChosen ? chosen.face : (textFace ?? (missing === lines || chosen.face === "raw" ? "raw" : "view"));
  return {
    face,
    /** The requested lines, if they are lines of the text that is shown. */
    lines: preview && hasRequestedText(preview, textFace, face) ? lines : undefined,
    setFace: (next: Face) => setChosen({ face: next, lines }),
    /** Shows the source text instead of a view without lines. */
    onMissing: () => setMissing(lines),
  };
}

/** For a document whose own text is shown, too: the one that has the requested lines. */
function faceOfText({ original, passage }: PreviewState): Face | undefined {
  if (!original || !passage) return undefined;
  return isExtracted(passage) ? "view" : "raw";
}

/** False if the lines are those of an extracted text, and something else is shown, or the other way round. */
function hasRequestedText(preview: PreviewState, textFace: Face | undefined, face: Face): boolean {
  const { passage, resource, isTaken, status } = preview;
  if (textFace !== undefined || !passage || status !== "ready") return textFace === undefined || textFace === face;
  return isExtracted(passage) === (isTaken || isExtracted(resource));
}

function isExtracted({ uri }: Resource): boolean {
  return /[?&]as=text(?:&|$)/.test(uri);
}
