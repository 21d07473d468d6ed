/** Keys: hints for the present place, the way to the end of a long folder, gathering, and filters as chips. */
import type { Route } from "playwright-core";
import { expect, it } from "vitest";
import type { Visit } from "./browser.ts";
import { chosen, focused, locales, openToCheck, row, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const files: Record<string, string> = {
  "files/retry.md": "# Retry\n\nThe retry policy waits longer after every failure.\n",
  "files/client.ts": "// How the retry policy is applied.\nexport function retry() {}\n",
};
for (let index = 0; index < 1500; index += 1) files[`many/file-${String(index).padStart(4, "0")}.txt`] = `${index}\n`;
const config = `mounts:
  shop: { source: file, root: files }
  many: { source: file, root: many }
`;

async function find(visit: Visit, text: string): Promise<void> {
  await row(visit, "shop").waitFor();
  await visit.page.keyboard.press("/");
  await visit.page.keyboard.type(text);
  await visit.page.locator(".hit").first().waitFor();
}

async function setFilter({ page }: Visit, name: string, value: string): Promise<void> {
  await page.getByLabel(name, { exact: true }).selectOption(value);
}

/** From now on requests for folders wait; resolves with the first of them. */
async function holdFolders({ page }: Visit): Promise<PromiseWithResolvers<Route>> {
  const held = Promise.withResolvers<Route>();
  await page.route("**/mcp", async (route) => {
    if (route.request().postData()?.includes("resources/directory/read")) held.resolve(route);
    else await route.continue();
  });
  return held;
}

onStage("the keys", files, { config, isSearched: true }, (stage) => {
  it("are named for the present place, also while searching, and not on touch screens", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    const hint = page.locator(".places > .keys");
    await hint.filter({ hasText: "Space chooses" }).waitFor();
    await find(visit, "retry");
    await hint.filter({ hasText: "Ctrl-Enter chooses · Alt-Enter gathers · Esc ends" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: "Gather" }).click();
    await hint.filter({ hasText: "Shift-Enter begins a new line" }).waitFor();
    await using touched = await stage.open({ hasTouch: true, isMobile: true, viewport: { width: 400, height: 800 } });
    await row(touched, "shop").waitFor();
    expect(await touched.page.locator(".places > .keys").isVisible()).toBe(false);
    expect([...visit.troubles, ...touched.troubles]).toEqual([]);
  });

  it("choose a result with Ctrl-Enter and gather with Alt-Enter, in the box and in the list", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await find(visit, "retry policy");
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => chosen(visit), soon).toHaveLength(1);
    await page.getByRole("listbox", { name: "Search results" }).focus();
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => chosen(visit), soon).toHaveLength(0);
    await page.keyboard.press("/");
    await page.keyboard.press("Alt+Enter");
    await page.getByRole("heading", { name: "Included" }).waitFor();
    expect(await page.getByRole("textbox", { name: "What do you want to do?" }).inputValue()).toBe("retry policy");
    expect(visit.troubles).toEqual([]);
  });

  it("gather with Enter in the gather box; Shift-Enter begins a line, and composing does nothing", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "shop").waitFor();
    await page.getByRole("tab", { name: "Gather" }).click();
    const task = page.getByRole("textbox", { name: "What do you want to do?" });
    await task.focus();
    await page.keyboard.type("the retry");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("policy");
    await task.dispatchEvent("keydown", { key: "Enter", isComposing: true, bubbles: true });
    expect(await task.inputValue()).toBe("the retry\npolicy");
    expect(await page.locator(".pane .count").textContent()).toBe("");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Included" }).waitFor();
    expect(await task.inputValue()).toBe("the retry\npolicy");
    expect(visit.troubles).toEqual([]);
  });

  it("End loads a folder to its end, says how far it is, and is stopped by any key", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "many").click();
    await row(visit, "file-0000.txt").waitFor();
    const held = await holdFolders(visit);
    await page.getByRole("tree").focus();
    await page.keyboard.press("End");
    await page.locator(".going", { hasText: /^Loading… [\d,]+ · any key stops$/ }).waitFor();
    const route = await held.promise;
    await page.keyboard.press("Home");
    await page.locator(".going").waitFor({ state: "detached" });
    expect(await page.locator(".row.active .name").textContent()).toBe("shop");
    await route.continue();
    await page.unroute("**/mcp");
    await page.keyboard.press("End");
    await page.locator(".row.active", { hasText: "file-1499.txt" }).waitFor();
    await page.locator(".going").waitFor({ state: "detached" });
    expect(visit.troubles).toEqual([]);
  });

  it("Page goes beyond the last loaded row as soon as the next ones are loaded", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "many").click();
    await row(visit, "file-0000.txt").waitFor();
    const route = await holdFolders(visit);
    await page.evaluate("document.querySelector('.tree').scrollTo(0, 1e9)");
    await row(visit, "file-0999.txt").click();
    await page.getByRole("tree").focus();
    await page.keyboard.press("PageDown");
    await page.locator(".going").waitFor();
    await (await route.promise).continue();
    await page.unroute("**/mcp");
    await page.locator(".row.active", { hasText: /file-10\d\d\.txt/ }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("remove filters: each by its chip, the last by Backspace, all by a button", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await find(visit, "retry");
    await page.getByRole("button", { name: "Filters", exact: true }).click();
    const chips = () => page.locator(".chips .chip").allTextContents();
    await setFilter(visit, "Type", "code");
    await setFilter(visit, "Language", "en");
    await expect.poll(chips, soon).toEqual(["Remove filter Type: Code ×", "Remove filter Language: English ×"]);
    await page.getByRole("button", { name: "Type: Code" }).focus();
    await page.keyboard.press("Enter");
    await expect.poll(chips, soon).toEqual(["Remove filter Language: English ×"]);
    await expect.poll(() => focused(visit), soon).toBe("Remove filter Language: English ×");
    await setFilter(visit, "Type", "pdf");
    const count = page.locator(".count");
    await count.filter({ hasText: "with these filters: Type: PDF, Language: English" }).waitFor();
    await page.getByRole("combobox").first().focus();
    await page.keyboard.press("Escape");
    await page.locator(".places > .keys", { hasText: "Esc clears filters" }).waitFor();
    await page.keyboard.press("Backspace");
    await expect.poll(chips, soon).toEqual(["Remove filter Type: PDF ×"]);
    await page.locator(".results").getByRole("button", { name: "Clear filters" }).click();
    await page.getByRole("tree").waitFor();
    expect(await focused(visit)).toBe("Search");
    await setFilter(visit, "Type", "code");
    await page.locator(".chips").getByRole("button", { name: "Clear filters" }).click();
    await page.getByRole("tree").waitFor();
    expect(await focused(visit)).toBe("Search");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => focused(visit), soon).toBe("All resources");
    expect(visit.troubles).toEqual([]);
  });

  it.each(locales)("and chips break no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
    await using visit = await openToCheck(stage, locale);
    const { page } = visit;
    await find(visit, "retry");
    await page.locator("header button").first().click();
    await page.locator(".filters select").nth(1).selectOption("pdf");
    await page.locator(".hit").first().waitFor({ state: "detached" });
    expect(await visit.violations()).toEqual([]);
  });
});
