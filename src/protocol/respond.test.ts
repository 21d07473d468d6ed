import { expect, it } from "vitest";
import { progressOf, toResponder } from "./respond.ts";
import type { RequestOutcome } from "./request-observer.ts";
import { revision20251125 } from "./revisions/2025-11-25.ts";

it("progress increases, and a slow reader gets it again after catching up", async () => {
  const said: unknown[] = [];
  let slow: PromiseWithResolvers<void> | undefined;
  const progress = progressOf({ _meta: { progressToken: 7 } }, revision20251125, (_method, { progress: done }) => {
    said.push(done);
    return slow?.promise;
  });
  progress?.(1);
  progress?.(1);
  slow = Promise.withResolvers();
  for (let done = 2; done < 1000; done++) progress?.(done);
  expect(said).toEqual([1, 2]);
  slow.resolve();
  await slow.promise;
  progress?.(1000);
  expect(said).toEqual([1, 2, 1000]);
});

it("an observer hears of requests, not of responses", () => {
  const observed: RequestOutcome[] = [];
  const observer = {
    came() {},
    requested() {},
    read() {},
    answered: (outcome: RequestOutcome) => void observed.push(outcome),
  };
  const reply = { notify() {}, end() {} };
  toResponder({ jsonrpc: "2.0", id: 1, result: {} }, reply, observer).end();
  toResponder({ jsonrpc: "2.0", id: 1, method: "ping" }, reply, observer).end();
  expect(observed).toMatchObject([{ method: "ping", outcome: "cancelled" }]);
});
