import { expect, it, vi } from "vitest";
import type { Desk } from "./create-picker.ts";
import { createSearching } from "./create-searching.ts";
import type { SearchAnswer } from "../resources.ts";
import { firstState, type State } from "./state.ts";

/** Answers with how much is indexed, one after the other; the last again and again. */
function deskOf(answers: readonly number[], failures?: SearchAnswer["failures"]) {
  let asked = 0;
  let state: State = firstState;
  const desk = {
    get state() {
      return state;
    },
    change: (next: Partial<State>) => void (state = { ...state, ...next }),
    house: () => ({
      search: async () => ({ hits: [], ready: answers[Math.min(asked++, answers.length - 1)] ?? 1, failures }),
    }),
    call: (signal = new AbortController().signal) => ({ caller: { id: "picker" }, signal }),
  } as unknown as Desk;
  return { desk, asked: () => asked, ready: () => state.search.ready, failures: () => state.search.failures };
}

it("asks again until all is indexed, and not after that", async () => {
  vi.useFakeTimers();
  try {
    const { desk, asked, ready } = deskOf([0, 0.5, 1]);
    createSearching(desk).search("tea");
    await vi.advanceTimersByTimeAsync(200);
    expect([asked(), ready()]).toEqual([1, 0]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([asked(), ready()]).toEqual([3, 1]);
  } finally {
    vi.useRealTimers();
  }
});

it("says why not all was searched", async () => {
  vi.useFakeTimers();
  try {
    const { desk, failures } = deskOf([0], [{ mount: "docs", message: "the disk is full" }]);
    const searching = createSearching(desk);
    searching.search("tea");
    await vi.advanceTimersByTimeAsync(200);
    expect(failures()).toEqual(['"docs": the disk is full']);
    searching.end();
  } finally {
    vi.useRealTimers();
  }
});

it("no longer asks for what is no longer looked for", async () => {
  vi.useFakeTimers();
  try {
    const { desk, asked } = deskOf([0]);
    const searching = createSearching(desk);
    searching.search("tea");
    await vi.advanceTimersByTimeAsync(200);
    searching.end();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked()).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});
