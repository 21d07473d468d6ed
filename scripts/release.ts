/** Prepares a release: checks everything, sets the version, dates the changelog. Publishes nothing: prints the commands for that. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { closeSection } from "./release/changelog.ts";
import { licenceProblems, licenceReport } from "./release/licences.ts";
import { partsOf } from "./release/parts.ts";
import { createSbom, sbomProblems } from "./release/sbom.ts";
import { packedFiles, tarballProblems } from "./release/tarball.ts";
import { isRelated, replaceVersion, undeclared, versionPlaces } from "./release/version-places.ts";

const usage = `npm run release -- VERSION [--date DATE] [--write]    prepare a release; without --write nothing is changed
npm run release -- --files FOLDER                     write the files that belong to the current version

VERSION  patch, minor, major, or a version (1.2.3); the current one if it was never released
--date   date in the changelog (2026-11-20); default: today
--write  set the version in all places and date the changelog
--files  the list of components (CycloneDX) and the report of licences
`;

const root = dirname(import.meta.dirname);
const problems: string[] = [];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    date: { type: "string", default: new Date().toISOString().slice(0, 10) },
    write: { type: "boolean", default: false },
    files: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const current = (JSON.parse(read("package.json")) as { readonly version: string }).version;
const [wanted] = positionals;

if (values.help || positionals.length !== (values.files === undefined ? 1 : 0)) {
  say(usage);
  process.exitCode = values.help ? 0 : 2;
} else if (!existsSync(join(root, "dist/third-parties.md"))) {
  problems.push("the package is not built; run npm run build");
  report();
} else if (values.files === undefined) prepare(nextVersion(wanted!), values.date);
else writeFiles(resolve(values.files));

function prepare(version: string, date: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(version))
    problems.push(`${JSON.stringify(wanted)} is not patch, minor, major or a version`);
  else if (compare(version, current) < 0) problems.push(`${version} is older than ${current}`);
  if (!/^\d{4}-\d\d-\d\d$/.test(date)) problems.push(`${JSON.stringify(date)} is not a date, such as 2026-11-20`);
  if (git("tag", "--list", `v${version}`) !== "")
    problems.push(`the tag v${version} exists: this version was released`);
  if (git("status", "--porcelain") !== "") problems.push("there are changes that are not committed");
  const changed = changedFiles(version, date);
  say(`Pressmark ${version}, after ${current}, of ${date}\n`);
  say(`  version     in ${[...changed.keys()].filter((file) => file !== "CHANGELOG.md").join(", ")}\n`);
  checkParts(current);
  if (report() > 0) return;
  if (!values.write) {
    say(`\nNothing was changed. To do it: npm run release -- ${version} --date ${date} --write\n`);
    return;
  }
  for (const [file, text] of changed) writeFileSync(join(root, file), text);
  say(`
Written. Review it with git diff, then:

  npm test
  git commit --all --message "release: ${version}"
  git tag --annotate v${version} --message "Pressmark ${version}"
  git push origin ${git("branch", "--show-current") || "main"} v${version}

The tag starts .github/workflows/release.yml, which tests, publishes and attaches the files.
`);
}

/** The files with the new version. */
function changedFiles(version: string, date: string): ReadonlyMap<string, string> {
  const changed = new Map<string, string>();
  const edit = (file: string, change: (text: string) => string): void => {
    try {
      const text = changed.get(file) ?? read(file);
      const edited = change(text);
      if (edited !== text) changed.set(file, edited);
    } catch (cause) {
      problems.push((cause as Error).message);
    }
  };
  edit("CHANGELOG.md", (text) => closeSection(text, version, date));
  const containing = git("grep", "--files-with-matches", "--fixed-strings", "-I", current).split("\n");
  for (const place of versionPlaces) {
    const { files, path } = place;
    const isNamed = (file: string): boolean =>
      typeof files === "string" ? files === file : files.test(file) && (path !== undefined || isRelated(file));
    for (const file of new Set([...(typeof files === "string" ? [files] : []), ...containing.filter(isNamed)]))
      edit(file, (text) => replaceVersion(text, file, place, current, version));
  }
  if (version === current) return changed;
  for (const file of containing)
    for (const line of undeclared(file, changed.get(file) ?? read(file), current))
      problems.push(`${line} contains ${current}; add the place to scripts/release/version-places.ts`);
  return changed;
}

function checkParts(version: string): ReturnType<typeof partsOf> {
  const parts = partsOf(root);
  const sbom = createSbom(root, parts);
  const tarball = packedFiles(root);
  problems.push(...licenceProblems(parts), ...sbomProblems(sbom, parts, version), ...tarballProblems(tarball, root));
  say(`  components  ${sbom.components.length}, in CycloneDX ${sbom.specVersion}\n`);
  say(
    `  licences    ${[...new Set(parts.map(({ licence }) => licence))].sort().join(", ")} (${parts.length} packages)\n`,
  );
  say(
    `  tarball     ${tarball.files.length} files, ${megabytes(tarball.size)}, unpacked ${megabytes(tarball.unpackedSize)}\n`,
  );
  return parts;
}

function writeFiles(folder: string): void {
  const parts = checkParts(current);
  if (report() > 0) return;
  mkdirSync(folder, { recursive: true });
  const sbom = join(folder, `pressmark-${current}.cdx.json`);
  writeFileSync(sbom, `${JSON.stringify(createSbom(root, parts), undefined, 2)}\n`);
  const licences = join(folder, `pressmark-${current}.licences.md`);
  writeFileSync(licences, licenceReport(parts, current));
  say(`\n${sbom}\n${licences}\n`);
}

/** Prints the problems; returns how many there are. */
function report(): number {
  for (const problem of problems) process.stderr.write(`problem: ${problem}\n`);
  if (problems.length > 0) process.exitCode = 1;
  return problems.length;
}

function nextVersion(word: string): string {
  const [major = 0, minor = 0, patch = 0] = current.split(".").map(Number);
  if (word === "major") return `${major + 1}.0.0`;
  if (word === "minor") return `${major}.${minor + 1}.0`;
  return word === "patch" ? `${major}.${minor}.${patch + 1}` : word;
}

function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split(".").map(Number));
  const at = left!.findIndex((number, index) => number !== right![index]);
  return at < 0 ? 0 : left![at]! - right![at]!;
}

function git(...words: readonly string[]): string {
  return execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();
}

function read(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function say(text: string): void {
  process.stdout.write(text);
}
