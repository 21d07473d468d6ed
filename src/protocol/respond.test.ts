import { expect, it } from "vitest";
import { progressOf } from "./respond.ts";
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
