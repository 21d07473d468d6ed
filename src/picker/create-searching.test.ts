import { expect, it, vi } from "vitest";
import type { PagePart } from "./create-picker.ts";
import { createSearchController } from "./create-searching.ts";
import type { Hit, SearchResult } from "../resources.ts";
import { firstState, type State } from "./state.ts";

/** Responds with these shares of indexed content, one after the other; the last one repeatedly. */
function partOf(answers: readonly number[], failures?: SearchResult["failures"], hits: readonly Hit[] = []) {
  let asked = 0;
  let state: State = firstState;
  const part = {
    get state() {
      return state;
    },
    change: (next: Partial<State>) => void (state = { ...state, ...next }),
    pressmark: () => ({
      search: async () => ({ hits, ready: answers[Math.min(asked++, answers.length - 1)] ?? 1, failures }),
    }),
    call: (signal = new AbortController().signal) => ({ caller: { id: "picker" }, signal }),
  } as unknown as PagePart;
  return {
    part,
    asked: () => asked,
    ready: () => state.search.ready,
    failures: () => state.search.failures,
    search: () => state.search,
  };
}

it("searches again until everything is indexed, and not after that", async () => {
  vi.useFakeTimers();
  try {
    const { part, asked, ready } = partOf([0, 0.5, 1]);
    createSearchController(part).search("tea");
    await vi.advanceTimersByTimeAsync(200);
    expect([asked(), ready()]).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([asked(), ready()]).toEqual([3, 1]);
  } finally {
    vi.useRealTimers();
  }
});

it("reports why not everything was searched", async () => {
  vi.useFakeTimers();
  try {
    const { part, failures } = partOf([0], [{ mount: "docs", message: "the disk is full" }]);
    const searching = createSearchController(part);
    searching.search("tea");
    await vi.advanceTimersByTimeAsync(200);
    expect(failures()).toEqual(['"docs": the disk is full']);
    searching.endSearch();
  } finally {
    vi.useRealTimers();
  }
});

function hit(name: string, isMatch?: boolean): Hit {
  return { resource: { uri: `notes://a/${name}`, name }, score: 1, ...(isMatch !== undefined && { isMatch }) };
}

it("puts matches first, and what makes no claim among them", async () => {
  vi.useFakeTimers();
  try {
    const { part, search } = partOf([1], undefined, [hit("near", false), hit("exact", true), hit("unknown")]);
    createSearchController(part).search("tea");
    await vi.advanceTimersByTimeAsync(200);
    expect(search().hits.map(({ resource }) => resource.name)).toEqual(["exact", "unknown", "near"]);
    expect(search().matchCount).toBe(2);
  } finally {
    vi.useRealTimers();
  }
});

it("stops searching again when the search has ended", async () => {
  vi.useFakeTimers();
  try {
    const { part, asked } = partOf([0]);
    const searching = createSearchController(part);
    searching.search("tea");
    await vi.advanceTimersByTimeAsync(200);
    searching.endSearch();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});
