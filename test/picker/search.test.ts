/** Search and its filters. */
import { utimesSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openSimilarServer } from "../../src/protocol/tools/test-similar.ts";
import type { Visit } from "./browser.ts";
import { chosen, locales, openToCheck, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const files: Record<string, string> = {
  "files/plan.md": "# Plan\n\nAn introduction.\n\nAnd one more line.\n\nThe budget of next year is here.\n",
  "files/old.txt": "An old budget, and the figures of that year.\n",
  "files/予算.md": "# 予算\n\n来年の予算とbudgetについて書く。\n",
  "files/budget.ts": "export const budget = 42;\n",
  "handbook/runbook.md": "---\npriority: 0.9\naudience: [assistant]\n---\n# Runbook\n\nThe budget, in an emergency.\n",
  "handbook/note.md": "---\npriority: 0.2\naudience: [user]\n---\n# Note\n\nThe budget, in passing, for people.\n",
};
for (let index = 0; index < 60; index += 1)
  files[`many/${index}.md`] = `# ${index}\n\nA word that is everywhere: ubiquity.\n`;
const far = await openSimilarServer();
afterAll(() => far.close());
const config = `mounts:
  files: { source: file, root: files }
  handbook: { source: docs, root: handbook }
  many: { source: file, root: many }
  far: { source: mcp, url: "${far.url}", title: "遠方", search: false }
`;

const names = ({ page }: Visit) =>
  page
    .locator(".hit .name")
    .allTextContents()
    .then((all) => all.toSorted());

async function find(visit: Visit, text: string): Promise<void> {
  await visit.page.getByRole("tree").waitFor();
  await visit.page.keyboard.press("/");
  await visit.page.keyboard.type(text);
  await visit.page.locator(".hit").first().waitFor();
}

onStage(
  "search",
  files,
  {
    config,
    prepare(root) {
      const longAgo = new Date(Date.now() - 90 * 86_400_000);
      utimesSync(join(root, "files/old.txt"), longAgo, longAgo);
    },
    isSearched: true,
  },
  (stage) => {
    it("finds a word before it is finished, and shows where it stands", async () => {
      await using visit = await stage.open();
      await find(visit, "budg");
      await expect.poll(() => names(visit), soon).toHaveLength(6);
      const plan = visit.page.getByRole("option").filter({ hasText: "plan.md" });
      expect(await plan.locator("mark").first().isVisible()).toBe(true);
      expect(await plan.locator(".snippet").textContent()).toBe("The budget of next year is here.");
      expect(visit.troubles).toEqual([]);
    });

    it("is narrowed down by each of its filters", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await find(visit, "budget");
      await page.getByRole("button", { name: "Filters", exact: true }).click();
      for (const [label, value, left] of [
        ["Type", "markdown", ["Note", "Runbook", "plan.md", "予算.md"]],
        ["Type", "code", ["budget.ts"]],
        ["Language", "ja", ["予算.md"]],
        ["Meant for", "user", ["Note", "budget.ts", "old.txt", "plan.md", "予算.md"]],
        ["Priority", "0.8", ["Runbook"]],
        ["Changed", "30d", ["Note", "Runbook", "budget.ts", "plan.md", "予算.md"]],
      ] as const) {
        await page.getByLabel(label, { exact: true }).selectOption(value);
        await expect.poll(() => names(visit), { ...soon, message: `${label} ${value}` }).toEqual(left);
        await page.getByRole("button", { name: "Clear filters" }).click();
        await expect.poll(() => names(visit), soon).toHaveLength(6);
      }
      expect(visit.troubles).toEqual([]);
    });

    it("is narrowed down to one source by keyboard, also without a word", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await page.getByRole("tree").waitFor();
      await page.getByRole("button", { name: "Filters", exact: true }).focus();
      await page.keyboard.press("Enter");
      await page.getByLabel("Source", { exact: true }).focus();
      await page.keyboard.type("hand");
      await expect.poll(() => names(visit), soon).toEqual(["Note", "Runbook"]);
      await page.keyboard.press("/");
      await page.keyboard.type("emergency");
      await expect.poll(() => names(visit), soon).toEqual(["Runbook"]);
      // First the word, then the filter.
      await page.keyboard.press("Escape");
      await expect.poll(() => names(visit), soon).toEqual(["Note", "Runbook"]);
      await page.keyboard.press("Escape");
      await page.getByRole("tree").waitFor();
      expect(await page.getByLabel("Source", { exact: true }).inputValue()).toBe("");
      expect(visit.troubles).toEqual([]);
    });

    it("says that nothing is left, and that there is more than it shows", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await find(visit, "ubiquity");
      await page.locator(".count", { hasText: "50 results · only the best are shown" }).waitFor();
      await page.getByRole("button", { name: "Filters", exact: true }).click();
      await page.getByLabel("Type", { exact: true }).selectOption("pdf");
      await page
        .locator(".count", { hasText: "Nothing found for “ubiquity” · with these filters: Type: PDF" })
        .waitFor();
      expect(visit.troubles).toEqual([]);
    });

    it("shows matches, then similar results under a heading, by decoded paths, and is walked through in this order", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await find(visit, "alpha beta");
      await page.locator(".count", { hasText: "2 results · 1 similar" }).waitFor();
      const similar = page.getByRole("listbox").getByRole("group", { name: "Similar" });
      expect(await similar.getByRole("option").locator(".hit-uri").allTextContents()).toEqual([
        "遠方 › memory://far/one.md",
      ]);
      const paths = await page.locator(".hit-uri").allTextContents();
      expect(paths.slice(0, 2).toSorted()).toEqual(["遠方 › memory://far/both.md", "遠方 › memory://far/設計/決済.md"]);
      for (let step = 0; step < 2; step += 1) await page.keyboard.press("ArrowDown");
      expect(await similar.locator(".hit.active .name").textContent()).toBe("one.md");
      const active = await page.getByRole("combobox").getAttribute("aria-activedescendant");
      expect(await similar.getByRole("option").getAttribute("id")).toBe(active);
      expect(visit.troubles).toEqual([]);
    });

    it("says that nothing matches, and shows what is similar", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await find(visit, "beta gamma");
      await page.locator(".count", { hasText: "No match for “beta gamma” · 2 similar" }).waitFor();
      const similar = page.getByRole("group", { name: "Similar" });
      const [first, second] = await similar.locator(".hit .name").allTextContents();
      expect([first, second].toSorted()).toEqual(["both.md", "決済.md"]);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await page.locator(".about h2", { hasText: second! }).waitFor();
      expect(visit.troubles).toEqual([]);
    });

    it("is walked through in its list, by keyboard: arrows, enter, space", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await find(visit, "budget");
      await expect.poll(() => names(visit), soon).toHaveLength(6);
      await page.getByRole("listbox", { name: "Search results" }).focus();
      await page.keyboard.press("End");
      await page.keyboard.press("ArrowUp");
      const fifth = await page.locator(".hit .name").nth(4).textContent();
      expect(await page.locator(".hit.active .name").textContent()).toBe(fifth);
      await page.keyboard.press("Space");
      expect(await page.getByRole("option").nth(4).getAttribute("aria-selected")).toBe("true");
      await expect.poll(() => chosen(visit), soon).toHaveLength(1);
      await page.keyboard.press("Enter");
      await page.locator(".about h2").waitFor();
      await page.getByRole("option").first().locator(".tick").click();
      await expect.poll(() => chosen(visit), soon).toHaveLength(2);
      await page.getByRole("listbox", { name: "Search results" }).focus();
      await page.keyboard.press("Escape");
      await page.getByRole("tree").waitFor();
      await expect.poll(() => page.getByRole("combobox").inputValue(), soon).toBe("");
      expect(visit.troubles).toEqual([]);
    });

    it("that is wrong is said so", async () => {
      await using visit = await stage.open();
      await visit.page.getByRole("tree").waitFor();
      await visit.page.getByRole("combobox").fill("budget after:soon");
      await visit.page.locator(".count", { hasText: /after:soon.* is not a date/ }).waitFor();
      expect(visit.troubles).toEqual([]);
    });

    it.each(locales)("breaks no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
      await using visit = await openToCheck(stage, locale);
      const { page } = visit;
      await find(visit, "budget");
      await page.locator("header button").first().click();
      await page.locator(".filters select").nth(1).selectOption("markdown");
      await page.locator("mark").first().waitFor();
      expect(await visit.violations()).toEqual([]);
      await page.locator(".filters select").nth(1).selectOption("pdf");
      await page.locator(".hit").first().waitFor({ state: "detached" });
      expect(await visit.violations()).toEqual([]);
      await page.locator(".chips .link").click();
      await page.getByRole("combobox").first().fill("alpha beta");
      await page.locator("#similar").waitFor();
      expect(await visit.violations()).toEqual([]);
    });
  },
);
