/** Every operation checks a source's own `maySee`. */
import { expect, it } from "vitest";
import { openPolicy } from "../access/policy.ts";
import { notFound } from "../errors.ts";
import { withStandardLayers } from "../layers/standard.ts";
import type { Call, Page } from "../resources.ts";
import type { Entry, Source, SourceChange } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { createResources } from "./create-resources.ts";

const as = (id: string): Call => ({ caller: { id }, signal: new AbortController().signal });
const entries: readonly Entry[] = [{ path: "for-alice" }, { path: "for-all" }, { path: "was-for-alice" }];
const updated = (name: string) => ({ kind: "updated", uri: `m://${name}` });
const page: Page<Entry> = { items: entries };

/** The visibility of a third entry changes while it is read. */
function createSource(changes: Promise<readonly SourceChange[]>): Source {
  let isTakenBack = false;
  return {
    async watch({ signal }) {
      const over = new Promise<undefined>((resolve) => signal.addEventListener("abort", () => resolve(undefined)));
      return (async function* report() {
        yield* (await Promise.race([changes, over])) ?? [];
        await over;
      })();
    },
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

it("hides from each caller what its source hides, in every operation, and shares no result", async () => {
  const { runtime, advance } = createClock();
  const changes = Promise.withResolvers<readonly SourceChange[]>();
  const source = withStandardLayers(createSource(changes.promise), { name: "m" }, runtime);
  const mounts = [{ name: "m", base: "m://", source, freshness: { scope: "public" as const } }];
  const pressmark = createResources({ mounts, policy: openPolicy, runtime, cursorKey: new Uint8Array(32) });
  const seen = async (call: Call) => {
    const found = await Promise.all([
      pressmark.list({}, call).then(({ items }) => items.map(({ uri }) => uri)),
      pressmark.children("m://", {}, call).then(({ items }) => items.map(({ uri }) => uri)),
      pressmark.search({ text: "for", limit: 9 }, call).then(({ hits }) => hits.map(({ resource }) => resource.uri)),
      pressmark
        .complete({ template: "m://{name}", variable: "name", value: "", given: {} }, call)
        .then(({ values }) => values.map((value) => `m://${value}`)),
    ]);
    return [...new Set(found.map((uris) => uris.toSorted().join(" ")))];
  };
  expect(await seen(as("alice"))).toEqual(["m://for-alice m://for-all m://was-for-alice"]);
  expect(await seen(as("bob"))).toEqual(["m://for-all"]);
  expect(await pressmark.read("m://for-alice", as("alice"))).toMatchObject({ scope: "private" });
  for (const asked of [pressmark.read("m://for-alice", as("bob")), pressmark.stat("m://for-alice", as("bob"))])
    await expect(asked).rejects.toMatchObject({ kind: "not-found" });
  const filter = { uris: entries.map(({ path }) => `m://${path}`), list: true };
  const stop = new AbortController();
  const watches = await Promise.all(
    ["alice", "bob"].map((id) => pressmark.watch(filter, { ...as(id), signal: stop.signal })),
  );
  expect(watches.map(({ uris }) => uris.length)).toEqual([3, 1]);
  changes.resolve([
    { kind: "appeared", path: "for-alice" },
    { kind: "changed", path: "for-all" },
  ]);
  await advance(1000);
  const [hers, his] = watches.map((watch) => watch[Symbol.asyncIterator]());
  // The last reported change is the first that he gets.
  expect((await his!.next()).value).toEqual(updated("for-all"));
  for (const change of [updated("for-alice"), { kind: "list-changed" }, updated("for-all")])
    expect((await hers!.next()).value).toEqual(change);
  stop.abort();
  // A change of visibility during the read counts.
  await expect(pressmark.read("m://was-for-alice", as("alice"))).rejects.toMatchObject({ kind: "not-found" });
  await pressmark.close();
});
