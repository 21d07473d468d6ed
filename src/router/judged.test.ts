/** A source that knows itself who may see what is asked at every door. */
import { expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { notFound } from "../errors.ts";
import { withStandardLayers } from "../layers/standard.ts";
import type { Call, Page } from "../resources.ts";
import type { Entry, Source } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const as = (id: string): Call => ({ caller: { id }, signal: new AbortController().signal });
const entries: readonly Entry[] = [{ path: "for-alice" }, { path: "for-all" }, { path: "was-for-alice" }];
const page: Page<Entry> = { items: entries };

/** What is said of a third thing changes while it is read. */
function createSource(): Source {
  let isTakenBack = false;
  return {
    list: async () => page,
    children: async () => page,
    stat: async ({ path }) => ({ path }),
    async read({ path }) {
      if (!entries.some((entry) => entry.path === path)) throw notFound(path);
      if (path === "was-for-alice") isTakenBack = true;
      return [{ body: { text: path }, reveals: { path } }];
    },
    search: async () => entries.map((entry, rank) => ({ entry, score: 1 / (rank + 1) })),
    templates: [{ template: "{name}", name: "One" }],
    complete: async () => entries.map(({ path }) => ({ value: path, reveals: { path } })),
    maySee: ({ id }, { path }) =>
      path === "" || path === "for-all" || (id === "alice" && !(path === "was-for-alice" && isTakenBack)),
  };
}

it("hides from each caller what its source hides, through every door, and keeps no answer for others", async () => {
  const { tools } = createClock();
  const source = withStandardLayers(createSource(), { name: "m" }, tools);
  const mounts = [{ name: "m", base: "m://", source, freshness: { scope: "public" as const } }];
  const house = createResources({ mounts, policy: openPolicy, tools, cursorKey: new Uint8Array(32) });
  const seen = async (call: Call) => {
    const found = await Promise.all([
      house.list({}, call).then(({ items }) => items.map(({ uri }) => uri)),
      house.children("m://", {}, call).then(({ items }) => items.map(({ uri }) => uri)),
      house.search({ text: "for", limit: 9 }, call).then(({ hits }) => hits.map(({ resource }) => resource.uri)),
      house
        .complete({ template: "m://{name}", variable: "name", value: "", given: {} }, call)
        .then(({ values }) => values.map((value) => `m://${value}`)),
    ]);
    return [...new Set(found.map((uris) => uris.toSorted().join(" ")))];
  };
  expect(await seen(as("alice"))).toEqual(["m://for-alice m://for-all m://was-for-alice"]);
  expect(await seen(as("bob"))).toEqual(["m://for-all"]);
  expect(await house.read("m://for-alice", as("alice"))).toMatchObject({ scope: "private" });
  for (const asked of [house.read("m://for-alice", as("bob")), house.stat("m://for-alice", as("bob"))])
    await expect(asked).rejects.toMatchObject({ kind: "not-found" });
  // What was just heard while it was read counts.
  await expect(house.read("m://was-for-alice", as("alice"))).rejects.toMatchObject({ kind: "not-found" });
  await house.close();
});
