import { expect, it } from "vitest";
import { ResourceError, unavailable } from "../errors.ts";
import type { SourceChange } from "../source.ts";
import { createClock } from "../testing/clock.ts";
import { createPollingWatch } from "./polling-watch.ts";

function openWatch(initial: Readonly<Record<string, string>>) {
  const { runtime, advance } = createClock();
  let seen: Readonly<Record<string, string>> | Error = initial;
  const watching = createPollingWatch({
    async look() {
      if (seen instanceof Error) throw seen;
      return new Map(Object.entries(seen));
    },
    pollMs: 1000,
    wait: runtime.wait,
  });
  return {
    watching,
    see(next: Readonly<Record<string, string>> | Error) {
      seen = next;
    },
    advance,
  };
}

/** Reads a watch until it ends. */
function collect(changes: AsyncIterable<SourceChange>) {
  const told: SourceChange[] = [];
  const over = (async () => {
    for await (const change of changes) told.push(change);
  })();
  return { told, over };
}

it("a polling watch reports what appeared, changed and went between two looks, to every watch", async () => {
  const { watching, see, advance } = openWatch({ a: "1", b: "1", c: "1" });
  const stop = new AbortController();
  const one = collect(await watching.watch(stop.signal));
  const other = collect(await watching.watch(stop.signal));
  await advance(1000);
  expect(one.told).toEqual([]);
  see({ a: "1", b: "2", d: "1" });
  await advance(1000);
  const expected = [
    { kind: "changed", path: "b" },
    { kind: "appeared", path: "d" },
    { kind: "gone", path: "c" },
  ];
  expect(one.told).toEqual(expected);
  expect(other.told).toEqual(expected);
  stop.abort();
  await Promise.all([one.over, other.over]);
  await watching.close();
});

it("a backend that is unavailable for a while counts as unchanged, and is polled less often", async () => {
  const { watching, see, advance } = openWatch({ a: "1" });
  const { told } = collect(await watching.watch(new AbortController().signal));
  see(unavailable("the backend is down"));
  await advance(1000);
  see({ a: "2" });
  await advance(1000);
  expect(told).toEqual([]);
  await advance(1000);
  expect(told).toEqual([{ kind: "changed", path: "a" }]);
  await watching.close();
});

it("a watch says why the backend is unavailable, anew after each look, until it can be looked at again", async () => {
  const { watching, see, advance } = openWatch({ a: "1" });
  const changes = await watching.watch(new AbortController().signal);
  expect(changes.failure).toBeUndefined();
  see(unavailable("the backend is down"));
  await advance(1000);
  const first = changes.failure;
  expect(first).toMatchObject({ kind: "unavailable", cause: { message: "the backend is down" } });
  await advance(2000);
  expect(changes.failure).toBeDefined();
  expect(changes.failure).not.toBe(first);
  see({ a: "1" });
  await advance(4000);
  expect(changes.failure).toBeUndefined();
  await watching.close();
});

it("any other failure ends the watches, and the next one looks anew", async () => {
  const { watching, see, advance } = openWatch({ a: "1" });
  const { over } = collect(await watching.watch(new AbortController().signal));
  const failure = expect(over).rejects.toThrow("the password is wrong");
  see(new ResourceError("denied", "the password is wrong"));
  await advance(1000);
  await failure;
  see({ a: "1" });
  const { told } = collect(await watching.watch(new AbortController().signal));
  see({});
  await advance(1000);
  expect(told).toEqual([{ kind: "gone", path: "a" }]);
  await watching.close();
});
