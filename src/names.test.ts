/** One exported type name means one thing, so that a search for it finds one declaration. */
import { readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { expect, it } from "vitest";

const ofTests = /(?:\.test|(?:^|\/)test-[^/]*)\.tsx?$/;
const declaration = /^export (?:declare )?(?:abstract )?(?:interface|type|class|enum) ([A-Za-z]\w*)/gm;

it("an exported type name is declared in one module", () => {
  const modules = new Map<string, string[]>();
  for (const name of readdirSync(import.meta.dirname, { recursive: true, encoding: "utf8" })) {
    const module = name.split(sep).join("/");
    if (!/\.tsx?$/.test(module) || ofTests.test(module)) continue;
    for (const [, type = ""] of readFileSync(join(import.meta.dirname, name), "utf8").matchAll(declaration))
      modules.set(type, [...(modules.get(type) ?? []), module]);
  }
  expect(modules.size).toBeGreaterThan(500);
  expect([...modules].filter(([, declaring]) => declaring.length > 1)).toEqual([]);
});
