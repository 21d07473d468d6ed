/** The preview: what a model would read of one resource, in a readable form. */
import { formatBytes } from "../lib/format-bytes.ts";
import type { ComponentChild } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { nameIn } from "../client/tree-of.ts";
import type { Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Failure, Waiting } from "./notes.tsx";
import type { PreviewState } from "./state.ts";
import { Tabs } from "./tabs.tsx";
import { ago, type PickerTexts } from "./texts.ts";
import { has } from "./tray.ts";
import { wayTo } from "./tree.ts";
import { ContentView } from "./views/content-view.tsx";
import { Lazily } from "./views/lazily.tsx";
import { TextView } from "./views/text-view.tsx";
import { useSight } from "./views/use-sight.ts";
import { type PreviewContent, shownOf } from "./shown.ts";
import { shortTitle } from "../lib/own-title.ts";

const faces = ["view", "raw", "about"] as const;
type Face = (typeof faces)[number];
const loadAbout = () => import("./views/about-view.tsx");

export function PreviewPane({ picker, language, now }: Shared & { readonly now: number }) {
  const { texts, code } = language;
  const { preview, tree, tray } = picker.state;
  const [face, setFace] = useState<Face>("view");
  const scroll = useRef<HTMLDivElement>(null);
  const uri = preview?.resource.uri;
  useEffect(() => {
    if (scroll.current) scroll.current.scrollTop = 0;
  }, [uri, face]);
  if (!preview || uri === undefined) return <p class="state">{texts.nothingOpen}</p>;

  const { resource, status, isGone, updatedAt } = preview;
  const changed = resource.annotations?.lastModified;
  const isChosen = has(tray, uri);
  const facts = [
    resource.mimeType ?? texts.unknownType,
    ...(resource.size === undefined ? [] : [formatBytes(resource.size)]),
    ...(changed === undefined ? [] : [texts.changed(ago(changed, now, code))]),
  ];
  const folder = wayTo(tree.roots, uri).at(-1);
  return (
    <>
      <div class="about">
        <h2>{shortTitle(resource)}</h2>
        <div class="where">
          <code class="uri" title={uri}>
            {uri}
          </code>
          <CopyButton key={uri} texts={texts} label={texts.copyUri} text={async () => uri} isSmall />
          {folder !== undefined && (
            <button type="button" class="small" onClick={() => picker.reveal(folder)}>
              {texts.showFolder}
            </button>
          )}
        </div>
        <p class="facts">{facts.join(" · ")}</p>
        <div class="actions">
          <button type="button" aria-pressed={isChosen} onClick={() => picker.toggle(resource)}>
            {isChosen ? texts.chosenAlready : texts.chooseThis}
          </button>
          <Tabs
            label={texts.shown.faces}
            controls="preview-face"
            tabs={faces.map((id) => ({ id, name: texts.shown.face[id] }))}
            chosen={face}
            choose={setFace}
          />
        </div>
        <p class={isGone ? "news gone" : "news"} role="status">
          {isGone ? texts.gone : updatedAt !== undefined && texts.updated(timeOf(updatedAt, code))}
        </p>
      </div>
      <div class="content" ref={scroll} tabIndex={0} role="region" aria-label={texts.preview}>
        <div class="face" id="preview-face" role="tabpanel" aria-labelledby={`tab-${face}`}>
          {status === "loading" && <Waiting text={texts.loading} />}
          {status === "failed" && (
            <Failure
              title={failureTitle(preview, texts)}
              problem={preview.problem}
              texts={texts}
              retry={() => picker.preview(resource)}
            />
          )}
          {face === "about" ? (
            <Lazily
              load={loadAbout}
              props={{ preview, language, now }}
              meanwhile={(state) => <p class="quiet">{state === "failed" ? texts.failed : texts.loading}</p>}
            />
          ) : (
            (status === "ready" || preview.contents.length > 0) && (
              <Faces {...{ preview, language, isRaw: face === "raw" }} follow={follow} />
            )
          )}
          {face !== "about" && preview.next !== undefined && (
            <More preview={preview} texts={texts} onMore={picker.previewMore} />
          )}
        </div>
      </div>
    </>
  );

  function follow(to: string): void {
    picker.preview({ uri: to, name: nameIn(to) });
  }
}

function failureTitle({ problemKind }: PreviewState, { failed, shown }: PickerTexts): string {
  if (problemKind === "not-found") return shown.notThere;
  if (problemKind === "denied") return shown.denied;
  if (problemKind === "too-large") return shown.tooLarge;
  return problemKind === "unavailable" || problemKind === "busy" ? shown.unavailable : failed;
}

/** An absolute time: a relative one would be read out again at each change. */
function timeOf(iso: string, code: string): string {
  return new Date(iso).toLocaleTimeString(code);
}

interface FacesProps extends Pick<Shared, "language"> {
  readonly preview: PreviewState;
  readonly isRaw: boolean;
  readonly follow: (uri: string) => void;
}

/** Everything that was read, below its notes. */
function Faces({ preview, language, isRaw, follow }: FacesProps) {
  const { texts } = language;
  const { resource, isPartial, isTaken, note, original } = preview;
  // A long text is joined once, whatever else changes on the page.
  const shown = useMemo(
    () => shownOf(isRaw && original ? { ...preview, contents: original } : preview),
    [preview, isRaw, original],
  );
  return (
    <>
      {isPartial && <p class="quiet">{texts.partly(resource.size === undefined ? "?" : formatBytes(resource.size))}</p>}
      {isTaken && !(isRaw && original) && (
        <p class="quiet">{texts.shown.taken(resource.mimeType ?? texts.unknownType)}</p>
      )}
      {note !== undefined && (
        <p class="quiet">
          {texts.shown.notTaken} {note}
        </p>
      )}
      {shown.map((each, index) => (
        <section class="shown" key={`${resource.uri} ${index}`} {...(shown.length > 1 && { "aria-label": each.uri })}>
          {shown.length > 1 && <p class="shown-uri">{each.uri}</p>}
          {face(each)}
        </section>
      ))}
    </>
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

function More({ preview, texts, onMore }: MoreProps) {
  const end = useSight(onMore, [preview.next]);
  return (
    <div class="end" ref={end}>
      <button type="button" disabled={preview.isLoadingMore} onClick={onMore}>
        {preview.isLoadingMore ? texts.loading : texts.more}
      </button>
    </div>
  );
}
