import { expect, it } from "vitest";
import { createWaiters } from "./create-waiters.ts";

const never = new AbortController().signal;

it("resumes all that wait, and none that comes later", async () => {
  const waiters = createWaiters<number>();
  const early = [waiters.wait(never), waiters.wait(never)];
  waiters.resume(1);
  const late = waiters.wait(never);
  expect(waiters.count).toBe(1);
  waiters.resume(2);
  expect(await Promise.all([...early, late])).toEqual([1, 1, 2]);
  expect(waiters.count).toBe(0);
});

it("forgets a call whose signal ends, and rejects with its reason", async () => {
  const waiters = createWaiters<number>();
  const stop = new AbortController();
  const left = waiters.wait(stop.signal);
  const stays = waiters.wait(never);
  expect(waiters.count).toBe(2);
  stop.abort("over");
  await expect(left).rejects.toBe("over");
  expect(waiters.count).toBe(1);
  await expect(waiters.wait(stop.signal)).rejects.toBe("over");
  expect(waiters.count).toBe(1);
  waiters.resume(3);
  expect(await stays).toBe(3);
});
