/** The search's questions: asked as one types, the last one alone. */
import { type Desk, messageOf } from "./create-picker.ts";
import { agrees, type Filters, noFilters, questionOf } from "./filter-search.ts";
import { noSearch } from "./state.ts";

export interface Searching {
  search(text: string): void;
  /** Those that are named change, the others stay. */
  filter(filters: Partial<Filters>): void;
  /** Back to the tree; the filters are forgotten. */
  end(): void;
}

const mostHits = 50;
const pauseMs = 120;

export function createSearching(desk: Desk): Searching {
  let asking = new AbortController();

  async function ask(text: string, filters: Filters): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const question = questionOf(text, filters);
    if (!question) return desk.change({ search: { ...noSearch, filters } });
    desk.change({ search: { ...desk.state.search, text, filters, status: "loading" } });
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
    if (signal.aborted) return;
    const asked = { text, filters } as const;
    try {
      const call = desk.call(signal);
      const { hits, ready } = await desk.house().search({ ...question, limit: mostHits, typing: true }, call);
      if (signal.aborted) return;
      const kept = hits.filter((hit) => agrees(hit, filters, Date.now()));
      desk.change({ search: { ...asked, status: "ready", hits: kept, hasMore: hits.length >= mostHits, ready } });
    } catch (cause) {
      if (signal.aborted) return;
      desk.change({ search: { ...noSearch, ...asked, status: "failed", problem: messageOf(cause) } });
    }
  }

  return {
    search: (text) => void ask(text, desk.state.search.filters),
    filter: (filters) => void ask(desk.state.search.text, { ...desk.state.search.filters, ...filters }),
    end: () => void ask("", noFilters),
  };
}
