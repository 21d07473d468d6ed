import { expect, it } from "vitest";
import type { SearchIndex } from "../search/search-index.ts";
import type { StoreHit } from "../search/store.ts";
import { createFairIndex } from "./fair-index.ts";

/** An index whose searches the test settles. */
function heldIndex() {
  const begun: string[] = [];
  const answers = new Map<string, () => void>();
  const held: SearchIndex = {
    problem: () => undefined,
    ready: () => 1,
    search: ({ text }) =>
      new Promise<readonly StoreHit[]>((resolve) => {
        begun.push(text);
        answers.set(text, () => resolve([]));
      }),
  };
  const index = createFairIndex(held, { viewerOf: () => undefined });
  const { signal } = new AbortController();
  const search = (text: string, client: object) =>
    index.search({ text, limit: 1, mounts: ["m"] }, { caller: { id: "all" }, client, signal });
  return { begun, search, answer: (text: string) => answers.get(text)?.() };
}

it("runs a search of another client next, although one client has very many waiting", async () => {
  const { begun, search, answer } = heldIndex();
  const [greedy, other] = [{}, {}];
  const flood = Array.from({ length: 500 }, (_, at) => search(`flood ${at}`, greedy));
  for (const each of flood) each.catch(() => undefined);
  const own = search("own", other);
  answer("own");
  expect(await own).toEqual([]);
  expect(begun.filter((text) => text !== "own").length).toBeLessThan(8);
});

it("rejects the last search of the client that fills the queue, with a retry time", async () => {
  const { begun, search } = heldIndex();
  const greedy = {};
  const flood = Array.from({ length: 1030 }, (_, at) => search(`flood ${at}`, greedy));
  for (const each of flood) each.catch(() => undefined);
  await expect(search("one more", greedy)).rejects.toMatchObject({ kind: "busy", details: { retryAfterMs: /\d+/ } });
  void search("first", {});
  void search("second", {});
  void search("third", {});
  await expect(flood.at(-1)).rejects.toMatchObject({ kind: "busy" });
  expect(begun).toContain("second");
});
