/** Other changes each time. To try the same again: `CHURN_SEED=… npm run test:long -- churn`, after `npm run build`. */
import { afterEach, beforeEach, expect, it } from "vitest";
import { churn, makeFiles } from "../faults/churn.ts";
import { createStage, type Stage } from "../faults/stage.ts";

const seed = Number(process.env["CHURN_SEED"] ?? Math.trunc(Math.random() * 2 ** 31));
console.log(`CHURN_SEED=${seed}`);

let stage: Stage;
beforeEach(() => {
  stage = createStage();
});
// To remove 200,000 files takes minutes on a busy machine.
afterEach(() => stage.close(), 600_000);

it.each([20_000, 200_000])("each change among %i files is announced once", async (files) => {
  const paths = makeFiles(stage, files);
  const server = await stage.serve();
  const figures = await churn(stage, server, paths, { seed, written: 2500, others: 7500, folders: 48 });
  const { announcements, changed, missing, repeated, unchanged } = figures;
  const counts = { missing: missing.length, repeated: repeated.length, unchanged: unchanged.length };
  console.log(JSON.stringify({ files, announcements, changed, ...counts }));
  expect({ missing, repeated, unchanged }).toEqual({ missing: [], repeated: [], unchanged: [] });
});
