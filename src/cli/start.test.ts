import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, it } from "vitest";

const dist = join(import.meta.dirname, "../../dist");

/** The files that loading these loads as well. */
function loadedWith(files: readonly string[]): ReadonlySet<string> {
  const loaded = new Set(files);
  for (const file of loaded)
    for (const specifier of importsOf(file))
      if (specifier.startsWith(".")) loaded.add(resolve(dirname(file), specifier));
  return loaded;
}

function importsOf(file: string): string[] {
  const code = readFileSync(file, "utf8");
  return [...code.matchAll(/(?:^|[;\n}])(?:import|export)\b[^;"'()]*?(?:from)?"([^"]+)"/g)].map(
    ([, specifier]) => specifier!,
  );
}

it("opening resources and searching them loads no package: resolving one takes longer than the rest", () => {
  const chunks = readdirSync(join(dist, "chunks")).filter((name) =>
    /^(?:open-server|inline-index|search|gather)-/.test(name),
  );
  const files = [join(dist, "cli.js"), ...chunks.map((name) => join(dist, "chunks", name))];
  const loaded = [...loadedWith(files)];
  expect(loaded.some((file) => /\/server-[^/]*\.js$/.test(file))).toBe(true);
  expect(loaded.flatMap((file) => importsOf(file).filter((specifier) => !specifier.startsWith(".")))).toEqual([]);
});
