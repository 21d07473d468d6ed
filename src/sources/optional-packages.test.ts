import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { bundledPackages } from "../../scripts/bundled-packages.ts";

const { peerDependencies } = JSON.parse(readFileSync(join(import.meta.dirname, "../../package.json"), "utf8")) as {
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** Specifiers of imports that run when the file is loaded, not those of types. */
function importsOf(file: string): string[] {
  const code = readFileSync(file, "utf8");
  return [...code.matchAll(/^(?:import|export)\s(?!type\s)[^;()]*?\bfrom "([^"]+)";/gm)].map(
    ([, specifier]) => specifier!,
  );
}

/** Packages that loading a file loads, with the file that imports each. */
function packagesOf(file: string): ReadonlyMap<string, string> {
  const packages = new Map<string, string>();
  const files = new Set([file]);
  for (const each of files)
    for (const specifier of importsOf(each))
      if (specifier.startsWith(".")) files.add(resolve(each, "..", specifier));
      else packages.set(specifier, each);
  return packages;
}

/** Used in every program: it is part of the chunks that are always loaded. */
const isLarge = (name: string) => name !== "@std-uritemplate/std-uritemplate";

const sources = readdirSync(import.meta.dirname).filter((name) => /^[a-z0-9]+\.ts$/.test(name));

it.each(sources)(
  "%s is loaded without optional and large packages: a mount must not fail, nor start later, because another one needs some",
  (name) => {
    const optional = [...Object.keys(peerDependencies), ...bundledPackages.filter(isLarge), "unpdf"];
    const loaded = [...packagesOf(join(import.meta.dirname, name))].filter(([specifier]) =>
      optional.some((each) => specifier === each || specifier.startsWith(`${each}/`)),
    );
    expect(loaded, "load it on first use: await import(…)").toEqual([]);
  },
);
