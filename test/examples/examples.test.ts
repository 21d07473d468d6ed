import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { promisify } from "node:util";
import { expect, it } from "vitest";

const run = promisify(execFile);
const folder = new URL("../../examples/", import.meta.url);
/** Needs programs of Debian: test/live/cluster-example.test.ts runs it. */
const elsewhere = ["cluster"];
const stories = readdirSync(folder, { withFileTypes: true }).flatMap((each) =>
  each.isDirectory() && !elsewhere.includes(each.name) ? [each.name] : [],
);

it("finds the examples", () => {
  expect(stories).toContain("calendar");
});

it.each(stories)("the example %s does what it says", async (story) => {
  const { stdout } = await run(process.execPath, [new URL(`${story}/check.ts`, folder).pathname]);
  expect(stdout).toContain("all is as it should be");
});
