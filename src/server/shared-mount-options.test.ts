import { expect, it } from "vitest";
import analysis from "../sources/analysis.ts";
import file from "../sources/file.ts";
import { withSharedDatabase } from "./shared-mount-options.ts";

const state = "postgres://me:secret@db.example/app?sslmode=verify-full&schema=team&sslrootcert=/etc/ca.pem";
const schema = "pressmark_analysis";

it("stores results of analyses in the database of the instances, in a schema of their own", async () => {
  expect(await withSharedDatabase({ definition: analysis, options: { schema, maxBytes: 1 } }, state)).toEqual({
    url: "postgres://me:secret@db.example/app?sslmode=verify-full",
    ca: "/etc/ca.pem",
    schema: "team_analysis",
    maxBytes: 1,
  });
  expect(await withSharedDatabase({ definition: analysis, options: { schema: "own" } }, state)).toMatchObject({
    schema: "own",
  });
});

it.each([
  ["names a file", analysis, { path: "/a.db", schema }],
  ["names a database", analysis, { url: "postgres://other/db", schema }],
  ["is another source", file, { root: "/" }],
])("leaves a mount as it is that %s", async (_name, definition, options) => {
  expect(await withSharedDatabase({ definition: definition as never, options }, state)).toBe(options);
});

it("leaves every mount as it is in a server that runs alone", async () => {
  const options = { schema };
  expect(await withSharedDatabase({ definition: analysis as never, options }, undefined)).toBe(options);
});
