/** Lists templates, and fills in one of them, a variable at a time. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { nameIn } from "../client/tree-of.ts";
import { visibleUri } from "../lib/visible-uri.ts";
import type { Resource } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { templateTexts } from "./template-texts.ts";
import { CopyButton } from "./copy-button.tsx";
import { Failure, Waiting } from "./notes.tsx";
import { shownFullTitle } from "./shown-title.ts";
import type { Filling } from "./state.ts";
import { has } from "./tray.ts";

export function TemplatesPane({ picker, language }: Shared) {
  const { texts } = language;
  const { status, items, problem, filling } = picker.state.templates;
  const list = useRef<HTMLUListElement>(null);
  const left = useRef(-1);
  const at = filling ? items.findIndex(({ uriTemplate }) => uriTemplate === filling.template.uriTemplate) : -1;
  useLayoutEffect(() => {
    // Restores the focus in the list.
    if (at < 0) list.current?.children[left.current]?.querySelector("button")?.focus();
    left.current = at;
  }, [at]);
  if (filling) return <FillingView {...{ picker, language, filling }} />;
  if (status === "idle" || status === "loading") return <Waiting text={texts.loading} />;
  if (status === "failed") return <Failure title={texts.failed} {...{ problem, texts }} retry={picker.loadTemplates} />;
  if (items.length === 0) return <p class="state">{templateTexts(language.code).none}</p>;
  return (
    <div class="pane">
      <ul ref={list} class="templates" aria-label={templateTexts(language.code).title}>
        {items.map((template) => (
          <li key={template.uriTemplate}>
            <button type="button" class="line" onClick={() => picker.fill(template)}>
              <span class="name">{shownFullTitle(template)}</span>
              <code class="hit-uri">{visibleUri(template.uriTemplate)}</code>
              {template.description !== undefined && <span class="quiet">{template.description}</span>}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function FillingView({ picker, language, filling }: Shared & { readonly filling: Filling }) {
  const { texts } = language;
  const words = templateTexts(language.code);
  const { template, variables, values, at, uri, problem } = filling;
  const isDone = at >= variables.length;
  const open = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => {
    if (isDone) open.current?.focus();
  }, [isDone]);
  const isMissing = variables.some(({ name, isOptional }) => !isOptional && (values[name] ?? "") === "");
  const resource: Resource = { uri, name: nameIn(uri), mimeType: template.mimeType };
  return (
    <div class="pane">
      <div class="actions">
        <button type="button" onClick={picker.unfill}>
          {words.back}
        </button>
      </div>
      <h2>{shownFullTitle(template)}</h2>
      {template.description !== undefined && <p class="quiet">{template.description}</p>}
      <ol class="variables">
        {variables.map(({ name, isOptional }, index) => (
          <li key={name} class={index === at ? "current" : ""} aria-current={index === at ? "step" : undefined}>
            {index === at ? (
              <VariableBox key={name} {...{ picker, language, filling, name, isOptional }} />
            ) : (
              <button
                type="button"
                class="link"
                disabled={index > at && isMissing}
                title={words.change(name)}
                onClick={() => picker.goToVariable(index)}
              >
                {name}: {values[name] ?? words.empty}
              </button>
            )}
          </li>
        ))}
      </ol>
      <p class="result">
        <span>{isMissing ? words.sofar : words.ready}</span> <code title={uri}>{visibleUri(uri)}</code>
      </p>
      {problem !== undefined && <p role="alert">{problem}</p>}
      {!isMissing && problem === undefined && (
        <div class="actions">
          <button ref={open} type="button" onClick={() => picker.preview(resource)}>
            {words.open}
          </button>
          <button type="button" aria-pressed={has(picker.state.tray, uri)} onClick={() => picker.toggle(resource)}>
            {has(picker.state.tray, uri) ? texts.chosenAlready : texts.chooseThis}
          </button>
          <CopyButton texts={texts} label={texts.copyUri} text={async () => uri} />
        </div>
      )}
    </div>
  );
}

interface VariableProps extends Shared {
  readonly filling: Filling;
  readonly name: string;
  readonly isOptional: boolean;
}

/** A combo box: arrow keys move among the suggestions, Enter takes one, or the typed text. */
function VariableBox({ picker, language: { texts, code }, filling, name, isOptional }: VariableProps) {
  const words = templateTexts(code);
  const { suggestions, hasMore, isAsking, values } = filling;
  const [value, setValue] = useState(values[name] ?? "");
  // A highlighted position belongs to its list of suggestions only.
  const [pointed, setPointed] = useState({ at: -1, among: suggestions });
  const active = pointed.among === suggestions ? pointed.at : -1;
  const setActive = (at: number): void => setPointed({ at, among: suggestions });
  const [isOpen, setOpen] = useState(true);
  const isComposing = useRef(false);
  const box = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  // Selected before the paint, so that the first key replaces the old value.
  useLayoutEffect(() => {
    box.current?.focus();
    box.current?.select();
  }, [name]);
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: "nearest" }), [active]);
  const shown = isOpen ? suggestions : [];

  function typed(next: string): void {
    setValue(next);
    setActive(-1);
    setOpen(true);
    if (!isComposing.current) picker.typeValue(next);
  }

  /** A value that ends in a slash continues: there is more below it. */
  function take(next: string): void {
    if (next.endsWith("/") && next !== value) {
      typed(next);
      box.current?.focus();
    } else if (next !== "" || isOptional) picker.setValue(next);
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.isComposing) return;
    const last = shown.length - 1;
    if (event.key === "ArrowDown") {
      setOpen(true);
      setActive(Math.min(suggestions.length - 1, active + 1));
    } else if (event.key === "ArrowUp") setActive(Math.max(-1, active - 1));
    else if (event.key === "Enter") take(shown[Math.min(last, active)] ?? value);
    else if (event.key === "Escape") {
      if (isOpen && shown.length > 0) setOpen(false);
      else if (filling.at > 0) picker.goToVariable(filling.at - 1);
      else picker.unfill();
    } else return;
    event.preventDefault();
  }

  return (
    <>
      <label>
        {isOptional ? words.optional(name) : name}
        <input
          ref={box}
          type="text"
          role="combobox"
          autocomplete="off"
          spellcheck={false}
          value={value}
          aria-expanded={shown.length > 0}
          aria-autocomplete="list"
          aria-busy={isAsking}
          aria-required={!isOptional}
          {...(shown.length > 0 && { "aria-controls": "suggestions" })}
          {...(shown.length > 0 && active >= 0 && { "aria-activedescendant": `suggestion-${active}` })}
          onCompositionStart={() => (isComposing.current = true)}
          onCompositionEnd={({ currentTarget }) => {
            isComposing.current = false;
            typed(currentTarget.value);
          }}
          onInput={({ currentTarget }) => typed(currentTarget.value)}
          onKeyDown={onKeyDown}
        />
      </label>
      <button type="button" disabled={value === "" && !isOptional} onClick={() => picker.setValue(value)}>
        {value === "" && isOptional ? words.skip : words.next}
      </button>
      {shown.length > 0 && (
        <ul id="suggestions" ref={list} class="suggestions" role="listbox" aria-label={words.suggestions(name)}>
          {shown.map((each, index) => (
            <li
              key={each}
              id={`suggestion-${index}`}
              role="option"
              class={index === active ? "active" : ""}
              aria-selected={index === active}
              onClick={() => take(each)}
            >
              {each}
            </li>
          ))}
        </ul>
      )}
      <p class="quiet" role="status">
        {isAsking ? texts.loading : shown.length === 0 ? words.noSuggestions : hasMore ? words.more : ""}
      </p>
    </>
  );
}
