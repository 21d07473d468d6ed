/** The filters that are set, each with a button that removes it. */
import { useRef } from "preact/hooks";
import type { Shared } from "./app.tsx";
import { shownFilters } from "./filters.tsx";

interface FilterChipsProps extends Shared {
  readonly clearFilters: () => void;
  /** Called when the focused chip has gone and none is left. */
  readonly leave: () => void;
}

export function FilterChips({ picker, language: { texts }, clearFilters, leave }: FilterChipsProps) {
  const list = useRef<HTMLUListElement>(null);
  const chips = shownFilters(picker.state, texts);
  if (chips.length === 0) return null;

  function remove(at: number): void {
    const name = chips[at]?.name;
    if (name === undefined) return;
    picker.filter({ [name]: "" });
    if (chips.length === 1) leave();
    // The next chip takes this place when the page is drawn again.
    else
      requestAnimationFrame(() =>
        [...(list.current?.querySelectorAll("button") ?? [])][Math.min(at, chips.length - 2)]?.focus(),
      );
  }

  return (
    <ul class="chips" aria-label={texts.filter.set} ref={list}>
      {chips.map(({ name, label }, at) => (
        <li key={name}>
          <button type="button" class="chip" onClick={() => remove(at)}>
            <span class="unseen">{texts.filter.remove} </span>
            {label} <span aria-hidden="true">×</span>
          </button>
        </li>
      ))}
      <li>
        <button type="button" class="link" onClick={clearFilters}>
          {texts.filter.clear}
        </button>
      </li>
    </ul>
  );
}
