/** `npm run release`, in a copy of the repository. */
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { closeSection } from "../../scripts/release/changelog.ts";
import { isAllowed } from "../../scripts/release/licences.ts";
import { replaceVersion, undeclared, versionPlaces } from "../../scripts/release/version-places.ts";
import { createReleaseTree, type ReleaseTree } from "./release-tree.ts";

describe("preparing a release", () => {
  let tree: ReleaseTree;
  let current: string;
  beforeAll(() => {
    tree = createReleaseTree();
    current = (JSON.parse(read("package.json")) as { version: string }).version;
    mkdirSync(join(tree.folder, "bundles/new"), { recursive: true });
    const bundle = { version: current, packages: [{ version: current, args: [`pressmark@${current}`] }] };
    write("bundles/new/server.json", JSON.stringify(bundle));
    tree.git("add", "bundles");
    tree.git("commit", "--quiet", "--message", "bundle");
  });
  afterAll(() => tree[Symbol.dispose]());

  const read = (file: string): string => readFileSync(join(tree.folder, file), "utf8");
  const write = (file: string, text: string): void => writeFileSync(join(tree.folder, file), text);

  it("finds nothing wrong with the repository, and changes nothing unless asked to", () => {
    const { status, out } = tree.release("99.0.0", "--date", "2026-11-20");
    expect(out).toContain("Nothing was changed. To do it: npm run release -- 99.0.0 --date 2026-11-20 --write");
    expect(status, out).toBe(0);
    expect(tree.git("status", "--porcelain")).toBe("");
  });

  it("writes the version to all places and the date to the changelog, and neither commits nor publishes", () => {
    const { status, out } = tree.release("99.0.0", "--date", "2026-11-20", "--write");
    expect(status, out).toBe(0);
    expect(out).toContain("git push origin main v99.0.0");
    expect(read("CHANGELOG.md")).toMatch(/^# Changelog\n\n.*\n\n## 99\.0\.0 \(2026-11-20\)\n\n- /);
    for (const file of ["package.json", "package-lock.json", "create-pressmark-source/package.json"])
      expect(JSON.parse(read(file))).toMatchObject({ version: "99.0.0" });
    const changed = tree.git("diff", "--name-only").trim().split("\n");
    const named = versionPlaces.map(({ files }) => files).filter((files) => typeof files === "string");
    expect(changed).toEqual(
      expect.arrayContaining(["CHANGELOG.md", "bundles/new/server.json", "docs/embedding.md", ...named]),
    );
    expect(JSON.parse(read("bundles/new/server.json"))).toEqual({
      version: "99.0.0",
      packages: [{ version: "99.0.0", args: ["pressmark@99.0.0"] }],
    });
    expect(tree.git("rev-list", "--count", "HEAD").trim()).toBe("2");
    expect(tree.git("tag")).toBe("");
    tree.git("checkout", "--quiet", ".");
  });

  it("names everything that is wrong, and then writes nothing", () => {
    tree.git("tag", "v0.0.1");
    write("docs/new-page.md", `Install pressmark ${current}.\n`);
    tree.git("add", "docs/new-page.md");
    tree.git("commit", "--quiet", "--message", "page");
    write(
      "package-lock.json",
      read("package-lock.json").replace(/("node_modules\/jose": \{[^}]*"license": )"MIT"/, '$1"GPL-3.0-only"'),
    );
    write("dist/cli.test.js", `const key = "ghp_${"aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA2bC4"}";\n`);
    rmSync(join(tree.folder, "dist/client/stdio.js"));
    appendFileSync(join(tree.folder, "dist/picker-app.html"), "x".repeat(1_000_000));
    const { status, problems } = tree.release("0.0.1", "--date", "tomorrow", "--write");
    const size = Buffer.byteLength(read("dist/picker-app.html"));
    expect(problems).toEqual([
      `0.0.1 is older than ${current}`,
      `"tomorrow" is not a date, such as 2026-11-20`,
      "the tag v0.0.1 exists: this version was released",
      "there are changes that are not committed",
      `docs/new-page.md:1 contains ${current}; add the place to scripts/release/version-places.ts`,
      expect.stringMatching(/^jose \S+ \(installed\) has GPL-3\.0-only, which is not allowed$/) as unknown,
      "the tarball lacks dist/client/stdio.js, which package.json names",
      "the tarball contains dist/cli.test.js",
      expect.stringMatching(/^dist\/cli\.test\.js:1 contains a/) as unknown,
      `dist/picker-app.html has ${size} bytes, more than 1000000`,
    ]);
    expect(status).toBe(1);
    expect(tree.git("diff", "--name-only")).toBe("package-lock.json\n");
  });
});

const changelog = (heading: string) => `# Changelog\n\n## ${heading}\n\n- a: B.\n\n## 0.1.0 (2026-01-01)\n\n- first\n`;

describe("the changelog", () => {
  it.each(["Unreleased", "0.1.9"])("gets the version and the date instead of %s", (heading) => {
    expect(closeSection(changelog(heading), "0.2.0", "2026-11-20")).toBe(changelog("0.2.0 (2026-11-20)"));
  });

  it.each([
    ["# Changelog\n", "has no section"],
    [changelog("0.2.0 (2026-11-20)"), "the newest section, 0.2.0 (2026-11-20), is released"],
    ["# Changelog\n\n## Unreleased\n\n## 0.1.0 (2026-01-01)\n\n- first\n", "the section Unreleased is empty"],
  ])("is refused if there is nothing to release", (wrong, reason) => {
    expect(() => closeSection(wrong, "0.2.0", "2026-11-20")).toThrow(reason);
  });
});

describe("a place of the version", () => {
  it("may be an element of an array, and keeps the rest of the text", () => {
    const place = { files: "server.json", path: ["packages", "0", "version"] };
    const text = `{ "version": "1.0.0", "packages": [{"version" : "1.0.0"}] }`;
    expect(replaceVersion(text, "server.json", place, "1.0.0", "1.1.0")).toBe(
      `{ "version": "1.0.0", "packages": [{"version" : "1.1.0"}] }`,
    );
  });

  it.each([["{}"], [`{ "version": 1 }`], [`{ "version": "2.0.0" }`]])("must be in a file that is named: %s", (text) => {
    const place = { files: "a.json", path: ["version"] };
    const replace = (file: string) => replaceVersion(text, file, place, "1.0.0", "1.1.0");
    expect(() => replace("a.json")).toThrow("a.json does not have 1.0.0 at version");
  });

  it("is found in a file that does not declare it, but not in longer numbers", () => {
    expect(undeclared("a.md", "x\npressmark@1.0.0.\n11.0.0 1.0.01 1.0.0.1\n", "1.0.0")).toEqual(["a.md:2"]);
    expect(undeclared("CHANGELOG.md", "1.0.0", "1.0.0")).toEqual([]);
  });
});

it.each([
  ["MIT", true],
  ["(MPL-2.0 OR Apache-2.0)", true],
  ["MIT OR GPL-3.0-only", true],
  ["GPL-3.0-only", false],
  ["MIT AND GPL-3.0-only", false],
  ["(MIT OR ISC) AND GPL-3.0-only", false],
  ["", false],
  ["SEE LICENSE IN LICENSE.md", false],
])("whether %s is allowed: %s", (licence, allowed) => {
  expect(isAllowed(licence)).toBe(allowed);
});
