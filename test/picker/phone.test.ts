/** The page on a phone: list, preview and tray as views of their own, by touch; and axe at the sizes between phone and screen. */
import type { BrowserContextOptions } from "playwright-core";
import { expect, it } from "vitest";
import type { Visit } from "./browser.ts";
import { chosen, locales, openToCheck, row, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const files = {
  "a.md": "# Apple\n\nA fruit, and its tree.\n",
  "docs/plan with a long name, as names of files are.md": "# Plan\n\nThe budget of next year.\n",
};
const phone: BrowserContextOptions = { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true };

function tab({ page }: Visit, name: "List" | "Preview" | "Chosen") {
  return page.getByRole("tablist", { name: "Pages" }).getByRole("tab", { name });
}

/** Sizes of visible controls that are too small for a finger. */
const smallTargets = `[...document.querySelectorAll("button, input, select, [role=treeitem], .tick")]
  .filter((each) => each.checkVisibility({ visibilityProperty: true }))
  .map((each) => [each.className + " " + each.textContent, each.getBoundingClientRect()])
  .filter(([, { width, height }]) => width < 43.5 || height < 43.5)
  .map(([name, { width, height }]) => name + " " + width + " x " + height)`;

onStage("the page on a phone", files, { isSearched: true }, (stage) => {
  it("shows list, preview and tray as whole views; choosing is possible in each, and Back returns to the list", async () => {
    await using visit = await stage.open(phone);
    const { page } = visit;
    await row(visit, "a.md").locator(".tick").tap();
    await tab(visit, "Chosen").getByText("1", { exact: true }).waitFor();
    await row(visit, "a.md").tap();
    await page.getByRole("heading", { name: "Apple" }).waitFor();
    expect(await page.getByRole("tree").count()).toBe(0);
    await page.getByRole("button", { name: "Chosen", exact: true }).tap();
    await page.getByRole("button", { name: "Choose", exact: true }).tap();
    await tab(visit, "Chosen").tap();
    await page.getByRole("complementary", { name: "Chosen" }).waitFor();
    expect(await chosen(visit)).toEqual(["a.md"]);
    await page.getByRole("button", { name: "Remove a.md" }).tap();
    await expect.poll(() => chosen(visit), soon).toEqual([]);
    await page.goBack();
    await page.getByRole("tree").waitFor();
    await tab(visit, "Preview").tap();
    await page.getByRole("heading", { name: "Apple" }).waitFor();
    await page.getByRole("button", { name: "Show folder" }).tap();
    await page.getByRole("tree").waitFor();
    await row(visit, "a.md").tap();
    await page.getByRole("heading", { name: "Apple" }).waitFor();
    await page.getByRole("combobox", { name: "Search" }).fill("budget");
    await page.locator("mark", { hasText: "budget" }).waitFor();
    expect(await page.getByRole("heading", { name: "Apple" }).count()).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it("has targets for fingers, mentions no keys, and fits on the smallest screen", async () => {
    await using visit = await stage.open({ ...phone, viewport: { width: 320, height: 640 } });
    const { page } = visit;
    const fits = async (): Promise<void> => {
      expect(await page.evaluate(smallTargets)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(320);
      expect(
        await page
          .getByText(/space bar|arrows|\( \/ \)/i)
          .filter({ visible: true })
          .count(),
      ).toBe(0);
    };
    await row(visit, "docs").tap();
    await row(visit, "a.md").locator(".tick").tap();
    await fits();
    await row(visit, "plan with a long name, as names of files are.md").tap();
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    await fits();
    await tab(visit, "Chosen").tap();
    await page.getByRole("button", { name: "Sets", exact: true }).tap();
    await page.locator(".sets").waitFor();
    await fits();
    for (const [name, view] of [
      ["Choose", "Preview"],
      ["Sets", "Chosen"],
    ] as const) {
      await tab(visit, view).tap();
      const box = await page.getByRole("button", { name, exact: true }).boundingBox();
      expect(box?.y, `${name} is in the lower half`).toBeGreaterThan(320);
    }
    expect(visit.troubles).toEqual([]);
  });

  it("moves between views by keyboard, as tabs do", async () => {
    await using visit = await stage.open({ viewport: { width: 600, height: 600 } });
    const { page } = visit;
    await row(visit, "a.md").waitFor();
    await tab(visit, "List").focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.getByRole("complementary", { name: "Chosen" }).waitFor();
    expect(await tab(visit, "Chosen").getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("Home");
    await page.getByRole("tree").waitFor();
  });

  it.each(locales)("breaks no rule of axe in any view and at any size, %s", async (locale) => {
    await using visit = await openToCheck(stage, locale);
    const { page } = visit;
    await row(visit, "a.md").locator(".tick").click();
    await row(visit, "a.md").click();
    await page.getByRole("heading", { name: "Apple" }).waitFor();
    for (const { width, view } of [
      { width: 400, view: "preview" },
      { width: 320, view: "tray" },
      { width: 700, view: "list" },
      { width: 900, view: undefined },
      { width: 1440, view: undefined },
    ]) {
      await page.setViewportSize({ width, height: 700 });
      if (view !== undefined) await page.locator(`.bar #tab-${view}`).click();
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await visit.broken(), `${width} wide, ${colorScheme}, ${view}`).toEqual([]);
      }
    }
  });
});
