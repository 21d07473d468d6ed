/** The layout: columns, the splitter, the tray and the views of a phone, by mouse, keyboard and touch, and nothing that jumps. */
import type { BrowserContextOptions, Locator } from "playwright-core";
import { expect, it } from "vitest";
import type { Visit } from "./browser.ts";
import { chosen, row, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const files: Record<string, string> = {
  "a.md": "# Apple\n\nA fruit, and its tree.\n",
  "docs/plan.md": "# Plan\n\nThe budget of next year.\n",
  "docs/deep/er/still/deeper/end.md": "# End\n",
};
for (let index = 0; index < 40; index += 1)
  files[`many/module-${index}.ts`] = `export const n = ${index};\n`.repeat(index * 9 + 1);

const laptop: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
const phone: BrowserContextOptions = { viewport: { width: 400, height: 800 }, hasTouch: true, isMobile: true };

/** An element, as far as it is used here. */
interface Cell {
  getBoundingClientRect(): { readonly right: number };
}

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox();
  if (!box) throw new Error("it is not shown");
  return box;
}

/** Collects layout shifts, also those right after a key or a click, which browsers excuse. */
const collectShifts = `globalThis.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries())
    shifts.push({ value, of: sources.map(({ node }) => node?.className ?? node?.nodeName).join(", ") });
}).observe({ type: "layout-shift", buffered: true });`;

async function shiftsOf({ page }: Visit): Promise<readonly { readonly value: number; readonly of: string }[]> {
  return page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(shifts.splice(0)))))");
}

onStage("the layout", files, { isSearched: true }, (stage) => {
  it("has columns that line up, and twenty rows on a small screen while something is chosen", async () => {
    await using visit = await stage.open(laptop);
    const { page } = visit;
    await row(visit, "many").click();
    await row(visit, "module-1.ts").locator(".tick").click();
    await expect.poll(() => chosen(visit), soon).toHaveLength(1);
    for (const column of [".size", ".cost", ".fresh"]) {
      const edges = await page
        .locator(`:is(.row, .columns) > ${column}`)
        .evaluateAll((cells) => cells.map((cell) => (cell as unknown as Cell).getBoundingClientRect().right));
      expect(edges.length).toBeGreaterThan(20);
      expect(new Set(edges.map(Math.round)).size).toBe(1);
    }
    const tree = await boxOf(page.getByRole("tree"));
    const { height } = await boxOf(row(visit, "module-1.ts"));
    expect(height).toBeGreaterThanOrEqual(26);
    expect(height).toBeLessThanOrEqual(28);
    expect(Math.floor(tree.height / height)).toBeGreaterThanOrEqual(20);
    expect(visit.troubles).toEqual([]);
  });

  it("drops columns that have no space", async () => {
    await using visit = await stage.open({ viewport: { width: 740, height: 600 } });
    await row(visit, "a.md").waitFor();
    expect(await row(visit, "a.md").locator(".cost").isVisible()).toBe(true);
    expect(await row(visit, "a.md").locator(".fresh").isVisible()).toBe(false);
  });

  it("has a splitter for mouse and keyboard that is remembered", async () => {
    await using visit = await stage.open(laptop);
    const { page } = visit;
    const splitter = page.getByRole("separator", { name: "Width of the list" });
    const list = page.locator("#list");
    const width = async (): Promise<number> => (await boxOf(list)).width;
    const usual = await width();
    const { x, y, width: grip } = await boxOf(splitter);
    await page.mouse.move(x + grip / 2, y + 200);
    await page.mouse.down();
    await page.mouse.move(600, y + 220, { steps: 3 });
    await page.mouse.up();
    expect(Math.abs((await width()) - 600)).toBeLessThan(4);
    await page.mouse.move(700, y + 220);
    expect(Math.abs((await width()) - 600)).toBeLessThan(4);
    await splitter.focus();
    const before = Number(await splitter.getAttribute("aria-valuenow"));
    await page.keyboard.press("ArrowLeft");
    expect(Number(await splitter.getAttribute("aria-valuenow"))).toBe(before - 2);
    await page.keyboard.press("Home");
    expect(await splitter.getAttribute("aria-valuenow")).toBe("20");
    await page.reload();
    await row(visit, "a.md").waitFor();
    expect(await splitter.getAttribute("aria-valuenow")).toBe("20");
    await splitter.dblclick();
    expect(await width()).toBe(usual);
    expect(visit.troubles).toEqual([]);
  });

  it("has a splitter for fingers", async () => {
    await using visit = await stage.open({ viewport: { width: 1000, height: 700 }, hasTouch: true, isMobile: true });
    const { page } = visit;
    const { x, y, width } = await boxOf(page.getByRole("separator"));
    const fingers = await page.context().newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", to?: number) =>
      fingers.send("Input.dispatchTouchEvent", { type, touchPoints: to === undefined ? [] : [{ x: to, y: y + 100 }] });
    await touch("touchStart", x + width / 2);
    await touch("touchMove", 450);
    await touch("touchMove", 500);
    await touch("touchEnd");
    await expect.poll(async () => Math.round((await boxOf(page.locator("#list"))).width / 10), soon).toBe(50);
  });

  it("hides the tray and shows it again, and the keyboard stays with it", async () => {
    await using visit = await stage.open(laptop);
    const { page } = visit;
    await row(visit, "a.md").locator(".tick").click();
    await page.getByRole("button", { name: "Hide what is chosen" }).focus();
    await page.keyboard.press("Enter");
    const sum = page.getByRole("button", { name: /^1 chosen/ });
    await sum.waitFor();
    expect(await page.getByRole("complementary").count()).toBe(0);
    await expect.poll(() => sum.evaluate((button) => button === button.ownerDocument.activeElement), soon).toBe(true);
    await page.keyboard.press("Enter");
    await page.getByRole("complementary", { name: "Chosen" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("cuts a long path in the middle, and shows all of it on demand", async () => {
    await using visit = await stage.open(laptop);
    const { page } = visit;
    for (const name of ["docs", "deep", "er", "still", "deeper"]) await row(visit, name).click();
    await row(visit, "end.md").click();
    const names = () => page.getByRole("navigation", { name: "Current location" }).locator("li").allTextContents();
    await expect.poll(names, soon).toEqual([expect.any(String), "…", "deeper", "end.md"]);
    await page.getByRole("button", { name: "Show the whole path" }).click();
    await expect
      .poll(async () => (await names()).slice(1), soon)
      .toEqual(["docs", "deep", "er", "still", "deeper", "end.md"]);
    await page.getByRole("navigation").getByRole("button", { name: "deep", exact: true }).click();
    await page.locator(".row.active", { hasText: "deep" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("teaches in empty areas, with the next step as a button", async () => {
    await using visit = await stage.open(laptop);
    const { page } = visit;
    await page.locator("#preview").getByRole("button", { name: "Search" }).click();
    await page.keyboard.type("zzzqqq");
    await page.getByRole("button", { name: "Show all resources" }).click();
    await row(visit, "a.md").waitFor();
    await page.locator("#tray").getByRole("button", { name: "Gather for a task" }).click();
    await page.getByRole("textbox", { name: "What do you want to do?" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it.each([laptop, phone])("does not jump while it loads, searches, previews and chooses: %o", async (options) => {
    await using visit = await stage.open(options);
    const { page } = visit;
    await page.addInitScript(collectShifts);
    await page.reload();
    const isSteady = async (step: string): Promise<void> => {
      const shifts = await shiftsOf(visit);
      const sum = shifts.reduce((all, { value }) => all + value, 0);
      expect(sum, `${step}: ${JSON.stringify(shifts)}`).toBeLessThan(0.02);
    };
    await row(visit, "a.md").waitFor();
    // On a phone it is in the palette.
    await page.locator(".extra", { hasText: "State" }).waitFor({ state: "attached" });
    await isSteady("loading");
    await row(visit, "a.md").locator(".tick").click();
    await expect.poll(() => chosen(visit), soon).toEqual(["a.md"]);
    await page.locator(".tray-top > .sum", { hasText: /\(0%\)$/ }).waitFor({ state: "attached" });
    await isSteady("choosing");
    await row(visit, "a.md").click();
    await page.getByRole("heading", { name: "Apple" }).waitFor();
    await isSteady("previewing");
    await page.getByRole("combobox", { name: "Search" }).fill("budget");
    await page.locator("mark", { hasText: "budget" }).waitFor();
    await isSteady("searching");
    // The observer does see jumps.
    await page.evaluate(`document.querySelector(".search").style.marginTop = "200px"`);
    await expect.poll(async () => (await shiftsOf(visit)).length, soon).toBeGreaterThan(0);
    expect(visit.troubles).toEqual([]);
  });
});
