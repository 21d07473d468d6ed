import { expect, it } from "vitest";
import { unavailable } from "../../errors.ts";
import type { SourceChange } from "../../source.ts";
import { createClock } from "../../testing/clock.ts";
import { watchObjects } from "./watch-objects.ts";

it("says why the store cannot be listed, anew after each attempt, until it can be listed again", async () => {
  const { runtime, advance } = createClock();
  let isAway = false;
  let version = "1";
  const stop = new AbortController();
  const watch = await watchObjects(
    {
      async list() {
        if (isAway) throw unavailable("the store is down");
        return { objects: [{ key: "a", size: 1, version, lastModified: undefined }], prefixes: [], more: false };
      },
      buckets: async () => ["b"],
      prefix: "",
      pathAt: (_, key) => key,
      pollMs: 1000,
      runtime,
      isServed: () => true,
    },
    stop.signal,
  );
  const told: SourceChange[] = [];
  const reading = (async () => {
    for await (const change of watch) told.push(change);
  })();
  await advance(1000);
  expect(watch.failure).toBeUndefined();
  isAway = true;
  await advance(1000);
  const first = watch.failure;
  expect(first).toMatchObject({ kind: "unavailable" });
  await advance(2000);
  expect(watch.failure).toBeDefined();
  expect(watch.failure).not.toBe(first);
  isAway = false;
  version = "2";
  await advance(4000);
  expect(watch.failure).toBeUndefined();
  expect(told).toEqual([{ kind: "changed", path: "a" }]);
  stop.abort();
  await reading;
});
