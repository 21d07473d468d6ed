import { expect, it } from "vitest";
import type { SourceChange } from "../../source.ts";
import { createClock } from "../../testing/clock.ts";
import { collectChanges } from "../../testing/listen.ts";
import { createSharedWatch } from "../../backends/shared-watch.ts";
import { useServers } from "./test-server.ts";
import { resultOf } from "./test-results.ts";
import { createAnalysisWatch } from "./watch.ts";

const open = useServers();
const saying = (kind: string, id: unknown) => (change: SourceChange) =>
  change.kind === kind && "path" in change && change.path === `results/${id}`;

it("reports what is written, written again, expired and removed", async () => {
  const { source, keep, call, clock } = open({ options: { staleMs: 60_000, pollMs: 60_000 } });
  const heard = collectChanges(await source.watch!(call));
  const { id } = await keep({ taskType: "simple" });
  await clock.settle();
  await heard.until(saying("appeared", id), "that it appeared");
  await keep({ taskType: "simple", result: resultOf({ content: "Otherwise." }) });
  await clock.settle();
  await heard.until(saying("changed", id), "that it changed");

  const before = heard.heard.length;
  await clock.advance(15 * 60_000);
  await heard.until(
    (change) => heard.heard.indexOf(change) >= before && saying("changed", id)(change),
    "that it expired",
  );
  await clock.advance(120_000);
  await heard.until(saying("gone", id), "that it is gone");
});

it("reports writes of another process, by polling", async () => {
  const one = open();
  const heard = collectChanges(await one.source.watch!(one.call));
  const other = open({ path: one.path });
  const { id } = await other.keep();
  await one.clock.advance(1000);
  await heard.until(saying("appeared", id), "that it appeared");
});

it.each(["as many", "lost"] as const)("reports one general change if there are too many (%s)", async (how) => {
  const { runtime, advance } = createClock();
  const many = Array.from({ length: 1001 }, (_, seq) => ({ seq, kind: "appeared" as const, id: String(seq) }));
  const store = {
    changes: async (after = 0) => ({ last: after === 0 ? 1 : 1001, changes: how === "lost" ? how : many }),
    expired: async () => ({ ids: [] }),
  };
  const watching = createSharedWatch(createAnalysisWatch({ store, runtime, pollMs: 1000, onWrite: () => undefined }));
  const heard = collectChanges(await watching.watch(new AbortController().signal));
  await advance(1000);
  await watching.close();
  await heard.ended;
  expect(heard.heard).toEqual([{ kind: "lost" }]);
});

it("the store knows when it has dropped changes", async () => {
  const { keep, store } = open();
  await keep();
  expect(await store.changes(0)).toMatchObject({ last: 1, changes: [{ kind: "appeared" }] });
  expect(await store.changes(-2)).toEqual({ last: 1, changes: "lost" });
});
