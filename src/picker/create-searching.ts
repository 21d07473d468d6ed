/** Searches as the person types; only the last search counts. */
import type { PagePart } from "./create-picker.ts";
import { messageOf } from "./message-of.ts";
import { agrees, type Filters, noFilters, questionOf } from "./filter-search.ts";
import { noSearch } from "./state.ts";
import type { Resource } from "../resources.ts";
import { sayFailures } from "../lib/say-failures.ts";
import { splitHits } from "../lib/split-hits.ts";

const mostHits = 50;
const mostFound = 20;
const pauseMs = 120;
/** While the index is incomplete, the search is repeated: soon, and then less and less often. */
const againMs = 1000;
const longestAgainMs = 15_000;

export function createSearchController(part: PagePart) {
  let asking = new AbortController();

  async function run(text: string, filters: Filters): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const request = questionOf(text, filters);
    if (!request) return part.change({ search: { ...noSearch, filters } });
    part.change({ search: { ...part.state.search, text, filters, status: "loading" } });
    const current = { text, filters } as const;
    let waitMs = pauseMs;
    for (let nextMs = againMs, isAll = false; !isAll; nextMs = Math.min(nextMs * 2, longestAgainMs)) {
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (signal.aborted) return;
      waitMs = nextMs;
      try {
        const call = part.call(signal);
        const result = await part.pressmark().search({ ...request, limit: mostHits, typing: true }, call);
        const { hits, ready } = result;
        const failures = sayFailures(result.failures ?? []);
        if (signal.aborted) return;
        const { matches, similar } = splitHits(hits.filter((hit) => agrees(hit, filters, Date.now())));
        const found = { hits: [...matches, ...similar], matchCount: matches.length, hasMore: hits.length >= mostHits };
        part.change({ search: { ...current, status: "ready", ...found, ready, failures } });
        isAll = ready >= 1;
      } catch (cause) {
        if (signal.aborted) return;
        return part.change({ search: { ...noSearch, ...current, status: "failed", problem: messageOf(cause) } });
      }
    }
  }

  return {
    search: (text: string) => void run(text, part.state.search.filters),
    /** Changes these filters only. */
    filter: (filters: Partial<Filters>) =>
      void run(part.state.search.text, { ...part.state.search.filters, ...filters }),
    /** The best resources for an incomplete text, each once, without changing the page. */
    async findResources(text: string, signal: AbortSignal): Promise<readonly Resource[]> {
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      const request = { text, limit: mostFound, typing: true };
      const { hits } = await part.pressmark().search(request, part.call(signal));
      return [...new Map(hits.map(({ resource }) => [resource.uri, resource])).values()];
    },
    /** Returns to the tree and clears the filters. */
    endSearch: () => void run("", noFilters),
  };
}
