/** The page: search, tree, templates, gathering, preview and tray. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Resource } from "../resources.ts";
import type { Picker } from "./create-picker.ts";
import { isFiltered } from "./filter-search.ts";
import { FiltersBar } from "./filters.tsx";
import { GatherPane } from "./gather-pane.tsx";
import { Failure, Waiting } from "./notes.tsx";
import { PreviewPane } from "./preview-pane.tsx";
import { SearchBox, SearchResults } from "./search-view.tsx";
import type { PageView } from "./state.ts";
import { Tabs } from "./tabs.tsx";
import { TemplatesPane } from "./templates-pane.tsx";
import type { Language } from "./texts.ts";
import { TrayPane } from "./tray-pane.tsx";
import { TreePane, type TreePlace } from "./tree-pane.tsx";

export interface Shared {
  readonly picker: Picker;
  readonly language: Language;
}

export interface AppProps extends Shared {
  /** Additional elements at the top. */
  readonly extra?: ComponentChildren;
  /** Passes on what was chosen, if there is a receiver. */
  readonly use?: (chosen: readonly Resource[]) => void;
  /** Target of keyboard events. Default: the whole page. */
  readonly keys?: EventTarget;
}

const tickMs = 15_000;
const views: readonly PageView[] = ["tree", "templates", "gather"];

export function App({ picker, language, extra, use, keys = globalThis }: AppProps) {
  const [, redraw] = useState({});
  const [activeHit, setActiveHit] = useState(0);
  const [now, setNow] = useState(Date.now());
  const [hasFilters, setHasFilters] = useState(false);
  const searchBox = useRef<HTMLInputElement>(null);
  const tree = useRef<HTMLDivElement>(null);
  const treePlace = useRef<TreePlace>({ key: "", near: 0, top: 0 });
  const { texts } = language;
  const { connection, isLost, problem, problemKind, search, view } = picker.state;

  useEffect(() => {
    const ended = new AbortController();
    let isDue = false;
    // Several changes in one frame are drawn once.
    const draw = (): void => {
      isDue = false;
      setNow(Date.now());
      redraw({});
    };
    picker.onChange(() => {
      if (!isDue) queueMicrotask(draw);
      isDue = true;
    }, ended.signal);
    const tick = setInterval(() => setNow(Date.now()), tickMs);
    const seek = (event: Event): void => {
      if (!(event instanceof KeyboardEvent)) return;
      // From outside a custom element, the event target is the element itself.
      const [target] = event.composedPath();
      const isTyping = target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement;
      if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      searchBox.current?.focus();
    };
    keys.addEventListener("keydown", seek, { signal: ended.signal });
    redraw({});
    return () => {
      ended.abort();
      clearInterval(tick);
    };
  }, [picker]);

  const leaveSearch = (): void => {
    picker.endSearch();
    // The tree exists again only after the results are removed.
    requestAnimationFrame(() => tree.current?.focus());
  };

  const isSearching = search.status !== "idle";
  const isDenied = problemKind === "denied";
  return (
    <div class="page">
      <header class="top">
        <h1>Pressmark</h1>
        <SearchBox {...{ picker, language, activeHit, setActiveHit }} box={searchBox} leave={leaveSearch} />
        <button
          type="button"
          aria-expanded={hasFilters}
          {...(hasFilters && { "aria-controls": "filters" })}
          onClick={() => setHasFilters(!hasFilters)}
        >
          {isFiltered(search.filters) ? texts.filter.on : texts.filter.title}
        </button>
        {extra}
      </header>
      <section class="places" aria-label={isSearching ? texts.results : texts.view[view]}>
        {hasFilters && <FiltersBar {...{ picker, language }} />}
        {connection === "ready" && isLost && (
          <div class="lost" role="alert">
            {texts.lost}{" "}
            <button type="button" onClick={() => void picker.start()}>
              {texts.retry}
            </button>
          </div>
        )}
        {connection === "ready" && !isSearching && (
          <Tabs
            label={texts.views}
            controls="place"
            tabs={views.map((id) => ({ id, name: texts.view[id] }))}
            chosen={view}
            choose={picker.show}
          />
        )}
        {connection === "failed" ? (
          <Failure
            title={isDenied ? texts.noPermission : texts.offline}
            problem={isDenied ? texts.noPermissionHint : problem}
            texts={texts}
            retry={() => void picker.start()}
          />
        ) : isSearching ? (
          <SearchResults {...{ picker, language, activeHit, setActiveHit, now }} leave={leaveSearch} />
        ) : connection === "connecting" ? (
          <Waiting text={texts.connecting} />
        ) : (
          <div id="place" class="place" role="tabpanel" aria-labelledby={`tab-${view}`}>
            {view === "tree" && <TreePane {...{ picker, language, now }} box={tree} place={treePlace.current} />}
            {view === "templates" && <TemplatesPane {...{ picker, language }} />}
            {view === "gather" && <GatherPane {...{ picker, language }} />}
          </div>
        )}
      </section>
      <main class="preview" aria-label={texts.preview}>
        <PreviewPane {...{ picker, language, now }} />
      </main>
      <TrayPane {...{ picker, language, use }} />
    </div>
  );
}
