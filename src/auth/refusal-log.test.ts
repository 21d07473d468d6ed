import { expect, it } from "vitest";
import { createClock } from "../testing/clock.ts";
import { createRefusalLog } from "./refusal-log.ts";

it("each reason is told at once, and then at most once a minute with the number of those in between", async () => {
  const clock = createClock();
  const reported: string[] = [];
  const refuse = createRefusalLog({ runtime: clock.runtime, report: (reason) => reported.push(reason) });
  for (let times = 0; times < 1000; times += 1) refuse("expired");
  refuse("another audience");
  expect(reported).toEqual(["expired", "another audience"]);
  await clock.advance(60_000);
  refuse("expired");
  expect(reported).toHaveLength(3);
  expect(clock.logged.map(({ facts }) => facts)).toEqual([
    { reason: "expired" },
    { reason: "another audience" },
    { reason: "expired", refusedSince: 999 },
  ]);
});
