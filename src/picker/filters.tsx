/** The search filters as select boxes. */
import type { Shared } from "./app.tsx";
import { audiences, type Filters, searchKinds, languages, priorities, spans } from "./filter-search.ts";
import type { State } from "./state.ts";
import type { PickerTexts } from "./texts.ts";
import { isFolder } from "./tree.ts";
import { shownTitle } from "./shown-title.ts";

type FilterChoices = readonly (readonly [
  name: keyof Filters,
  choices: readonly (readonly [value: string, label: string])[],
])[];

function choicesIn({ tree }: State, { filter }: PickerTexts): FilterChoices {
  return [
    ["source", tree.roots.filter(isFolder).map((root) => [root.uri, shownTitle(root)] as const)],
    ["kind", Object.keys(searchKinds).map((kind) => [kind, filter.kinds[kind as keyof typeof filter.kinds]] as const)],
    ["language", named(languages, filter.languages)],
    ["audience", named(audiences, filter.audiences)],
    ["priority", priorities.map((value) => [value, filter.atLeast(value)] as const)],
    ["since", named(spans, filter.spans)],
  ];
}

/** The filters that are set, as in "Type: Code". */
export function shownFilters(state: State, texts: PickerTexts) {
  const { filters } = state.search;
  return choicesIn(state, texts)
    .filter(([name]) => filters[name] !== "")
    .map(([name, values]) => {
      const [, shown] = values.find(([value]) => value === filters[name]) ?? [];
      return { name, label: texts.filter.chip(texts.filter[name], shown ?? filters[name]) };
    });
}

export function FiltersBar({ picker, language: { texts } }: Shared) {
  const { filter } = texts;
  return (
    <div id="filters" class="filters" role="group" aria-label={filter.title}>
      {choicesIn(picker.state, texts).map(([name, values]) => (
        <div key={name}>
          <label for={`filter-${name}`}>{filter[name]}</label>
          <select
            id={`filter-${name}`}
            value={picker.state.search.filters[name]}
            onChange={({ currentTarget }) => picker.filter({ [name]: currentTarget.value })}
          >
            <option value="">{filter.any}</option>
            {values.map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </div>
      ))}
    </div>
  );
}

function named<Name extends string>(values: readonly Name[], names: Readonly<Record<Name, string>>) {
  return values.map((value) => [value, names[value]] as const);
}
