import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createPackageNotices, installAdvice, packageNeeded } from "./missing-package.ts";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "pressmark-installed-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("the advice to install a package", () => {
  it.each([
    ["lib/node_modules/pressmark", false, "run: npm install --global unpdf"],
    ["project/node_modules/pressmark", true, "run in the project: npm install unpdf"],
    ["pnpm/node_modules/.pnpm/pressmark@0.1.0/node_modules/pressmark", false, "run in the project: pnpm add unpdf"],
    ["pnpm/global/5/.pnpm/pressmark@0.1.0/node_modules/pressmark", false, "run: pnpm add --global unpdf"],
    [".npm/_npx/0123/node_modules/pressmark", true, "run: npx --package=pressmark --package=unpdf pressmark …"],
    ["src/pressmark", true, "run in Pressmark's checkout: npm install"],
  ])("follows how Pressmark was installed: %s", (path, hasProject, advice) => {
    const folder = join(root, path);
    mkdirSync(folder, { recursive: true });
    if (hasProject) writeFileSync(join(folder, "../../package.json"), "{}");
    else rmSync(join(folder, "../../package.json"), { force: true });
    expect(installAdvice("unpdf", folder)).toBe(advice);
  });

  it("names the folder of the single executable", () => {
    expect(installAdvice("unpdf", process.execPath)).toBe("run in the folder of the executable: npm install unpdf");
  });

  it("is for pnpm if it wrote a flat folder of packages", () => {
    const folder = join(root, "flat/node_modules/pressmark");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "../../package.json"), "{}");
    writeFileSync(join(folder, "../.modules.yaml"), "");
    expect(installAdvice("unpdf", folder)).toBe("run in the project: pnpm add unpdf");
  });

  it("names the package, and what needs it", () => {
    expect(packageNeeded("PDF files need", "unpdf")).toBe(
      `PDF files need the package "unpdf"; run in Pressmark's checkout: npm install`,
    );
  });
});

it("a missing package is reported once for each mount, in a log or by a command", () => {
  const isRepeated = createPackageNotices();
  const needed = packageNeeded("the source mcp needs", "@modelcontextprotocol/client");
  expect(isRepeated(`pressmark error: cannot be used (mount "up", cause ${JSON.stringify(needed)})`)).toBe(false);
  expect(isRepeated(`pressmark: mount "up": ${needed}`)).toBe(true);
  expect(isRepeated(`pressmark: mount "other": ${needed}`)).toBe(false);
  expect(isRepeated(`pressmark: mount "up": the server cannot be reached`)).toBe(false);
  expect(isRepeated(`pressmark: mount "up": the server cannot be reached`)).toBe(false);
});
