import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const folder = new URL("../../examples/", import.meta.url);
const stories = readdirSync(folder, { withFileTypes: true }).flatMap((each) => (each.isDirectory() ? [each.name] : []));

it("finds the examples", () => {
  expect(stories).toContain("calendar");
});

it.each(stories)("the example %s does what it says", async (story) => {
  const { stdout } = await run(process.execPath, [new URL(`${story}/check.ts`, folder).pathname]);
  expect(stdout).toContain("all is as it should be");
});
