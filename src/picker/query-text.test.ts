import { expect, it } from "vitest";
import { noFilters, questionOf, searchKinds } from "./filter-search.ts";
import { queryText } from "./query-text.ts";
import { languageFor } from "./texts.ts";

const { texts } = languageFor(["en"]);
const shown = (text: string, filters: Partial<typeof noFilters>): string =>
  queryText(questionOf(text, { ...noFilters, ...filters })?.text ?? "", texts);

it.each(Object.keys(searchKinds))("a query names the filter for %s instead of types", (kind) => {
  expect(shown("kettle tea", { kind })).toMatch(/^Type: [A-Z][^:]*, kettle tea$/);
});

it("a query names every filter", () => {
  const all = { kind: "code", language: "ja", audience: "user", priority: "0.5", since: "7d" };
  expect(shown("", all)).toBe(
    "Type: Code, Language: Japanese, Meant for: People, Priority: 0.5 or more, Changed: in the last week",
  );
  expect(shown("", { source: "file:///a" })).toBe("All resources");
  expect(shown("mime:x tea", {})).toBe("mime:x tea");
});
