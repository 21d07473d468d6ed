/** The preview: what a model would read of one resource, in a readable form. */
import { formatBytes } from "../lib/format-bytes.ts";
import { useEffect, useRef } from "preact/hooks";
import { nameIn } from "../client/tree-of.ts";
import type { Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Failure, Waiting } from "./notes.tsx";
import { PathText } from "./path-text.tsx";
import { Faces, More } from "./preview-faces.tsx";
import type { PreviewState } from "./state.ts";
import { Tabs } from "./tabs.tsx";
import { ago, type PickerTexts } from "./texts.ts";
import { choiceOf, trayTokens } from "./tray.ts";
import { shownPath, wayTo } from "./tree.ts";
import { faces, useFace } from "./use-face.ts";
import { usePreviewLines } from "./use-preview-lines.ts";
import { Lazily } from "./views/lazily.tsx";
import { shownTitle } from "./shown-title.ts";

const loadAbout = () => import("./views/about-view.tsx");

interface PreviewProps extends Shared {
  readonly now: number;
  readonly preview: PreviewState;
}

export function PreviewPane({ picker, language, now, preview }: PreviewProps) {
  const { texts, code } = language;
  const { tree, tray } = picker.state;
  const { face, setFace, lines, onMissing } = useFace(preview);
  const scroll = useRef<HTMLDivElement>(null);
  const { uri } = preview.resource;
  useEffect(() => {
    if (scroll.current) scroll.current.scrollTop = 0;
  }, [uri, face]);
  const isRaw = face === "raw";
  const { shown, firstLine, wanted, picked, choosePicked, keepFirstLine } = usePreviewLines(scroll, {
    picker,
    face,
    lines,
    onMissing,
  });

  const { resource, status, isGone, updatedAt, passage = resource } = preview;
  const changed = resource.annotations?.lastModified;
  const choice = choiceOf(tray, uri);
  const facts = [
    ...(resource.mimeType === undefined ? [] : [resource.mimeType]),
    ...(resource.size === undefined ? [] : [formatBytes(resource.size)]),
    ...(changed === undefined ? [] : [texts.changed(ago(changed, now, code))]),
  ];
  const folder = wayTo(tree.roots, uri).at(-1);
  return (
    <>
      <div class="about">
        <h2>{shownTitle(resource)}</h2>
        <div class="where">
          <span class="uri">
            <PathText path={withoutName(shownPath(tree.roots, uri), shownTitle(resource))} title={uri} />
          </span>
          <CopyButton key={uri} texts={texts} label={texts.copyUri} text={async () => uri} isSmall />
          {folder !== undefined && (
            <button type="button" class="small" onClick={() => picker.reveal(folder)}>
              {texts.showFolder}
            </button>
          )}
        </div>
        <div class="facts-row">
          <p class="facts">
            <span title={facts.join(" · ")}>{facts.join(" · ")}</span>
            {preview.lines && (
              <>
                {"·"}
                <button type="button" class="link" onClick={() => picker.preview(passage, preview.hit)}>
                  {texts.lines.goTo(preview.lines)}
                </button>
              </>
            )}
          </p>
          <p class={isGone ? "news gone" : "news"} role="status">
            {isGone ? texts.gone : updatedAt !== undefined && texts.updated(timeOf(updatedAt, code))}
          </p>
        </div>
        <div class="actions">
          <button
            type="button"
            aria-pressed={choice === "some" ? "mixed" : choice === "all"}
            onClick={() => picker.toggle(resource)}
          >
            {{ all: texts.chosenAlready, some: texts.lines.chooseWhole, none: texts.chooseThis }[choice]}
          </button>
          <Tabs
            label={texts.shown.faces}
            controls="preview-face"
            tabs={faces.map((id) => ({ id, name: texts.shown.face[id] }))}
            chosen={face}
            choose={setFace}
          />
        </div>
      </div>
      <div
        class="content"
        ref={scroll}
        tabIndex={0}
        role="region"
        aria-label={texts.preview}
        aria-keyshortcuts="Shift+ArrowDown Shift+ArrowUp"
      >
        <div class="face" id="preview-face" role="tabpanel" aria-labelledby={`tab-${face}`}>
          {status === "loading" && <Waiting text={texts.loading} />}
          {status === "failed" && (
            <Failure
              title={failureTitle(preview, texts)}
              problem={preview.problem}
              texts={texts}
              retry={() => picker.preview(passage, preview.hit)}
            />
          )}
          {face === "about" ? (
            <Lazily
              load={loadAbout}
              props={{ preview, counted: trayTokens(tray, uri), language, now }}
              meanwhile={(state) => <p class="quiet">{state === "failed" ? texts.failed : texts.loading}</p>}
            />
          ) : (
            (status === "ready" || preview.contents.length > 0) && (
              <Faces
                {...{ preview, language, shown, firstLine, wanted, isRaw }}
                pathOf={(each) => shownPath(tree.roots, each)}
                follow={follow}
                onBefore={() => {
                  keepFirstLine();
                  picker.previewBefore();
                }}
              />
            )
          )}
          {face !== "about" && preview.next !== undefined && (
            <More preview={preview} texts={texts} onMore={picker.previewMore} />
          )}
        </div>
      </div>
      <p class="unseen" role="status">
        {picked && texts.lines.picked(picked.lines)}
      </p>
      {picked && (
        // Pressing it must not end the selection of text.
        <button
          type="button"
          class="choose-lines"
          onMouseDown={(event) => event.preventDefault()}
          onClick={choosePicked}
        >
          {picked.isChosen ? texts.lines.remove(picked.lines) : texts.lines.choose(picked.lines)}
        </button>
      )}
    </>
  );

  function follow(to: string, title?: string): void {
    picker.preview({ uri: to, name: nameIn(to), ...(title !== undefined && { title }) });
  }
}

/** The folder, if the path ends with the name, which is the title above. */
function withoutName(path: string, name: string): string {
  const folder = path.slice(0, -name.length);
  return path.endsWith(name) && /[/ ]$/.test(folder) ? folder.replace(/ › $/, "") : path;
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
