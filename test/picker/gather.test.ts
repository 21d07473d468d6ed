/** Gathering for a task, with its receipt. */
import { expect, it } from "vitest";
import { chosen, clipboard, locales, mayCopy, openToCheck, row, soon } from "./looking.ts";
import { openStage } from "./browser.ts";
import { onStage } from "./on-stage.ts";

const filler = Array.from({ length: 400 }, (_, index) => `The retry policy, line ${index}.`).join("\n");
const files = {
  "retry.md": "# Retry\n\nThe retry policy waits longer after every failure.\n",
  "client.ts": "// How the retry policy is applied.\nexport function retry() {}\n",
  "long.md": `# Long\n\n${filler}\n`,
  "other.md": "# Other\n\nNothing of the kind.\n",
};
const task = "Change the retry policy in retry.md so that it gives up sooner";

onStage("gathering", files, { isSearched: true }, (stage) => {
  it("gives a receipt, line by line, each of which leads to what it is about", async () => {
    await using visit = await stage.open(mayCopy);
    const { page } = visit;
    await page.getByRole("tab", { name: "Gather" }).click();
    await page.getByRole("textbox", { name: "What do you want to do?" }).fill(task);
    await page.getByRole("button", { name: "Gather up to 16,000 tokens" }).click();
    await page.getByRole("heading", { name: "Included" }).waitFor();
    const first = page.locator(".receipt > ol > li").first();
    expect(await first.locator(".line").textContent()).toBe("retry.md");
    expect(await first.locator(".facts").textContent()).toMatch(/^lines 1–3 · \d+ tokens$/);
    expect(await first.locator(".why li").allTextContents()).toContain("is named in the task: retry.md");
    await first.locator(".line").click();
    await page.getByRole("heading", { name: "Retry", exact: true }).waitFor();
    await page.getByRole("button", { name: "Copy the gathered text" }).click();
    await expect.poll(() => clipboard(visit), soon).toContain("The retry policy waits longer");
    await page.getByRole("button", { name: "Choose all" }).click();
    await expect.poll(() => chosen(visit), soon).toContain("client.ts");
    expect(visit.troubles).toEqual([]);
  });

  it("says what was left out and why, within a small budget, by keyboard", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "other.md").waitFor();
    await page.getByRole("spinbutton", { name: "Budget" }).fill("70");
    await page.getByRole("tab", { name: "All" }).focus();
    await page.keyboard.press("End");
    await page.locator(".gather textarea").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type(task);
    await page.keyboard.press("Control+Enter");
    await page.getByRole("heading", { name: "Left out" }).waitFor();
    const left = page.locator(".receipt > ul > li").filter({ hasText: "client.ts" });
    expect(await left.locator(".facts").textContent()).toBe("does not fit into the budget");
    await left.locator(".line").focus();
    await page.keyboard.press("Enter");
    await page.locator(".about h2", { hasText: "client.ts" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("begins with what was chosen, unless that is not wanted", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "other.md").locator(".tick").click();
    await page.getByRole("tab", { name: "Gather" }).click();
    await page.getByRole("textbox", { name: "What do you want to do?" }).fill(task);
    const asked = page.locator(".receipt > ol > li").filter({ hasText: "was requested" }).locator(".name");
    await page.getByRole("button", { name: /^Gather up to/ }).click();
    await expect.poll(() => asked.allTextContents(), soon).toEqual(["other.md"]);
    await page.getByRole("checkbox", { name: "Start with the chosen resources (1)" }).uncheck();
    await page.getByRole("button", { name: /^Gather up to/ }).click();
    await asked.waitFor({ state: "detached" });
    await page.locator(".receipt > ol > li").first().waitFor();
    expect(await asked.count()).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it.each(locales)("breaks no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
    await using visit = await openToCheck(stage, locale);
    const { page } = visit;
    await page.locator("#tab-gather").click();
    expect(await visit.violations()).toEqual([]);
    await page.locator("textarea").fill(task);
    await page.keyboard.press("Control+Enter");
    await page.locator(".receipt li").first().waitFor();
    expect(await visit.violations()).toEqual([]);
  });

  it("is said to do so", async () => {
    const config = "mounts: { shelf: { source: file, root: . } }\nserver: { tools: [search_resources] }\n";
    const other = await openStage(files, { config });
    try {
      await using visit = await other.open();
      await visit.page.getByRole("tab", { name: "Gather" }).click();
      await visit.page.getByText("This server cannot gather").waitFor();
      expect(visit.troubles).toEqual([]);
    } finally {
      await other.close();
    }
  });
});
