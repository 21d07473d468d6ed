/** The list of components (SBOM, CycloneDX) of the package. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Part } from "./parts.ts";

export interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly metadata: { readonly component: { readonly name: string; readonly version: string } };
  readonly components: readonly { readonly name: string; readonly version: string }[];
}

/**
 * From npm, in a copy of the manifest and the lock file without development: npm leaves out packages that are needed for both. Bundled code is
 * added, because npm does not know of it.
 */
export function createSbom(folder: string, parts: readonly Part[]): Sbom {
  const working = mkdtempSync(join(tmpdir(), "pressmark-sbom-"));
  try {
    const {
      devDependencies: _dev,
      peerDependencies: _peer,
      peerDependenciesMeta: _meta,
      ...manifest
    } = read("package.json");
    const lock = read("package-lock.json") as { packages: Record<string, { dev?: boolean }> };
    const { "": root, ...packages } = lock.packages;
    const kept = Object.entries(packages).filter(([, { dev }]) => dev !== true);
    const { devDependencies: _lockedDev, peerDependencies: _lockedPeer, ...own } = root as Record<string, unknown>;
    writeFileSync(join(working, "package.json"), JSON.stringify(manifest));
    writeFileSync(
      join(working, "package-lock.json"),
      JSON.stringify({ ...lock, packages: { "": own, ...Object.fromEntries(kept) } }),
    );
    const words = ["sbom", "--sbom-format", "cyclonedx", "--package-lock-only"];
    const text = execFileSync("npm", words, { cwd: working, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
    const { metadata, components, ...rest } = JSON.parse(text) as Sbom;
    const bundled = parts.filter(
      ({ kind, name }) => kind === "bundled" && !components.some((each) => each.name === name),
    );
    return {
      ...rest,
      // npm takes the name of the folder.
      metadata: { ...metadata, component: { ...metadata.component, name: String(manifest["name"]) } },
      components: [...components, ...bundled.map(toComponent)],
    };
  } finally {
    rmSync(working, { recursive: true, force: true });
  }

  function read(name: string): Record<string, unknown> {
    return JSON.parse(readFileSync(join(folder, name), "utf8")) as Record<string, unknown>;
  }
}

function toComponent({ name, version, licence }: Part) {
  return {
    "bom-ref": `${name}@${version}`,
    type: "library",
    name,
    version,
    scope: "required",
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    licenses: [/[ ()]/.test(licence) ? { expression: licence } : { license: { id: licence } }],
  };
}

/** Compares it with the parts: every component once, and nothing else. */
export function sbomProblems(
  { bomFormat, metadata, components }: Sbom,
  parts: readonly Part[],
  version: string,
): readonly string[] {
  const listed = components.map((each) => `${each.name} ${each.version}`);
  const wanted = parts.filter(({ kind }) => kind !== "embedded").map((each) => `${each.name} ${each.version}`);
  return [
    ...(bomFormat === "CycloneDX" ? [] : [`npm made a list in the format ${bomFormat}`]),
    ...(metadata.component.version === version ? [] : [`the list of components is for ${metadata.component.version}`]),
    ...[...new Set(wanted)]
      .filter((each) => !listed.includes(each))
      .map((each) => `the list of components lacks ${each}`),
    ...listed
      .filter((each) => !wanted.includes(each))
      .map((each) => `the list of components has ${each}, which is no part`),
  ];
}
