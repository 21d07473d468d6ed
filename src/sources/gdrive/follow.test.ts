import { expect, it } from "vitest";
import { unavailable } from "../../errors.ts";
import { createClock } from "../../testing/clock.ts";
import { createFollowing } from "./follow.ts";
import { openLedger } from "./ledger.ts";

it("says why Drive cannot be asked, anew after each attempt, until it answers again", async () => {
  const { runtime, advance } = createClock();
  const ledger = await openLedger({ file: undefined, folders: [] });
  let isAway = false;
  const sync = {
    async now() {
      if (isAway) throw unavailable("Drive is down");
    },
    within: async () => undefined,
    isFresh: () => true,
    expire: () => undefined,
    hasCaughtUp: true,
    close: async () => undefined,
  };
  const following = createFollowing({ sync, ledger, runtime, pollMs: 1000 });
  const watch = await following.watch(new AbortController().signal);
  await advance(1000);
  expect(watch.failure).toBeUndefined();
  isAway = true;
  await advance(1200);
  const first = watch.failure;
  expect(first).toMatchObject({ kind: "unavailable", cause: { message: "Drive is down" } });
  await advance(2000);
  expect(watch.failure).toBeDefined();
  expect(watch.failure).not.toBe(first);
  isAway = false;
  await advance(4000);
  expect(watch.failure).toBeUndefined();
  await following.close();
  ledger.close();
});
