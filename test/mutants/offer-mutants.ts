/** Faults of templates, suggestions, search and claims. */
import type { Source, SourceHit } from "../../src/source.ts";
import { toSourceHits } from "../../src/source.ts";
import { type Mutant, remembering } from "./mutant.ts";

function onHits(source: Source, change: (hits: readonly SourceHit[]) => readonly SourceHit[]): Partial<Source> {
  return { search: async (request, call) => change(toSourceHits(await source.search!(request, call)).hits) };
}

export const offerMutants: readonly Mutant[] = [
  {
    name: "suggests the best last",
    group: "complete",
    needs: "complete",
    says: /the best of the suggestions/,
    wrap: (source) => ({
      complete: async (request, call) => (await source.complete!(request, call)).toReversed(),
    }),
  },
  {
    name: "suggests nothing",
    group: "complete",
    needs: "complete",
    wrap: () => ({ complete: async () => [] }),
  },
  {
    name: "suggests values for an unknown variable",
    group: "complete",
    needs: "complete",
    wrap: (source) => ({
      async complete(request, call) {
        const values = await source.complete!(request, call);
        return values.length > 0 ? values : [{ value: "x" }];
      },
    }),
  },
  {
    name: "has a template twice",
    group: "templates",
    needs: "templates",
    wrap: (source) => ({ templates: [...source.templates!, ...source.templates!] }),
  },
  {
    name: "has templates that are absolute",
    group: "templates",
    needs: "templates",
    wrap: (source) => ({
      templates: source.templates!.map((each) => ({ ...each, template: `memory://m/${each.template}` })),
    }),
  },
  {
    name: "finds the best last",
    group: "search",
    needs: "search",
    wrap: (source) => onHits(source, (hits) => hits.map((hit, index) => ({ ...hit, score: index }))),
  },
  {
    name: "finds more than requested",
    group: "search",
    needs: "search",
    says: /with limit 1 returned \d+ hits/,
    wrap: (source) => ({ search: (request, call) => source.search!({ ...request, limit: 100 }, call) }),
  },
  {
    name: "searches everywhere",
    group: "search",
    needs: "search",
    wrap: (source) => ({ search: ({ text, limit }, call) => source.search!({ text, limit }, call) }),
  },
  {
    name: "searches beside the scope as well",
    group: "search",
    needs: "search",
    says: /within '[^']+' contain '[^']+', which is outside/,
    wrap: (source) => ({
      async search({ text, limit, within: scope = "" }, call) {
        const { hits } = toSourceHits(await source.search!({ text, limit: 1000 }, call));
        return hits.filter(({ entry }) => entry.path.startsWith(scope)).slice(0, limit);
      },
    }),
  },
  { name: "finds nothing", group: "search", needs: "search", wrap: (source) => onHits(source, () => []) },
  {
    name: "finds what does not exist",
    group: "search",
    needs: "search",
    wrap: (source) =>
      onHits(source, (hits) => (hits.length > 0 ? hits : [{ entry: { path: "readme.md" }, score: 1, snippet: "" }])),
  },
  {
    name: "searches as before a write",
    group: "writes",
    needs: "search",
    says: /the hits for 'wrxqz' after a write: 'just-written.txt' is missing/,
    wrap: (source) => ({ search: remembering(source.search!.bind(source)) }),
  },
  {
    name: "has an ability that it does not claim",
    group: "has the abilities",
    says: /abilities that the setup does not claim: `skills`/,
    wrap: () => ({ skills: async () => ({ items: [] }) }),
  },
  {
    name: "lacks an ability that it claims",
    group: "has the abilities",
    says: /abilities that the source lacks: `stat`/,
    wrap: () => ({ stat: undefined as never }),
  },
];
