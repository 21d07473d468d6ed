/** The search filters as select boxes. */
import type { Shared } from "./app.tsx";
import {
  audiences,
  type Filters,
  isFiltered,
  searchKinds,
  languages,
  noFilters,
  priorities,
  spans,
} from "./filter-search.ts";
import { isFolder } from "./tree.ts";
import { shortTitle } from "../lib/own-title.ts";

export function FiltersBar({ picker, language: { texts } }: Shared) {
  const { search, tree } = picker.state;
  const { filter } = texts;
  const choices: readonly (readonly [name: keyof Filters, choices: readonly (readonly [string, string])[]])[] = [
    ["source", tree.roots.filter(isFolder).map((root) => [root.uri, shortTitle(root)] as const)],
    ["kind", Object.keys(searchKinds).map((kind) => [kind, filter.kinds[kind as keyof typeof filter.kinds]] as const)],
    ["language", named(languages, filter.languages)],
    ["audience", named(audiences, filter.audiences)],
    ["priority", priorities.map((value) => [value, filter.atLeast(value)] as const)],
    ["since", named(spans, filter.spans)],
  ];
  return (
    <div id="filters" class="filters" role="group" aria-label={filter.title}>
      {choices.map(([name, values]) => (
        <div key={name}>
          <label for={`filter-${name}`}>{filter[name]}</label>
          <select
            id={`filter-${name}`}
            value={search.filters[name]}
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
      <button type="button" aria-disabled={!isFiltered(search.filters)} onClick={() => picker.filter(noFilters)}>
        {filter.reset}
      </button>
    </div>
  );
}

function named<Name extends string>(values: readonly Name[], names: Readonly<Record<Name, string>>) {
  return values.map((value) => [value, names[value]] as const);
}
