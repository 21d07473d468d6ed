/** Actions pass through the same layers as reads, except retry and limit. */
import { expect, it } from "vitest";
import { ResourceError } from "../errors.ts";
import type { Call } from "../resources.ts";
import type { Source, SourceAction } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { refusal } from "../testing/refusal.ts";
import { whereOf } from "./explain.ts";
import { withStandardLayers } from "./standard.ts";

const call: Call = { caller: { id: "test" }, signal: new AbortController().signal };
const { runtime } = createClock();

function layered(run: SourceAction["run"], options: Parameters<typeof withStandardLayers>[3] = {}) {
  const act: SourceAction = { description: "act", input: (zod) => zod.unknown(), run };
  const source: Source = { list: async () => ({ items: [] }), read: async () => [], actions: { act } };
  return withStandardLayers(source, { name: "m" }, runtime, options).actions!["act"]!.run;
}

it("is not retried after a passing error", async () => {
  let count = 0;
  const run = layered(async () => {
    count += 1;
    throw new ResourceError("unavailable", "away");
  });
  const error = await refusal(run({}, call), ["unavailable"], "a failing action");
  expect(count).toBe(1);
  expect(whereOf(error)).toEqual({ mount: "m", operation: "act" });
});

it("waits without taking the slot of the calls that it waits for", async () => {
  const done = Promise.withResolvers<void>();
  const run = layered(
    async (input) => {
      if (input === "store") done.resolve();
      else await done.promise;
      return { value: {} };
    },
    { maxAtOnce: 2, maxWaiting: 0 },
  );
  const waiting = ["find", "find", "find"].map((input) => run(input, call));
  await run("store", call);
  await Promise.all(waiting);
});

it("ends when it takes too long", async () => {
  const run = layered(() => new Promise(() => undefined), { timeoutMs: 1 });
  await refusal(run({}, call), ["unavailable"], "an action that hangs");
});
