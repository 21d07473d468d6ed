/** Shows a query as people know it: filters by their names instead of the words that the page puts before the text. */
import { searchKinds } from "./filter-search.ts";
import type { PickerTexts } from "./texts.ts";

export function queryText(query: string, { filter, listSeparator, tree }: PickerTexts): string {
  const shown: string[] = [];
  let rest = `${query} `;
  const take = (words: string, name: string, value: string): void => {
    if (!rest.startsWith(`${words} `)) return;
    shown.push(filter.chip(name, value));
    rest = rest.slice(words.length + 1);
  };
  for (const [kind, words] of Object.entries(searchKinds))
    take(words.map((word) => `mime:${word}`).join(" "), filter.kind, nameOf(filter.kinds, kind));
  for (const [word, name, names] of [
    ["lang", filter.language, filter.languages],
    ["audience", filter.audience, filter.audiences],
    ["priority", filter.priority, {}],
    ["after", filter.since, filter.spans],
  ] as const) {
    const [, value] = new RegExp(`^${word}:(\\S{1,20}) `).exec(rest) ?? [];
    if (value !== undefined)
      take(`${word}:${value}`, name, word === "priority" ? filter.atLeast(value) : nameOf(names, value));
  }
  const text = rest.trim();
  return [...shown, ...(text === "" ? [] : [text === "path:*" ? tree : text])].join(listSeparator);
}

function nameOf(names: Readonly<Record<string, string>>, value: string): string {
  return names[value] ?? value;
}
