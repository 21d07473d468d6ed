import { describe, expect, it } from "vitest";
import { createDeadlines } from "./deadlines.ts";

describe("deadlines", () => {
  it("that are not met in time are missed once, and the others are not", async () => {
    const deadlines = createDeadlines(1);
    const missed: string[] = [];
    const met = deadlines.add(1, () => missed.push("met"));
    deadlines.add(60_000, () => missed.push("far"));
    deadlines.add(1, () => missed.push("first"));
    deadlines.met(met);
    await new Promise<void>((resolve) => {
      deadlines.add(5, resolve);
    });
    await new Promise<void>((resolve) => {
      deadlines.add(5, resolve);
    });
    expect(missed).toEqual(["first"]);
  });
});
