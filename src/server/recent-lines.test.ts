import { expect, it } from "vitest";
import { createRecentLines } from "./recent-lines.ts";

it("passes every line on, and keeps the last 200, cut", () => {
  const passed: string[] = [];
  const log = createRecentLines({ write: (text: string) => passed.push(text) > 0 });
  for (let count = 1; count <= 250; count += 1) log.write(`line ${count}\n`);
  log.write(`${"x".repeat(5000)}\n`);
  expect(passed).toHaveLength(251);
  expect(passed.at(-1)).toHaveLength(5001);
  expect(log.lines()).toHaveLength(200);
  expect(log.lines()[0]).toBe("line 52");
  expect(log.lines().at(-1)).toBe("x".repeat(1000));
});
