import { expect, it } from "vitest";
import { createTurns } from "./turns.ts";

it("others run during a long loop", async () => {
  const turn = createTurns();
  const other = { isDone: false };
  let rounds = 0;
  // Ends only if the other gets its turn.
  setImmediate(() => (other.isDone = true));
  while (!other.isDone) {
    rounds += 1;
    await turn();
  }
  expect(rounds).toBeGreaterThan(1);
});
