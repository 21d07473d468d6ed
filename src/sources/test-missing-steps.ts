/** Checks that a source has everything that "Add a source" in CONTRIBUTING.md lists. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { z } from "zod";
import { bundledPackages } from "../../scripts/bundled-packages.ts";
import { withOptions } from "../config/reference.ts";
import type { SourceDefinition } from "../source.ts";

const root = join(import.meta.dirname, "../..");

/** Sources without a contract, with the reason. */
const withoutContract: Readonly<Record<string, string>> = {
  data: "lists nothing: its content is in the URI",
};

/** Sources that `pressmark init` cannot detect, with the reason. */
const undetectable: Readonly<Record<string, string>> = {
  data: "serves what is in the URI, nothing of a project",
  file: "init always writes a mount of the folder itself",
  mcp: "servers that a project names are in the settings of its hosts, which use them themselves",
  memory: "serves what its config or program contains",
};

/** Sources with credentials whose errors test/hostile/unreachable.test.ts need not cover, with the reason. */
const reachable: Readonly<Record<string, string>> = {
  analysis: "connects as postgres does",
  config: "reads files and the environment",
  web: "src/sources/web.test.ts shows that its errors do not reveal addresses",
};

/**
 * Programs that every machine with Debian and Node has, those that a component of .ci/run brings beside the one it is named by, and
 * kubectl, without which a test is skipped: that of Debian is too old.
 */
const presentPrograms: ReadonlySet<string> = new Set(
  "git id kubectl ldd mkfifo npm script sh systemd-analyze promtool swift-ring-builder tar".split(" "),
);

interface Package {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** What is still to do, each as an instruction. */
export async function missingSteps(name: string, definition: SourceDefinition): Promise<string[]> {
  return [
    ...nameSteps(name, definition),
    ...contractSteps(name),
    ...(await pageSteps(name, definition)),
    ...linkSteps(name),
    ...takenSteps(name, definition),
    ...detectSteps(name, definition),
    ...fileSteps(name, definition),
    ...packageSteps(name),
    ...unreachableSteps(name, definition),
  ];
}

function nameSteps(name: string, definition: SourceDefinition): string[] {
  return definition.name === name ? [] : [`write name: "${name}" in src/sources/${name}.ts, as in index.ts`];
}

function contractSteps(name: string): string[] {
  const files = ["src/sources", "test/live"].map((folder) => `${folder}/${name}.test.ts`);
  return name in withoutContract || files.some((file) => textOf(file).includes("sourceContract("))
    ? []
    : [`call sourceContract("${name}", …) in ${files.join(" or ")}; src/sources/memory.test.ts is a model`];
}

async function pageSteps(name: string, definition: SourceDefinition): Promise<string[]> {
  const file = `docs/sources/${name}.md`;
  const page = textOf(file);
  if (page === "")
    return [
      `write ${file}: the heading "# ${name}", a config with "source: ${name}", and "<!-- options -->" and "<!-- end -->" where the options belong; then run: npm run docs`,
    ];
  const filled = await withOptions(page, definition).catch((cause: unknown) => String(cause));
  return [
    ...(new RegExp(`^# ${name}(?::|\n)`).test(page) ? [] : [`begin ${file} with "# ${name}" or "# ${name}: …"`]),
    ...(page.includes(`source: ${name}`) ? [] : [`show a config with "source: ${name}" in ${file}`]),
    ...(filled === page ? [] : [`run npm run docs: the options in ${file} are out of date, or their place is missing`]),
  ];
}

function linkSteps(name: string): string[] {
  const line = new RegExp(`^- (?:(?:[a-z0-9, ]+, )?${name}(?:, [a-z0-9, ]+)?: |sources: .*\`${name}\`)`, "m");
  return [
    ...(textOf("README.md").includes(`](docs/sources/${name}.md)`)
      ? []
      : [`link docs/sources/${name}.md in README.md, where it says what Pressmark serves`]),
    ...(line.test(textOf("CHANGELOG.md")) ? [] : [`add a line to CHANGELOG.md: "- ${name}: …"`]),
  ];
}

/** A package with the name or scheme of a built-in source would be refused. */
function takenSteps(name: string, { scheme }: SourceDefinition): string[] {
  const file = "create-pressmark-source/index.js";
  const taken = /"(about [^"]*)"/.exec(textOf(file))?.[1]?.split(" ") ?? [];
  return [...new Set([name, scheme])]
    .filter((each) => !taken.includes(each))
    .map((each) => `add ${each} to takenNames in ${file}, in alphabetical order`);
}

function detectSteps(name: string, { detect }: SourceDefinition): string[] {
  if (detect ? !(name in undetectable) : name in undetectable) return [];
  return [
    detect
      ? `remove ${name} from undetectable in src/sources/test-missing-steps.ts: it has detect`
      : `write detect in src/sources/${name}.ts, or say in undetectable of src/sources/test-missing-steps.ts why pressmark init cannot find it`,
  ];
}

/** A source that serves a folder names it by the option `root`. */
function fileSteps(name: string, { options }: SourceDefinition): string[] {
  const { properties = {} } = z.toJSONSchema(options(z), { io: "input", unrepresentable: "any" });
  const unmarked = ["root", "path", "file", "folder", "dir"].filter((option) => {
    const declared = JSON.stringify(properties[option] ?? {});
    return declared.includes('"type":"string"') && !declared.includes('"format":"path"');
  });
  const servesFolder = properties["root"] !== undefined;
  return [
    ...unmarked.map(
      (option) =>
        `add .meta({ format: "path" }) to the option ${option}: otherwise it is not resolved from the config's folder, nor checked for trust`,
    ),
    ...(!servesFolder || /\bfilesOf\b|\bopenFolder\(/.test(codeOf(name))
      ? []
      : [`write filesOf in src/sources/${name}.ts: rules about files must hold for what the source shows of them`]),
  ];
}

/** Packages that are loaded on first use, besides our own dependencies and those in `dist`. */
function packageSteps(name: string): string[] {
  const { dependencies, devDependencies, peerDependencies, peerDependenciesMeta } = JSON.parse(
    textOf("package.json"),
  ) as Package;
  const code = codeOf(name);
  const loaded = code.matchAll(/(?<!typeof )\bimport\("((?:@[^/"]+\/)?[^./"][^/"]*)/g);
  return [...new Set(Array.from(loaded, ([, each]) => each!))]
    .filter((each) => !each.startsWith("node:") && !(each in dependencies) && !bundledPackages.includes(each))
    .flatMap((each) => [
      ...(each in peerDependencies ? [] : [`add "${each}" to peerDependencies in package.json`]),
      ...(peerDependenciesMeta[each]?.optional
        ? []
        : [`add "${each}": { "optional": true } to peerDependenciesMeta in package.json`]),
      ...(each in devDependencies ? [] : [`add "${each}" to devDependencies in package.json, for the tests`]),
      ...(code.includes("packageNeeded(")
        ? []
        : [`say how to install ${each}, with isPackageMissing and packageNeeded of src/lib/missing-package.ts`]),
    ]);
}

function unreachableSteps(name: string, { usesCredentials }: SourceDefinition): string[] {
  const file = "test/hostile/unreachable.test.ts";
  return !usesCredentials || name in reachable || textOf(file).includes(`source: "${name}"`)
    ? []
    : [`add ${name} to backendsAt in ${file}: its errors must not show hosts, ports or paths`];
}

/** Programs that tests of sources start by a literal name, and that .ci/run does not install. */
export function missingComponents(): string[] {
  const installed = textOf(".ci/run");
  const files = [...filesBelow("test/live"), ...filesBelow("src/sources")].filter((file) => file.endsWith(".ts"));
  return files.flatMap((file) => {
    const started = textOf(file).matchAll(/\b(?:spawn|spawnSync|execFile|execFileSync)\(\s*"([\w-]+)"/g);
    return [...new Set(Array.from(started, ([, each]) => each!))]
      .filter((each) => !presentPrograms.has(each) && !new RegExp(`^need ${each} `, "m").test(installed))
      .map((each) => `add "need ${each} <Debian's package>" to .ci/run: ${file} starts ${each}`);
  });
}

/** Of a source without its tests. */
function codeOf(name: string): string {
  return [`src/sources/${name}.ts`, ...filesBelow(`src/sources/${name}`)]
    .filter((file) => file.endsWith(".ts") && !/\.test\.ts$|\/test-[^/]*$/.test(file))
    .map(textOf)
    .join("\n");
}

function filesBelow(folder: string): string[] {
  return existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map(
        (file) => `${folder}/${file.split(sep).join("/")}`,
      )
    : [];
}

/** Empty if there is no such file. */
function textOf(file: string): string {
  return existsSync(join(root, file)) ? readFileSync(join(root, file), "utf8") : "";
}
