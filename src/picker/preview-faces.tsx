/** The contents of a resource, drawn by their types or as source text. */
import { formatBytes } from "../lib/format-bytes.ts";
import type { Lines } from "../lib/line-range-uri.ts";
import type { ComponentChild } from "preact";
import { useMemo } from "preact/hooks";
import type { Shared } from "./app.tsx";
import type { PreviewContent } from "./shown.ts";
import type { PreviewState } from "./state.ts";
import type { PickerTexts } from "./texts.ts";
import { ContentView } from "./views/content-view.tsx";
import { LinesShown } from "./views/lines-view.tsx";
import { TextView } from "./views/text-view.tsx";
import { useSight } from "./views/use-sight.ts";

interface FacesProps extends Pick<Shared, "language"> {
  readonly preview: PreviewState;
  readonly isRaw: boolean;
  readonly shown: readonly PreviewContent[];
  readonly firstLine: number;
  readonly wanted: Lines | undefined;
  /** For display. */
  readonly pathOf: (uri: string) => string;
  readonly follow: (uri: string) => void;
  readonly onBefore: () => void;
}

/** Everything that was read, below its notes. */
export function Faces({ preview, language, isRaw, shown, firstLine, wanted, pathOf, follow, onBefore }: FacesProps) {
  const { texts } = language;
  const { resource, isPartial, isTaken, note, original } = preview;
  const linesShown = useMemo(() => ({ first: firstLine, wanted }), [firstLine, wanted]);
  return (
    <LinesShown.Provider value={linesShown}>
      {isPartial && <p class="quiet">{texts.partly(resource.size === undefined ? "?" : formatBytes(resource.size))}</p>}
      {isTaken && !(isRaw && original) && (
        <p class="quiet">{texts.shown.taken(resource.mimeType ?? texts.unknownType)}</p>
      )}
      {note !== undefined && (
        <p class="quiet">
          {texts.shown.notTaken} {note}
        </p>
      )}
      {firstLine > 1 && (
        <button type="button" class="before" disabled={preview.isLoadingMore} onClick={onBefore}>
          {preview.isLoadingMore ? texts.loading : texts.lines.before}
        </button>
      )}
      {shown.map((each, index) => (
        <section
          class="shown"
          key={`${resource.uri} ${index}`}
          {...(shown.length > 1 && { "aria-label": pathOf(each.uri) })}
        >
          {shown.length > 1 && (
            <p class="shown-uri" title={each.uri}>
              {pathOf(each.uri)}
            </p>
          )}
          {face(each)}
        </section>
      ))}
    </LinesShown.Provider>
  );

  function face(each: PreviewContent): ComponentChild {
    if ("bytes" in each && (isRaw || !each.isPicture)) {
      const size = resource.size ?? each.bytes.length;
      return <p class="state">{texts.binary(each.type || texts.unknownType, formatBytes(size))}</p>;
    }
    if ("text" in each && each.text === "") return <p class="state">{texts.shown.emptyText}</p>;
    if (isRaw && "text" in each) return <TextView text={each.text} />;
    return <ContentView shown={each} name={resource.name} {...{ language, follow }} />;
  }
}

interface MoreProps {
  readonly preview: PreviewState;
  readonly texts: PickerTexts;
  readonly onMore: () => void;
}

export function More({ preview, texts, onMore }: MoreProps) {
  const end = useSight(onMore, [preview.next]);
  return (
    <div class="end" ref={end}>
      <button type="button" disabled={preview.isLoadingMore} onClick={onMore}>
        {preview.isLoadingMore ? texts.loading : texts.more}
      </button>
    </div>
  );
}
