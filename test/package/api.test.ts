/** The names and signatures of the public API, as `api/` has them: a change of the API is a change of these files. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { apiReport } from "../../scripts/api-report.ts";

const folder = join(import.meta.dirname, "../../api");
const { pages, forgotten } = apiReport();

it("the pages in api/ are what the types say; npm run docs writes them", () => {
  expect(readdirSync(folder).sort()).toEqual([...pages.keys()].sort());
  for (const [name, text] of pages) expect(readFileSync(join(folder, name), "utf8"), name).toBe(text);
});

it("every type that a public signature names is exported, from src/index.ts or by the subpath itself", () => {
  expect(forgotten).toEqual([]);
});
