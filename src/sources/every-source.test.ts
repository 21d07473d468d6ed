/** Every source is complete; each failure lists what its author still has to do. */
import { expect, it } from "vitest";
import { defineSource, type SourceDefinition } from "../source.ts";
import { sources } from "./index.ts";
import { createMemory } from "./memory.ts";
import { missingComponents, missingSteps } from "./test-missing-steps.ts";

it.each(Object.keys(sources) as (keyof typeof sources)[])("%s has all that CONTRIBUTING.md lists", async (name) => {
  const { default: definition } = await sources[name]();
  expect(await missingSteps(name, definition as SourceDefinition)).toEqual([]);
});

it("every program that a test of a source starts is a component of .ci/run", () => {
  expect(missingComponents()).toEqual([]);
});

it("a new source gets an instruction for every step", async () => {
  const definition = defineSource({
    name: "other",
    summary: "Nothing yet",
    scheme: "unwritten",
    options: (z) => z.object({ root: z.string().meta({ format: "path" }) }),
    usesCredentials: () => true,
    open: async () => createMemory({}).source,
  });
  expect(
    (await missingSteps("unwritten", definition as SourceDefinition)).map((step) => step.split(/[;:]/)[0]),
  ).toEqual([
    "write name",
    'call sourceContract("unwritten", …) in src/sources/unwritten.test.ts or test/live/unwritten.test.ts',
    "write docs/sources/unwritten.md",
    "link docs/sources/unwritten.md in README.md, where it says what Pressmark serves",
    "add a line to CHANGELOG.md",
    "add unwritten to takenNames in create-pressmark-source/index.js, in alphabetical order",
    "write detect in src/sources/unwritten.ts, or say in undetectable of src/sources/test-missing-steps.ts why pressmark init cannot find it",
    "write filesOf in src/sources/unwritten.ts",
    "add unwritten to backendsAt in test/hostile/unreachable.test.ts",
  ]);
});
