/** Searches as the person types, but not while an input method is composing. */
import type { ComponentChild, RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { resourceFactsOf } from "./facts.ts";
import { isFiltered } from "./filter-search.ts";
import { shownFilters } from "./filters.tsx";
import { HitView } from "./hit-view.tsx";
import { passageOfHit } from "./passage-of-hit.ts";
import { choiceOf, trayTokens } from "./tray.ts";
import { shownPath } from "./tree.ts";

interface Active {
  readonly activeHit: number;
  readonly setActiveHit: (index: number) => void;
}

interface BoxProps extends Shared, Active {
  readonly box: RefObject<HTMLInputElement | null>;
  /** Returns to the tree. */
  readonly leave: () => void;
}

interface ResultsProps extends Shared, Active {
  readonly leave: () => void;
  readonly now: number;
  /** Shown if nothing is found. */
  readonly empty: ComponentChild;
}

export function SearchBox({ picker, language: { texts }, box, activeHit, setActiveHit, leave }: BoxProps) {
  const isComposing = useRef(false);
  const { filters, hits, status, text } = picker.state.search;
  const hit = hits[activeHit];
  useEffect(() => {
    // Ending the search empties the box, too, unless the person types already.
    const current = picker.state.search;
    const isOver = current.status === "idle" && current.text === "" && !isComposing.current;
    if (isOver && box.current) box.current.value = "";
  }, [status, text]);

  function typed(value: string): void {
    if (isComposing.current) return;
    setActiveHit(0);
    picker.search(value);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      if (box.current) box.current.value = "";
      leave();
    } else if (event.key === "ArrowDown" && status === "idle") leave();
    else if (event.key === "Enter" && event.altKey && text.trim() !== "") picker.gatherFor(text.trim());
    else if (event.key === "Backspace" && box.current?.value === "" && isFiltered(filters)) {
      picker.filter({ [shownFilters(picker.state, texts).at(-1)?.name ?? ""]: "" });
    } else if (event.key === "ArrowDown" && hits.length > 0) setActiveHit(Math.min(hits.length - 1, activeHit + 1));
    else if (event.key === "ArrowUp" && hits.length > 0) setActiveHit(Math.max(0, activeHit - 1));
    else if (event.key === "Enter" && hit) {
      if (event.ctrlKey || event.metaKey) picker.toggle(passageOfHit(hit));
      else picker.preview(passageOfHit(hit), hit);
      // By code: with Alt, some layouts type another letter.
    } else if (event.code === "KeyW" && event.altKey && hit) picker.toggle(hit.resource);
    else return;
    event.preventDefault();
  }

  return (
    <input
      ref={box}
      class="search"
      type="text"
      role="combobox"
      enterkeyhint="search"
      autocomplete="off"
      spellcheck={false}
      placeholder={texts.searchHint}
      aria-label={texts.search}
      aria-expanded={hits.length > 0}
      aria-autocomplete="list"
      {...(hits.length > 0 && { "aria-controls": "hits", "aria-activedescendant": `hit-${activeHit}` })}
      aria-busy={status === "loading"}
      onCompositionStart={() => (isComposing.current = true)}
      onCompositionEnd={({ currentTarget }) => {
        isComposing.current = false;
        typed(currentTarget.value);
      }}
      onInput={({ currentTarget }) => typed(currentTarget.value)}
      onKeyDown={onKeyDown}
    />
  );
}

export function SearchResults({ picker, language, activeHit, setActiveHit, leave, now, empty }: ResultsProps) {
  const { texts, code } = language;
  const { text, filters, status, hits, matchCount, hasMore, ready, failures, problem } = picker.state.search;
  const list = useRef<HTMLDivElement>(null);
  const filterNames = shownFilters(picker.state, texts)
    .map(({ label }) => label)
    .join(texts.listSeparator);
  const share = new Intl.NumberFormat(code, { style: "percent" }).format(ready);
  useEffect(() => list.current?.querySelector(".hit.active")?.scrollIntoView({ block: "nearest" }), [activeHit]);

  function onKeyDown(event: KeyboardEvent): void {
    const hit = hits[activeHit];
    const last = hits.length - 1;
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: Math.min(last, activeHit + 1),
      ArrowUp: Math.max(0, activeHit - 1),
      Home: 0,
      End: last,
    };
    const step = steps[event.key];
    if (step !== undefined) setActiveHit(step);
    else if (event.key === "Enter" && event.altKey && text.trim() !== "") picker.gatherFor(text.trim());
    else if (hit && event.key === "Enter" && !event.ctrlKey && !event.metaKey) picker.preview(passageOfHit(hit), hit);
    else if (hit && (event.key === " " || event.key === "Enter")) picker.toggle(passageOfHit(hit));
    else if (hit && event.key === "w" && !event.ctrlKey && !event.metaKey) picker.toggle(hit.resource);
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  }

  const similarCount = hits.length - matchCount;
  function found(): string {
    if (hits.length === 0) return text === "" ? texts.nothingFound : texts.noHits(text);
    const matches = matchCount > 0 ? texts.hits(matchCount) : texts.noMatch(text);
    return similarCount > 0 ? `${matches} · ${texts.similarHits(similarCount)}` : matches;
  }

  const { tray, tree } = picker.state;
  const options = hits.map((hit, index) => {
    const passage = passageOfHit(hit);
    const choice = choiceOf(tray, passage.uri);
    const isWhole = passage.uri === hit.resource.uri;
    return (
      <li
        key={`${hit.resource.uri} ${hit.lines?.[0] ?? ""}`}
        id={`hit-${index}`}
        role="option"
        class={`hit${index === activeHit ? " active" : ""}`}
        aria-selected={choice === "all"}
        aria-checked={choice === "some" ? "mixed" : choice === "all"}
        onClick={() => {
          setActiveHit(index);
          picker.preview(passage, hit);
        }}
      >
        <HitView
          {...{ hit, texts, choice }}
          path={shownPath(tree.roots, hit.resource.uri)}
          facts={resourceFactsOf(passage, trayTokens(tray, passage.uri), now, language).map(({ long }) => long)}
          onChoose={() => picker.toggle(passage)}
          {...(!isWhole && {
            whole: {
              isChosen: choiceOf(tray, hit.resource.uri) === "all",
              onChoose: () => picker.toggle(hit.resource),
            },
          })}
        />
      </li>
    );
  });

  return (
    <div class="results">
      <p class="count" role="status">
        {status === "loading" && texts.loading}
        {status === "ready" && found()}
        {status === "ready" && hasMore && ` · ${texts.moreHits}`}
        {status === "ready" && hits.length === 0 && isFiltered(filters) && ` · ${texts.filteredBy(filterNames)}`}
        {status === "ready" && ready < 1 && failures.length === 0 && ` · ${texts.indexing(share)}`}
        {status === "ready" && failures.length > 0 && ` · ${texts.notSearched(failures.join("; "))}`}
        {status === "failed" && (picker.state.isLost ? texts.offline : texts.failedWith(problem ?? ""))}
      </p>
      {status === "ready" && hits.length === 0 && empty}
      {hits.length > 0 && (
        <div
          id="hits"
          ref={list}
          role="listbox"
          aria-label={texts.results}
          aria-multiselectable="true"
          aria-activedescendant={`hit-${activeHit}`}
          tabIndex={0}
          onKeyDown={onKeyDown}
        >
          <ul role="presentation">{options.slice(0, matchCount)}</ul>
          {similarCount > 0 && (
            <ul role="group" aria-labelledby="similar">
              <li id="similar" role="presentation" class="similar">
                {texts.similar}
              </li>
              {options.slice(matchCount)}
            </ul>
          )}
        </div>
      )}
    </div>
  );
}
