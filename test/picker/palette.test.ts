/** The command palette: by keyboard, mouse and touch. */
import { expect, it } from "vitest";
import type { Visit } from "./browser.ts";
import { chosen, clipboard, focused, locales, mayCopy, openToCheck, row, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const files = {
  "retry.md": "# Retry\n\nThe retry policy waits longer after every failure.\n",
  "client.ts": "// How the retry policy is applied.\nexport function retry() {}\n",
  "docs/予算.md": "# 予算\n\n来年の予算について。\n",
};

const options = ({ page }: Visit) => page.getByRole("dialog").getByRole("option").locator(".name").allTextContents();
const active = ({ page }: Visit) => page.getByRole("dialog").locator("[aria-selected='true'] .name").textContent();

async function openPalette(visit: Visit): Promise<void> {
  await row(visit, "retry.md").waitFor();
  await visit.page.keyboard.press("Control+k");
  await visit.page.getByRole("dialog", { name: "Commands" }).waitFor();
}

async function run(visit: Visit, name: string): Promise<void> {
  await openPalette(visit);
  await visit.page.keyboard.type(name);
  await expect.poll(() => active(visit), soon).toContain(name);
  await visit.page.keyboard.press("Enter");
  await visit.page.getByRole("dialog").waitFor({ state: "detached" });
}

onStage("the command palette", files, { isSearched: true }, (stage) => {
  it("is loaded when it is first opened, and closed by Escape, the same key or a click beside it", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    const scripts: string[] = [];
    await row(visit, "retry.md").click();
    await page.locator(".about h2").waitFor();
    page.on("request", (request) => request.url().endsWith(".js") && scripts.push(request.url()));
    await page.getByRole("tree").focus();
    await openPalette(visit);
    expect(scripts.length).toBeGreaterThan(0);
    expect(await focused(visit)).toBe("Type a command or the name of a resource");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await focused(visit)).toBe("All resources");
    await openPalette(visit);
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await openPalette(visit);
    await page.mouse.click(5, 5);
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(visit.troubles).toEqual([]);
  });

  it("finds resources by name as one types, and opens them by Enter", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await openPalette(visit);
    await page.keyboard.type("予算");
    const resource = page.getByRole("group", { name: "Resources" }).getByRole("option");
    await resource.filter({ hasText: "docs/予算.md" }).waitFor();
    expect(await active(visit)).toBe("予算.md");
    const id = await page.getByRole("dialog").getByRole("combobox").getAttribute("aria-activedescendant");
    expect(await resource.first().getAttribute("id")).toBe(id);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "予算", exact: true }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("shows what was opened last first, also for a typed name", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    for (const name of ["retry.md", "client.ts"]) {
      await row(visit, name).click();
      await page.locator(".about h2", { hasText: name }).waitFor();
    }
    await openPalette(visit);
    expect((await options(visit)).slice(0, 2)).toEqual(["client.ts", "retry.md"]);
    await page.keyboard.type("retry");
    await expect.poll(() => active(visit), soon).toBe("retry.md");
    await page.keyboard.press("Enter");
    await page.locator(".about h2", { hasText: "retry.md" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("does not search or run while an input method is composing", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await openPalette(visit);
    const before = await options(visit);
    const ime = await page.context().newCDPSession(page);
    await ime.send("Input.imeSetComposition", { text: "よさん", selectionStart: 3, selectionEnd: 3 });
    await page
      .getByRole("dialog")
      .getByRole("combobox")
      .dispatchEvent("keydown", { key: "Enter", isComposing: true, bubbles: true });
    expect(await options(visit)).toEqual(before);
    await ime.send("Input.insertText", { text: "予算" });
    await page.getByRole("option").filter({ hasText: "docs/予算.md" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("gathers for the typed text, and shows it as the task", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await openPalette(visit);
    await page.keyboard.type("the retry policy");
    await page.getByRole("option", { name: "Gather for “the retry policy”" }).click();
    await page.getByRole("heading", { name: "Included" }).waitFor();
    expect(await page.getByRole("textbox", { name: "What do you want to do?" }).inputValue()).toBe("the retry policy");
    expect(visit.troubles).toEqual([]);
  });

  it("chooses, copies and clears, and says that it has copied", async () => {
    await using visit = await stage.open(mayCopy);
    const { page } = visit;
    await row(visit, "retry.md").click();
    await page.locator(".about h2").waitFor();
    await run(visit, "Choose retry.md");
    await expect.poll(() => chosen(visit), soon).toEqual(["retry.md"]);
    await run(visit, "Copy what is chosen as Markdown");
    await page.locator(".toast", { hasText: "Copied" }).waitFor();
    expect(await clipboard(visit)).toContain("waits longer");
    await run(visit, "Use in…");
    await page.getByRole("menu", { name: "Use in…" }).waitFor();
    await page.keyboard.press("Escape");
    await run(visit, "Remove everything");
    await expect.poll(() => chosen(visit), soon).toEqual([]);
    expect(visit.troubles).toEqual([]);
  });

  it("shows panes, filters, sets and the state of the server", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await page.getByRole("button", { name: "State" }).waitFor();
    await run(visit, "Show templates");
    await page.getByRole("tab", { name: "Templates", selected: true }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").waitFor();
    await page.keyboard.type("filters");
    await expect.poll(() => active(visit), soon).toBe("Show or hide filters");
    await page.keyboard.press("Enter");
    await page.getByLabel("Type", { exact: true }).selectOption("markdown");
    await page.locator(".hit").first().waitFor();
    for (const [name, place] of [
      ["Clear filters", page.getByRole("tab", { name: "Templates" })],
      ["Sets", page.getByRole("group", { name: "Sets" })],
      ["State", page.getByRole("dialog", { name: "State" })],
    ] as const) {
      await page.keyboard.press("Control+k");
      await page.getByRole("dialog", { name: "Commands" }).waitFor();
      await page.keyboard.type(name);
      await expect.poll(() => active(visit), soon).toBe(name);
      await page.keyboard.press("Enter");
      await page.getByRole("dialog", { name: "Commands" }).waitFor({ state: "detached" });
      await place.waitFor();
    }
    expect(visit.troubles).toEqual([]);
  });

  it("is opened and used by touch, without names of keys", async () => {
    await using visit = await stage.open({ hasTouch: true, isMobile: true, viewport: { width: 400, height: 800 } });
    const { page } = visit;
    await row(visit, "retry.md").waitFor();
    await page.getByRole("button", { name: "Commands" }).tap();
    expect(await page.getByRole("dialog").locator(".keys").isVisible()).toBe(false);
    await page.getByRole("dialog").getByRole("combobox").fill("client");
    await page.getByRole("option").filter({ hasText: "client.ts" }).tap();
    await page.locator(".about h2", { hasText: "client.ts" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it.each(locales)("breaks no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
    await using visit = await openToCheck(stage, locale);
    const { page } = visit;
    await row(visit, "retry.md").click();
    await page.locator(".about h2").waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill("retry");
    await page.getByRole("option").filter({ hasText: "client.ts" }).waitFor();
    expect(await visit.violations()).toEqual([]);
    await page.getByRole("dialog").getByRole("combobox").fill("");
    await page.getByRole("option").nth(4).waitFor();
    expect(await visit.violations()).toEqual([]);
  });
});
