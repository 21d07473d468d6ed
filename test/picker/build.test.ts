/** What a browser has to load before the page shows anything. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { buildPicker } from "../../scripts/build-picker.ts";
import { noticesOfThirdParties } from "../../scripts/third-parties.ts";

const maxScriptBytes = 150_000;

it("the page is a few files, named by what is in them, of a size that a first visit can bear, and says whose code is in it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-picker-build-"));
  try {
    const { scriptBytes } = await buildPicker(folder);
    expect(scriptBytes).toBeLessThanOrEqual(maxScriptBytes);
    const names = readdirSync(folder);
    const kinds = new Set(names.map((name) => name.replace(/-[0-9a-f]{12}\./, "-*.")));
    expect([...kinds].toSorted()).toEqual([
      "icon.svg",
      "icon.svg.gz",
      "index.html",
      "index.html.gz",
      "picker-*.css",
      "picker-*.css.gz",
      "picker-*.js",
      "picker-*.js.gz",
      "view-*.js",
      "view-*.js.gz",
    ]);
    // What shows one kind of content is loaded with the first of its kind.
    expect(names.filter((name) => /^view-.*js$/.test(name)).length).toBeGreaterThan(5);
    const page = readFileSync(join(folder, "index.html"), "utf8");
    for (const name of names.filter((each) => /^picker-.*(?:js|css)$/.test(each)))
      expect(page).toContain(`/picker/${name}"`);
    expect(page).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|https?:/);
    const notices = await noticesOfThirdParties();
    for (const name of ["highlight.js", "preact", "@modelcontextprotocol/client"])
      expect(notices).toMatch(new RegExp(`^## ${name} [\\d.]+.* \\(.+\\)$`, "m"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
