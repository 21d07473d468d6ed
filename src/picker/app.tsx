/** The page: header, list, preview and tray. On a narrow page, list, preview and tray are views of their own. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { BottomBar } from "./bottom-bar.tsx";
import { ConnectHint } from "./connect-link.tsx";
import type { Expansion } from "./create-folder-choice.ts";
import type { Picker } from "./create-picker.ts";
import { isFiltered, noFilters } from "./filter-search.ts";
import { FilterChips } from "./filter-chips.tsx";
import { FiltersBar } from "./filters.tsx";
import { Hint } from "./hint.tsx";
import { keyNames } from "./key-names.ts";
import { Failure, Waiting } from "./notes.tsx";
import { PaletteButton } from "./palette-button.tsx";
import { SearchBox, SearchResults } from "./search-view.tsx";
import { Splitter } from "./splitter.tsx";
import type { PageView } from "./state.ts";
import { Tabs } from "./tabs.tsx";
import type { Language } from "./texts.ts";
import { TrayPane } from "./tray-pane.tsx";
import { TreePane, type TreePlace } from "./tree-pane.tsx";
import { usePhoneView } from "./use-phone-view.ts";
import { Lazily } from "./views/lazily.tsx";

export interface Shared {
  readonly picker: Picker;
  readonly language: Language;
}

export interface AppProps extends Shared {
  /** Additional elements at the top. */
  readonly extra?: ComponentChildren;
  /** Passes on what was chosen, if there is a receiver. */
  readonly use?: (chosen: Expansion) => void;
  /** Target of keyboard events. Default: the whole page. */
  readonly keys?: EventTarget;
  /** Whether the browser's Back returns to the list on a narrow page. Default: no, as the history is not the picker's. */
  readonly hasHistory?: boolean;
}

// Loaded when they are first shown.
const loadTemplates = async () => ({ default: (await import("./templates-pane.tsx")).TemplatesPane });
const loadGather = async () => ({ default: (await import("./gather-pane.tsx")).GatherPane });
const loadPreview = async () => ({ default: (await import("./preview-pane.tsx")).PreviewPane });

const tickMs = 15_000;
const views: readonly PageView[] = ["tree", "templates", "gather"];

export function App({ picker, language, extra, use, keys = globalThis, hasHistory = false }: AppProps) {
  const [, redraw] = useState({});
  const [activeHit, setActiveHit] = useState(0);
  const [now, setNow] = useState(Date.now());
  const [hasFilters, setHasFilters] = useState(false);
  const [trayMode, setTrayMode] = useState<"auto" | "open" | "closed">("auto");
  const page = useRef<HTMLDivElement>(null);
  const phone = usePhoneView({ picker, page, hasHistory });
  const searchBox = useRef<HTMLInputElement>(null);
  const tree = useRef<HTMLDivElement>(null);
  const treePlace = useRef<TreePlace>({ key: "", near: 0, top: 0 });
  const { texts } = language;
  const { connection, isLost, preview, problem, problemKind, search, tools, view } = picker.state;

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

  /** Ends the search; with filters and a text, only the text. */
  const leaveSearch = (): void => {
    if (search.text !== "" && isFiltered(search.filters)) {
      focusSearch("");
    } else endSearch();
  };

  const endSearch = (): void => {
    picker.endSearch();
    // The tree exists again only after the results are removed.
    requestAnimationFrame(() => tree.current?.focus());
  };

  function focusSearch(text?: string): void {
    searchBox.current?.focus();
    if (text === undefined || !searchBox.current) return;
    searchBox.current.value = text;
    setActiveHit(0);
    picker.search(text);
  }

  function clearFilters(): void {
    picker.filter(noFilters);
    // The button that was used disappears.
    searchBox.current?.focus();
  }

  /** The button that was used disappears, so its counterpart gets the focus. */
  function setTray(mode: "open" | "closed"): void {
    setTrayMode(mode);
    const heir = mode === "open" ? ".tray-toggle" : ".bar-sum";
    requestAnimationFrame(() => page.current?.querySelector<HTMLElement>(heir)?.focus());
  }

  function gather(): void {
    picker.endSearch();
    picker.show("gather");
    phone.go("list");
  }

  const isSearching = search.status !== "idle";
  const hinted = !isSearching ? view : search.text === "" ? "filters" : "search";
  const { layout } = texts;
  const gatherButton = (
    <button type="button" onClick={gather}>
      {layout.gatherNow}
    </button>
  );
  const nothingOpen = (
    <Hint title={texts.nothingOpen} text={layout.nothingOpenHint}>
      <button type="button" onClick={() => searchBox.current?.focus()}>
        {layout.searchNow}
      </button>
      {gatherButton}
    </Hint>
  );
  const nothingChosen = (
    <Hint title={layout.nothingChosen} text={texts.emptyTray}>
      {gatherButton}
      {!use && <ConnectHint language={language} />}
    </Hint>
  );
  const nothingFound = (
    <Hint title={texts.nothingFound} text={layout.noHitsHint}>
      {isFiltered(search.filters) && (
        <button type="button" onClick={clearFilters}>
          {texts.filter.clear}
        </button>
      )}
      <button type="button" onClick={endSearch}>
        {layout.showAll}
      </button>
    </Hint>
  );
  const meanwhile = (state: "loading" | "failed") => (
    <p class="state" role="status">
      {state === "failed" ? texts.failed : texts.loading}
    </p>
  );
  const isDenied = problemKind === "denied";
  return (
    <div class={`page tray-${trayMode}${use ? " has-use" : ""}`} data-view={phone.view} ref={page}>
      <header class="top">
        <h1>
          <svg class="logo" viewBox="0 0 16 16" aria-hidden="true">
            <rect width="16" height="16" rx="3" />
            <path d="M5 3h6v10l-3-2.5L5 13z" />
          </svg>
          Pressmark
        </h1>
        <SearchBox {...{ picker, language, activeHit, setActiveHit }} box={searchBox} leave={leaveSearch} />
        <kbd class="search-key" aria-hidden="true">
          /
        </kbd>
        <button
          type="button"
          aria-expanded={hasFilters}
          {...(hasFilters && { "aria-controls": "filters" })}
          onClick={() => setHasFilters(!hasFilters)}
        >
          {texts.filter.title}
        </button>
        <PaletteButton
          {...{ picker, language, keys }}
          toggleFilters={() => setHasFilters((before) => !before)}
          focusSearch={focusSearch}
        />
        <div class="extra">{extra}</div>
      </header>
      <section id="list" class="places" aria-label={isSearching ? texts.results : texts.view[view]}>
        {hasFilters && <FiltersBar {...{ picker, language }} />}
        <FilterChips {...{ picker, language, clearFilters }} leave={() => searchBox.current?.focus()} />
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
          <SearchResults
            {...{ picker, language, activeHit, setActiveHit, now }}
            leave={leaveSearch}
            empty={nothingFound}
          />
        ) : connection === "connecting" ? (
          <Waiting text={texts.connecting} />
        ) : (
          <div id="place" class="place" role="tabpanel" aria-labelledby={`tab-${view}`}>
            {view === "tree" && <TreePane {...{ picker, language, now }} box={tree} place={treePlace.current} />}
            {view === "templates" && <Lazily load={loadTemplates} props={{ picker, language }} meanwhile={meanwhile} />}
            {view === "gather" && <Lazily load={loadGather} props={{ picker, language }} meanwhile={meanwhile} />}
          </div>
        )}
        {connection === "ready" && (
          <p class="keys">{texts.hints[hinted]({ ...keyNames(), mayGather: tools.has("gather_context") })}</p>
        )}
      </section>
      <Splitter label={layout.splitter} controls="list" page={page} />
      <div id="preview" class="preview">
        {preview ? (
          <Lazily load={loadPreview} props={{ picker, language, now, preview }} meanwhile={meanwhile} />
        ) : (
          nothingOpen
        )}
      </div>
      <div id="tray" class="tray-area">
        <TrayPane {...{ picker, language, use }} empty={nothingChosen} />
        <button
          type="button"
          class="tray-toggle small"
          aria-expanded={true}
          aria-label={layout.hideTray}
          title={layout.hideTray}
          onClick={() => setTray("closed")}
        />
      </div>
      <BottomBar {...{ picker, language, use }} {...phone} showTray={() => setTray("open")} />
    </div>
  );
}
