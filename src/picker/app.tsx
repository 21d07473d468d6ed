/** The page: search, tree, preview and tray. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Picker } from "./create-picker.ts";
import { PreviewPane } from "./preview-pane.tsx";
import { SearchBox, SearchResults } from "./search-view.tsx";
import type { Language } from "./texts.ts";
import { TrayPane } from "./tray-pane.tsx";
import { TreePane } from "./tree-pane.tsx";

export interface Shared {
  readonly picker: Picker;
  readonly language: Language;
}

const tickMs = 15_000;

export function App({ picker, language }: Shared) {
  const [, redraw] = useState({});
  const [activeHit, setActiveHit] = useState(0);
  const [now, setNow] = useState(Date.now());
  const searchBox = useRef<HTMLInputElement>(null);
  const tree = useRef<HTMLDivElement>(null);
  const { texts } = language;
  const { connection, problem, search } = picker.state;

  useEffect(() => {
    const ended = new AbortController();
    let isDue = false;
    // Many changes in one moment are drawn once.
    const draw = (): void => {
      isDue = false;
      redraw({});
    };
    picker.onChange(() => {
      if (!isDue) queueMicrotask(draw);
      isDue = true;
    }, ended.signal);
    const tick = setInterval(() => setNow(Date.now()), tickMs);
    const seek = (event: KeyboardEvent): void => {
      const isTyping = event.target instanceof HTMLInputElement;
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      searchBox.current?.focus();
    };
    addEventListener("keydown", seek, { signal: ended.signal });
    redraw({});
    return () => {
      ended.abort();
      clearInterval(tick);
    };
  }, [picker]);

  const isSearching = search.status !== "idle";
  return (
    <div class="page">
      <header class="top">
        <h1>Pressmark</h1>
        <SearchBox
          {...{ picker, language, activeHit, setActiveHit }}
          box={searchBox}
          leave={() => tree.current?.focus()}
        />
      </header>
      <section class="places" aria-label={isSearching ? texts.results : texts.tree}>
        {connection === "failed" ? (
          <div class="state" role="alert">
            <p>{texts.offline}</p>
            <p class="quiet">{problem}</p>
            <button type="button" onClick={() => void picker.start()}>
              {texts.retry}
            </button>
          </div>
        ) : isSearching ? (
          <SearchResults {...{ picker, language, activeHit, setActiveHit }} />
        ) : connection === "connecting" ? (
          <p class="state" role="status">
            {texts.connecting}
          </p>
        ) : (
          <TreePane {...{ picker, language }} box={tree} />
        )}
      </section>
      <main class="preview" aria-label={texts.preview}>
        <PreviewPane {...{ picker, language, now }} />
      </main>
      <TrayPane {...{ picker, language }} />
    </div>
  );
}
