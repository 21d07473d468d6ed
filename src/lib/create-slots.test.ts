import { expect, it } from "vitest";
import { createSlots } from "./create-slots.ts";

const never = new AbortController().signal;

it("runs a limited number concurrently, and the next one when a slot is freed, in order", async () => {
  const slot = createSlots(2);
  const [first, second] = [await slot(never), await slot(never)];
  const entered: string[] = [];
  const waiting = ["third", "fourth"].map(async (name) => {
    const free = await slot(never);
    entered.push(name);
    return free;
  });
  // Freeing twice counts once.
  first();
  first();
  await waiting[0];
  expect(entered).toEqual(["third"]);
  second();
  await waiting[1];
  expect(entered).toEqual(["third", "fourth"]);
});

it("a cancelled waiter gets the reason, and takes no slot", async () => {
  const slot = createSlots(1);
  const free = await slot(never);
  const leaving = new AbortController();
  const left = slot(leaving.signal);
  const stayed = slot(never);
  leaving.abort(new Error("gone"));
  await expect(left).rejects.toThrow("gone");
  await expect(slot(leaving.signal)).rejects.toThrow("gone");
  free();
  expect(await stayed).toBeTypeOf("function");
});

it("a freed slot goes to the waiter, also if another caller asks before the waiter resumes", async () => {
  const slot = createSlots(1);
  const free = await slot(never);
  const entered: string[] = [];
  const enter = async (name: string) => {
    const leave = await slot(never);
    entered.push(name);
    return leave;
  };
  const first = enter("first");
  free();
  const second = enter("second");
  const leave = await first;
  // The second would have entered by now.
  await new Promise(setImmediate);
  expect(entered).toEqual(["first"]);
  leave();
  await second;
});
