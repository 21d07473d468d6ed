import { expect, it } from "vitest";
import { createBytePool } from "./byte-pool.ts";

/** A holder that releases one piece at a time, the oldest first. */
function holderIn(pool: ReturnType<typeof createBytePool>) {
  const pieces: number[] = [];
  const total = () => pieces.reduce((sum, each) => sum + each, 0);
  const share = pool.open(() => {
    pieces.shift();
    share.resize(total());
  });
  return {
    pieces,
    add(bytes: number) {
      pieces.push(bytes);
      share.resize(total());
    },
    clear() {
      pieces.length = 0;
      share.resize(0);
    },
  };
}

it("makes the largest holder release memory at the limit, and never one that holds clearly less", () => {
  const pool = createBytePool(1000);
  const [large, small] = [holderIn(pool), holderIn(pool)];
  for (let count = 0; count < 8; count++) large.add(100);
  small.add(100);
  small.add(150);
  expect([large.pieces.length, small.pieces]).toEqual([7, [100, 150]]);
  for (let count = 0; count < 50; count++) large.add(100);
  expect(small.pieces).toEqual([100, 150]);
  expect(pool.held).toBeLessThanOrEqual(1000);
});

it("makes the newcomer give up where it holds most", () => {
  const pool = createBytePool(1000);
  const others = Array.from({ length: 9 }, () => holderIn(pool));
  for (const other of others) other.add(100);
  const greedy = holderIn(pool);
  for (let count = 0; count < 10; count++) greedy.add(100);
  expect(others.map(({ pieces }) => pieces.length)).toEqual(others.map(() => 1));
  expect(greedy.pieces.length).toBe(1);
});

it("is empty again when everything was let go", () => {
  const pool = createBytePool(10);
  const holders = [holderIn(pool), holderIn(pool)];
  for (const each of holders) each.add(5);
  for (const each of holders) each.clear();
  expect(pool.held).toBe(0);
});

it("does not hang on one that gives up nothing", () => {
  const pool = createBytePool(10);
  const share = pool.open(() => {});
  share.resize(20);
  expect(pool.held).toBe(20);
});
