import { expect, it } from "vitest";
import type { Policy } from "../access/policy.ts";
import type { Call } from "../resources.ts";
import type { IndexQuery, SearchIndex } from "../search/search-index.ts";
import type { Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const call: Call = { caller: { id: "aki" }, signal: new AbortController().signal };
const policy: Policy = { maySee: () => true, visibilityKey: () => "same" };
const plain: Source = { list: async () => ({ items: [] }), read: async () => [] };
const decidesItself: Source = { ...plain, maySee: () => true };

/** The questions that an index of the mount "m" gets. */
async function askedOf(m: Source, unindexed: Source): Promise<readonly IndexQuery[]> {
  const asked: IndexQuery[] = [];
  const index: SearchIndex = {
    ready: (mount) => (mount === "m" ? 1 : undefined),
    problem: () => undefined,
    async search(query) {
      asked.push(query);
      return [];
    },
  };
  const mounts = [
    { name: "m", base: "m://", source: m },
    { name: "n", base: "n://", source: unindexed },
  ];
  const resources = createResources({
    mounts,
    policy,
    index,
    runtime: createClock().runtime,
    cursorKey: new Uint8Array(32),
  });
  await resources.search({ text: "tea", limit: 1 }, call);
  await resources.close();
  return asked;
}

it("an index decides by itself who sees what, where that depends on the policy alone", async () => {
  expect((await askedOf(plain, decidesItself))[0]?.viewer?.key).toMatch(/ same$/);
});

it("it does not where the backend decides for each caller, and may decide otherwise later", async () => {
  const [query] = await askedOf(decidesItself, plain);
  expect(query?.text).toBe("tea");
  expect(query?.viewer).toBeUndefined();
});
