/** Searches as the person types, but not while an input method is composing. */
import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Hit } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { resourceFactsOf } from "./facts.ts";
import { isFiltered } from "./filter-search.ts";
import { IconImage } from "./icon.tsx";
import { has, trayTokens } from "./tray.ts";
import { shownPath } from "./tree.ts";
import { shortTitle } from "../lib/own-title.ts";

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
}

export function SearchBox({ picker, language: { texts }, box, activeHit, setActiveHit, leave }: BoxProps) {
  const isComposing = useRef(false);
  const { hits, status, text } = picker.state.search;
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
    } else if (event.key === "ArrowDown" && hits.length > 0) setActiveHit(Math.min(hits.length - 1, activeHit + 1));
    else if (event.key === "ArrowUp" && hits.length > 0) setActiveHit(Math.max(0, activeHit - 1));
    else if (event.key === "Enter" && hit) {
      if (event.ctrlKey || event.metaKey) picker.toggle(hit.resource);
      else picker.preview(hit.resource);
    } else return;
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

export function SearchResults({ picker, language, activeHit, setActiveHit, leave, now }: ResultsProps) {
  const { texts, code } = language;
  const { text, filters, status, hits, matchCount, hasMore, ready, failures, problem } = picker.state.search;
  const list = useRef<HTMLDivElement>(null);
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
    else if (hit && event.key === "Enter") picker.preview(hit.resource);
    else if (hit && event.key === " ") picker.toggle(hit.resource);
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
  }

  const similarCount = hits.length - matchCount;
  function found(): string {
    if (hits.length === 0) return text === "" ? texts.empty : texts.noHits(text);
    const matches = matchCount > 0 ? texts.hits(matchCount) : texts.noMatch(text);
    return similarCount > 0 ? `${matches} · ${texts.similarHits(similarCount)}` : matches;
  }

  const options = hits.map((hit, index) => (
    <li
      key={`${hit.resource.uri} ${hit.lines?.[0] ?? ""}`}
      id={`hit-${index}`}
      role="option"
      class={`hit${index === activeHit ? " active" : ""}`}
      aria-selected={has(picker.state.tray, hit.resource.uri)}
      onClick={() => {
        setActiveHit(index);
        picker.preview(hit.resource);
      }}
    >
      <HitView
        hit={hit}
        path={shownPath(picker.state.tree.roots, hit.resource.uri)}
        facts={resourceFactsOf(hit.resource, trayTokens(picker.state.tray, hit.resource.uri), now, language).map(
          ({ long }) => long,
        )}
        isChosen={has(picker.state.tray, hit.resource.uri)}
        onChoose={() => picker.toggle(hit.resource)}
      />
    </li>
  ));

  return (
    <div class="results">
      <p class="count" role="status">
        {status === "loading" && texts.loading}
        {status === "ready" && found()}
        {status === "ready" && hasMore && ` · ${texts.moreHits}`}
        {status === "ready" && hits.length === 0 && isFiltered(filters) && ` · ${texts.filteredOut}`}
        {status === "ready" && ready < 1 && failures.length === 0 && ` · ${texts.indexing(share)}`}
        {status === "ready" && failures.length > 0 && ` · ${texts.notSearched(failures.join("; "))}`}
        {status === "failed" && `${texts.failed}: ${problem}`}
      </p>
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

interface HitProps {
  readonly hit: Hit;
  readonly path: string;
  readonly facts: readonly string[];
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function HitView({ hit: { resource, snippet, marks = [], lines }, path, facts, isChosen, onChoose }: HitProps) {
  return (
    <>
      <div class="hit-name">
        <IconImage type={resource.mimeType} />
        <span class="name">{shortTitle(resource)}</span>
        {lines && <span class="fact">{lines[0] === lines[1] ? lines[0] : `${lines[0]}–${lines[1]}`}</span>}
        <span
          class={`tick${isChosen ? " on" : ""}`}
          aria-hidden="true"
          onClick={(event) => {
            event.stopPropagation();
            onChoose();
          }}
        />
      </div>
      <div class="hit-uri" title={resource.uri}>
        {path}
      </div>
      {facts.length > 0 && <div class="hit-facts">{facts.join(" · ")}</div>}
      {snippet !== undefined && <div class="snippet">{marked(snippet, marks)}</div>}
    </>
  );
}

/** Begins with the line before the first match, because few lines are shown. */
function marked(text: string, marks: readonly (readonly [number, number])[]) {
  const line = text.lastIndexOf("\n", (marks[0]?.[0] ?? 0) - 1);
  let at = marks.length === 0 ? 0 : text.lastIndexOf("\n", line - 1) + 1;
  const pieces = marks.flatMap(([from, to]) => {
    const before = text.slice(at, from);
    at = to;
    return [before, <mark key={from}>{text.slice(from, to)}</mark>];
  });
  return [...pieces, text.slice(at)];
}
