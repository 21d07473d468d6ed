/** What a browser has to load before the page shows anything. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildPicker } from "../../scripts/build-picker.ts";

const maxScriptBytes = 150_000;

it("the page is a few files, named by what is in them, of a size that a first visit can bear", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-picker-build-"));
  try {
    const { scriptBytes } = await buildPicker(folder);
    expect(scriptBytes).toBeLessThanOrEqual(maxScriptBytes);
    const names = readdirSync(folder);
    expect(names.map((name) => name.replace(/-[0-9a-f]{12}\./, "-*.")).toSorted()).toEqual([
      "icon.svg",
      "icon.svg.gz",
      "index.html",
      "index.html.gz",
      "picker-*.css",
      "picker-*.css.gz",
      "picker-*.js",
      "picker-*.js.gz",
    ]);
    const page = readFileSync(join(folder, "index.html"), "utf8");
    for (const name of names.filter((each) => /^picker-.*(?:js|css)$/.test(each)))
      expect(page).toContain(`/picker/${name}"`);
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|https?:/);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
