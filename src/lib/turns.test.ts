import { expect, it } from "vitest";
import { createTurns } from "./turns.ts";

it("others run during a long loop", async () => {
  const turn = createTurns();
  let isOver = false;
  let rounds = 0;
  // Ends only if it gets its turn.
  setImmediate(() => (isOver = true));
  while (!isOver) {
    rounds += 1;
    await turn();
  }
  expect(rounds).toBeGreaterThan(1);
});
