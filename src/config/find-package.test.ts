import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findPackage, PackageError, parsePackage } from "./find-package.ts";

let root: string;
let project: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-find-package-")));
  project = join(root, "work", "project");
  mkdirSync(project, { recursive: true });
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

const at = "work/project/node_modules/pressmark-source-x";

/** The entry relative to the package, or why there is none. */
function entry(manifest: unknown, files: readonly string[], specifier = "pressmark-source-x"): string {
  write(`${at}/package.json`, typeof manifest === "string" ? manifest : JSON.stringify(manifest));
  for (const file of files) write(`${at}/${file}`, "");
  return find(specifier);
}

function find(specifier: string): string {
  try {
    const found = findPackage(parsePackage(specifier)!, project);
    return relative(found.folder, found.entry);
  } catch (cause) {
    if (cause instanceof PackageError) return cause.message;
    throw cause;
  }
}

describe("the name of a package", () => {
  it.each([
    ["pressmark-source-redis", { name: "pressmark-source-redis", subpath: "." }],
    ["@acme/pressmark-source-tickets", { name: "@acme/pressmark-source-tickets", subpath: "." }],
    ["@acme/tools/sources/tickets", { name: "@acme/tools", subpath: "./sources/tickets" }],
    ["tools/tickets.js", { name: "tools", subpath: "./tickets.js" }],
  ])("is %s", (text, expected) => {
    expect(parsePackage(text)).toEqual(expected);
  });

  it.each([
    "redis",
    "Pressmark-source-x",
    "pressmark-source-x/../y",
    "pressmark-source-x/./y",
    "pressmark-source-x/%2e%2e/y",
    "pressmark-source-x\\..\\y",
    "pressmark-source-x//y",
    "pressmark-source-x/",
    "pressmark-source-x\0",
    "pressmark-source-x --global",
    "../pressmark-source-x",
    "/etc/passwd",
    "~/x/y",
    "--global/x",
    "@/x",
    "@acme",
    "@acme/",
    "@-acme/x",
    "@acme/../x",
    "file:///x.js",
    "https://example.com/x.js",
    "node:fs",
    "data:text/javascript,0",
    "git+ssh://x/y",
    "node_modules/x",
    `pressmark-source-${"x".repeat(300)}`,
  ])("is never %j", (text) => {
    expect(parsePackage(text)).toBeUndefined();
  });
});

describe("the entry of a package", () => {
  it.each([
    ["the string of exports", { exports: "./a.js" }, "a.js"],
    [
      "the first condition of an import",
      { exports: { require: "./r.cjs", import: "./a.js", default: "./d.js" } },
      "a.js",
    ],
    ["a nested condition", { exports: { ".": { node: { require: "./r.cjs", import: "./a.js" } } } }, "a.js"],
    [
      "the condition default",
      { exports: { ".": { types: "./a.d.ts", browser: "./b.js", default: "./a.js" } } },
      "a.js",
    ],
    ["the first valid target of a list", { exports: ["../x.js", "./a.js"] }, "a.js"],
    ["main", { main: "a.js", exports: null }, "a.js"],
    ["main without its ending", { main: "./a" }, "a.js"],
    ["the index of a folder", { main: "lib" }, "lib/index.js"],
    ["index.js", {}, "index.js"],
  ])("is %s", (_what, manifest, expected) => {
    const files = ["a.js", "a.d.ts", "b.js", "d.js", "r.cjs", "lib/index.js", "index.js"];
    expect(entry(manifest, files)).toBe(expected);
  });

  it("is what a subpath exports, by name before by pattern", () => {
    const exported = { "./sub": "./a.js", "./*": "./d/*.js", "./d/*": null, "./long/*": "./e/*.js" };
    const files = ["a.js", "d/two.js", "e/two.js"];
    expect(entry({ exports: exported }, files, "pressmark-source-x/sub")).toBe("a.js");
    expect(find("pressmark-source-x/two")).toBe("d/two.js");
    expect(find("pressmark-source-x/long/two")).toBe("e/two.js");
    expect(find("pressmark-source-x/d/two")).toMatch(/^does not export "\.\/d\/two" to an import/);
  });

  it.each([
    ["leaves the package by exports", { exports: "./../y.js" }, /^does not export "\."/],
    ["leaves the package by an escape", { exports: "./%2e%2e/y.js" }, /^does not export/],
    ["leaves the package by a backslash", { exports: "./..\\y.js" }, /^does not export/],
    ["is absolute", { exports: "/etc/passwd" }, /^does not export/],
    ["is a URL", { exports: "file:///etc/passwd" }, /^does not export/],
    ["is another package", { exports: "./Node_Modules/y/y.js" }, /^does not export/],
    ["leaves the package by main", { main: "../y.js" }, /^leads out of its own folder, by "\.\.\/y\.js"/],
    ["leaves the package by a link", { main: "link.js" }, /^leads out of its own folder, by "link\.js"/],
    ["is a folder", { exports: "./folder.js" }, /^has no file "\.\/folder\.js"/],
    ["is not there", { exports: "./gone.js" }, /^has no file "\.\/gone\.js"/],
    ["is excluded", { exports: { import: null, default: "./a.js" } }, /^does not export/],
    ["is for require alone", { exports: { require: "./a.js" } }, /^does not export/],
    ["is nothing", { exports: {} }, /^does not export/],
    ["is a number", { exports: 7 }, /^does not export/],
    ["is no program", { main: "data.json" }, /entry "data\.json", which is not a program/],
    ["is TypeScript below node_modules", { main: "a.ts" }, /TypeScript, which Node does not run below node_modules/],
    ["is huge", { main: "huge.js" }, /entry "huge\.js", which cannot be read or is too large/],
    ["is too deep", `{"exports":${'{"import":'.repeat(5000)}"./a.js"${"}".repeat(5000)}}`, /^does not export/],
    ["is in a broken package.json", "{", /^has no package\.json that can be read/],
    ["is in a package.json that is a list", "[]", /^has no package\.json that can be read/],
    ["is in a huge package.json", `{"a":"${"x".repeat(2 ** 20)}"}`, /^has no package\.json that can be read/],
  ])("that %s is refused", (_what, manifest, says) => {
    write("work/project/node_modules/y.js", "");
    for (const file of ["folder.js/x", "huge.js", "data.json", "a.ts", "a.js", "node_modules/y/y.js"])
      write(`${at}/${file}`, "");
    truncateSync(join(root, at, "huge.js"), 17 * 2 ** 20);
    symlinkSync("../y.js", join(root, at, "link.js"));
    expect(entry(manifest, [])).toMatch(says);
  });
});

const notInstalled = (command: string) =>
  `is not installed in this project; if you trust it, run in the config's folder: ${command}`;

describe("a package", () => {
  it("is the nearest one, of the folder or of those above", () => {
    write("work/node_modules/pressmark-source-x/package.json", '{"version":"1.0.0"}');
    write("work/node_modules/pressmark-source-x/index.js", "");
    expect(findPackage(parsePackage("pressmark-source-x")!, project)).toMatchObject({
      version: "1.0.0",
      folder: join(root, "work/node_modules/pressmark-source-x"),
    });
    expect(entry({ version: "2.0.0" }, ["index.js"])).toBe("index.js");
    expect(findPackage(parsePackage("pressmark-source-x")!, project)).toMatchObject({ version: "2.0.0" });
  });

  it("is where its link leads, and may be TypeScript there", () => {
    write("work/packages/x/package.json", '{"exports":"./src/index.ts"}');
    write("work/packages/x/src/index.ts", "");
    mkdirSync(join(project, "node_modules"));
    symlinkSync("../../packages/x", join(project, "node_modules/pressmark-source-x"));
    expect(findPackage(parsePackage("pressmark-source-x")!, project)).toMatchObject({
      version: "unknown",
      folder: join(root, "work/packages/x"),
      entry: join(root, "work/packages/x/src/index.ts"),
    });
  });

  it("has no version that a terminal would obey", () => {
    write(`${at}/index.js`, "");
    write(`${at}/package.json`, JSON.stringify({ version: "1.0.0\u001b[2J" }));
    expect(findPackage(parsePackage("pressmark-source-x")!, project).version).toBe("unknown");
  });

  it("that is not installed names the command of the project's package manager", () => {
    expect(find("@acme/x/sub")).toBe(notInstalled("npm install @acme/x"));
    write("work/pnpm-lock.yaml", "");
    expect(find("@acme/x/sub")).toBe(notInstalled("pnpm add @acme/x"));
    write("work/project/package-lock.json", "");
    expect(find("@acme/x/sub")).toBe(notInstalled("npm install @acme/x"));
  });
});
