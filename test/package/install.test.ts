/** docs/install.md under the Node of the tests; `npm run test:peers` runs it under others. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { checkGlobalInstall, checkLocalInstall } from "./check-install.ts";
import { installLines } from "./install-page.ts";

const megabyte = 1_000_000;
const mebibyte = 1024 * 1024;

it("the lines for a global install work, and what they install serves", { timeout: 180_000 }, async () => {
  await checkGlobalInstall();
});

it("the lines for a project work, and install less than 25 MB", { timeout: 180_000 }, async () => {
  const { bytes, onDisk } = await checkLocalInstall();
  expect(bytes).toBeLessThan(25 * megabyte);
  expect(onDisk).toBeLessThan(25 * mebibyte);
});

it("the page has no other lines to run", () => {
  expect(installLines.build).toBe("npm ci\nnpm run build\nnpm pack\n");
  expect(installLines.more).toEqual([]);
});

it("the page names every optional package", () => {
  const page = readFileSync(new URL("../../docs/install.md", import.meta.url), "utf8");
  const { peerDependencies } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    readonly peerDependencies: Readonly<Record<string, string>>;
  };
  const table = page.slice(page.indexOf("## Optional packages"), page.indexOf("## Update"));
  const named = Array.from(table.matchAll(/^\| `.*?\|/gm), ([cell]) =>
    Array.from(cell.matchAll(/`([^`]+)`/g), ([, name]) => name),
  );
  expect(named.flat().sort()).toEqual(Object.keys(peerDependencies).sort());
});
