/** Search as one types. What an input method is still composing is not searched for. */
import type { RefObject } from "preact";
import { useRef } from "preact/hooks";
import type { Hit } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { Icon } from "./icon.tsx";
import { has } from "./tray.ts";

interface Active {
  readonly activeHit: number;
  readonly setActiveHit: (index: number) => void;
}

interface BoxProps extends Shared, Active {
  readonly box: RefObject<HTMLInputElement | null>;
  readonly leave: () => void;
}

export function SearchBox({ picker, language: { texts }, box, activeHit, setActiveHit, leave }: BoxProps) {
  const isComposing = useRef(false);
  const { hits, status } = picker.state.search;
  const hit = hits[activeHit];

  function typed(text: string): void {
    if (isComposing.current) return;
    setActiveHit(0);
    picker.search(text);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.isComposing) return;
    if (event.key === "Escape") {
      if (box.current) box.current.value = "";
      picker.search("");
      // The tree is there again only when the results are gone.
      requestAnimationFrame(leave);
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

export function SearchResults({ picker, language: { texts, code }, activeHit, setActiveHit }: Shared & Active) {
  const { text, status, hits, ready, problem } = picker.state.search;
  const share = new Intl.NumberFormat(code, { style: "percent" }).format(ready);
  return (
    <div class="results">
      <p class="count" role="status">
        {status === "loading" && texts.loading}
        {status === "ready" && (hits.length === 0 ? texts.noHits(text) : texts.hits(hits.length))}
        {status === "ready" && ready < 1 && ` · ${texts.indexing(share)}`}
        {status === "failed" && `${texts.failed}: ${problem}`}
      </p>
      {hits.length > 0 && (
        <ul id="hits" role="listbox" aria-label={texts.results} aria-multiselectable="true" tabIndex={0}>
          {hits.map((hit, index) => (
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
              <HitView hit={hit} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function HitView({ hit: { resource, snippet, marks = [], lines } }: { readonly hit: Hit }) {
  return (
    <>
      <div class="hit-name">
        <Icon type={resource.mimeType} />
        <span class="name">{resource.title ?? resource.name}</span>
        {lines && <span class="size">{lines[0] === lines[1] ? lines[0] : `${lines[0]}–${lines[1]}`}</span>}
      </div>
      <div class="hit-uri">{resource.uri}</div>
      {snippet !== undefined && <div class="snippet">{marked(snippet, marks)}</div>}
    </>
  );
}

function marked(text: string, marks: readonly (readonly [number, number])[]) {
  let at = 0;
  const pieces = marks.flatMap(([from, to]) => {
    const before = text.slice(at, from);
    at = to;
    return [before, <mark key={from}>{text.slice(from, to)}</mark>];
  });
  return [...pieces, text.slice(at)];
}
