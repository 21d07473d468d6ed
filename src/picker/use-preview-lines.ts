/** The lines of the preview: those that were found, those that are chosen, and those that the person selects. */
import type { RefObject } from "preact";
import { useMemo, useState } from "preact/hooks";
import { type Lines, linesOf, withoutLines } from "../lib/line-range-uri.ts";
import type { Resource } from "../resources.ts";
import { firstLineOf } from "./create-part-reader.ts";
import type { Picker } from "./create-picker.ts";
import { type LinedText, matchedLines } from "./matched-lines.ts";
import { type PreviewContent, shownOf } from "./shown.ts";
import type { PreviewState } from "./state.ts";
import { choiceOf, passageOf, type Tray } from "./tray.ts";
import type { Face } from "./use-face.ts";
import { useLineMarks } from "./use-line-marks.ts";
import { usePickedLines } from "./use-picked-lines.ts";

interface PreviewLinesOptions {
  readonly picker: Picker;
  readonly face: Face;
  /** The requested lines of the text that is shown. */
  readonly lines: Lines | undefined;
  readonly onMissing: () => void;
}

export function usePreviewLines(
  scroll: RefObject<HTMLElement | null>,
  { picker, face, lines, onMissing }: PreviewLinesOptions,
) {
  const { preview, tray } = picker.state;
  const uri = preview?.resource.uri;
  const isRaw = face === "raw";
  const shown = useMemo(
    () => (preview ? shownIn(preview, isRaw) : []),
    [preview?.resource, preview?.contents, preview?.next, isRaw],
  );
  const lined = preview && linedText(preview, shown, isRaw);
  // Found once: a change of the text must not scroll.
  const matched = useMemo(
    () => (lines && lined && preview.hit ? matchedLines(lined, preview.hit) : []),
    [lines, lined === undefined],
  );
  // When earlier lines are loaded, the first line stays in view.
  const [anchor, setAnchor] = useState<{ readonly line: number; readonly of: unknown }>();
  const at = useMemo((): Lines | undefined => anchor && [anchor.line, anchor.line], [anchor]);
  const found = lined && lines;
  const wanted = anchor?.of === (lines ?? uri) ? at : (matched[0] ?? found);
  const view = `${uri} ${face} ${preview?.status}`;
  const textOf = preview && textResource(preview, isRaw);
  const { picked, clear } = usePickedLines(scroll, { lined, view, onChoose: choosePicked });
  const chosen = textOf && lined ? chosenLines(tray, textOf) : [];
  useLineMarks(scroll, {
    marks: { found: found ? [found] : [], matched, chosen, picked: picked ? [picked] : [] },
    wanted,
    view,
    onMissing,
  });

  function choosePicked(): void {
    if (!textOf || !picked) return;
    picker.toggle(passageOf(textOf, picked));
    clear();
    scroll.current?.focus({ preventScroll: true });
  }

  return {
    shown,
    firstLine: lined?.firstLine ?? 1,
    wanted,
    picked: picked && textOf && { lines: picked, isChosen: choiceOf(tray, passageOf(textOf, picked).uri) === "all" },
    choosePicked,
    /** Call before earlier lines are loaded. */
    keepFirstLine: () => setAnchor({ line: firstLineOf(preview), of: lines ?? uri }),
  };
}

/** A long text is joined here, once. */
function shownIn(preview: PreviewState, isRaw: boolean): readonly PreviewContent[] {
  return shownOf(isRaw && preview.original ? { ...preview, contents: preview.original } : preview);
}

/** Undefined if there is not one text, so that lines have no meaning. */
function linedText(
  preview: PreviewState,
  [only, ...others]: readonly PreviewContent[],
  isRaw: boolean,
): LinedText | undefined {
  if (!only || others.length > 0 || !("text" in only)) return undefined;
  return { text: only.text, firstLine: isRaw && preview.original ? 1 : firstLineOf(preview) };
}

/** The resource whose lines are shown: the extracted text of a document is one of its own. */
function textResource({ resource, isTaken, original }: PreviewState, isRaw: boolean): Resource {
  const isText = isTaken && !(isRaw && original) && !resource.uri.includes("?");
  return isText ? { ...resource, uri: `${resource.uri}?as=text` } : resource;
}

/** The chosen lines of this text; none if all of it is chosen, which the button above says. */
function chosenLines(tray: Tray, { uri }: Resource): readonly Lines[] {
  if (choiceOf(tray, uri) === "all") return [];
  return tray.flatMap(({ resource }) => {
    const lines = withoutLines(resource.uri) === uri ? linesOf(resource.uri) : undefined;
    return lines ? [lines] : [];
  });
}
