/** Kinds of previews: HTML in Markdown, commits, diffs side by side, sorted tables, notebooks and pages. */
import { expect, it } from "vitest";
import type { Visit } from "./browser.ts";
import { focused, openToCheck, row, show } from "./looking.ts";
import { onStage } from "./on-stage.ts";
import { kindConfig, kindFiles, makeHistory } from "./preview-kinds-files.ts";

onStage("kinds of previews", kindFiles, { config: kindConfig, prepare: makeHistory }, (stage) => {
  it("renders HTML inside Markdown from a fixed list, and nothing of it acts", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await openFile(visit, "README.md");
    const shown = page.locator(".markdown");
    await shown.locator("p.align-center b", { hasText: "Orchard" }).waitFor();
    expect(await shown.locator("kbd").allTextContents()).toEqual(["Ctrl", "K"]);
    expect(await shown.locator("p", { hasText: "H2O" }).textContent()).toContain("set <your-token>.");
    expect(await shown.locator("th", { hasText: "Region" }).count()).toBe(1);
    expect(await shown.locator("th.align-right", { hasText: "Default" }).count()).toBe(1);
    expect(await shown.locator("td.align-right", { hasText: "3" }).count()).toBe(1);
    expect(await shown.getByRole("link", { name: "image: Orchard logo" }).getAttribute("href")).toBe(
      "https://example.org",
    );
    const text = await shown.textContent();
    expect(text).not.toContain("hidden remark");
    expect(text).not.toContain("window.ran");
    expect(await shown.locator("[style], [id], [onclick], img, script").count()).toBe(0);
    expect(await shown.locator("h3", { hasText: "Tasks" }).getAttribute("data-line")).toBe("11");
    expect(visit.troubles).toEqual([]);
  });

  it("shows task lists as checkboxes that cannot be changed, and details that open by keyboard", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await openFile(visit, "README.md");
    const boxes = page.locator(".markdown").getByRole("checkbox");
    await boxes.first().waitFor();
    expect(await Promise.all((await boxes.all()).map((box) => box.isChecked()))).toEqual([true, false, true]);
    expect(await boxes.first().isDisabled()).toBe(true);
    expect(await page.getByRole("cell", { name: "max" }).isVisible()).toBe(false);
    await page.locator("summary").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("cell", { name: "max" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("shows the log of a repository as a table of commits that lead to them", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "project").click();
    await show(visit, "Log");
    const commits = page.getByRole("table", { name: "log" });
    await commits.waitFor();
    expect(await commits.locator("thead th").allTextContents()).toEqual(["Commit", "Subject", "Author", "Date"]);
    expect(await commits.locator("td:nth-child(2)").allTextContents()).toEqual(
      [3, 2, 1].map((number) => `Change ${number} <b>boldly</b> `),
    );
    expect(await commits.locator("td:nth-child(3)").first().textContent()).toBe("Ada");
    await commits.getByRole("button").first().press("Enter");
    await page.locator(".uri", { hasText: /commit\/[0-9a-f]{40}$/ }).waitFor();
    await page.locator(".about h2", { hasText: "Change 3 <b>boldly</b>" }).waitFor();
    expect(await page.locator(".about .facts").textContent()).not.toContain("unknown");
    await page.getByRole("button", { name: "a.txt" }).click();
    await page.getByRole("heading", { name: "a.txt +1 −1" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("shows a diff side by side on a wide screen, chosen by mouse and keyboard, and unified on a narrow one", async () => {
    await using visit = await stage.open({ viewport: { width: 1280, height: 800 } });
    const { page } = visit;
    await openFile(visit, "change.diff");
    await page.getByRole("button", { name: "Side by side" }).click();
    const sides = page.getByRole("table", { name: "src/retry.ts" });
    const cells = sides.locator("tr", { hasText: "const max" }).locator("td");
    expect(await cells.allTextContents()).toEqual(["", "−   const max = 2;", "", "+   const max = 3;"]);
    expect(await cells.nth(0).getAttribute("data-line")).toBe("11");
    expect(await sides.locator("del, ins").count()).toBe(3);
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await sides.waitFor({ state: "detached" });
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await sides.waitFor();
    await page.setViewportSize({ width: 800, height: 800 });
    await sides.waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Side by side" }).count()).toBe(0);
    await page.setViewportSize({ width: 2200, height: 800 });
    await sides.waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("sorts a table by its headers, by mouse and keyboard: numbers as numbers, empty cells last", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await openFile(visit, "people.csv");
    const header = (name: string) => page.getByRole("columnheader", { name });
    const column = (nth: number) => page.locator(`table.data tbody td:nth-child(${nth})`).allTextContents();
    await header("score").getByRole("button").click();
    await expect.poll(() => column(3)).toEqual(["1.5", "9", "10", "10", ""]);
    expect(await column(2)).toEqual(["Abe 2", "田中", "abe", "伊藤", ""]);
    expect(await page.locator("table.data tbody th").allTextContents()).toEqual(["5", "1", "2", "4", "3"]);
    expect(await header("score").getAttribute("aria-sort")).toBe("ascending");
    await page.keyboard.press("Enter");
    await expect.poll(() => column(2)).toEqual(["abe", "伊藤", "田中", "Abe 2", ""]);
    expect(await header("score").getAttribute("aria-sort")).toBe("descending");
    await page.keyboard.press("Space");
    await expect.poll(() => column(2)).toEqual(["田中", "abe", "", "伊藤", "Abe 2"]);
    await header("name").getByRole("button").press("Enter");
    await expect.poll(() => column(2)).toEqual(["abe", "Abe 2", "伊藤", "田中", ""]);
    expect(await header("score").getAttribute("aria-sort")).toBe("none");
    expect(visit.troubles).toEqual([]);
  });

  it("shows a notebook by its cells and outputs", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await openFile(visit, "sales.ipynb");
    const notebook = page.locator(".notebook");
    await notebook.locator(".markdown strong", { hasText: "region" }).waitFor();
    await notebook.locator(".code-keyword", { hasText: "import" }).waitFor();
    expect(await notebook.locator(".cell-label").allTextContents()).toEqual(["Code [1]", "Code [2]", "Code"]);
    expect(await notebook.locator(".cell-output > pre").allTextContents()).toEqual([
      "read 1 row\n",
      "ZeroDivisionError: division by zero",
    ]);
    expect(await notebook.locator("tbody td").allTextContents()).toEqual(["関東", "1204"]);
    await notebook.getByRole("img", { name: "<Figure size 640x480>" }).waitFor();
    expect(await notebook.locator("[data-line]").count()).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it("shows a PDF page by page, and goes to a page", async () => {
    await using visit = await stage.open({ viewport: { width: 1000, height: 400 } });
    const { page } = visit;
    await openFile(visit, "paper.pdf");
    const headings = page.locator(".pages h3");
    await headings.first().waitFor();
    expect(await headings.allTextContents()).toEqual(["Page 1 of 3", "Page 2 of 3", "Page 3 of 3"]);
    await page.getByText("No text on this page").waitFor();
    const line = page.locator(".page-line", { hasText: "Payment within 30 days" });
    expect(await line.getAttribute("data-line")).toBe("9");
    await page.getByLabel("Go to page").selectOption("3");
    await expect.poll(() => focused(visit)).toBe("Page 3 of 3");
    expect(visit.troubles).toEqual([]);
  });

  it("breaks no rule of axe", async () => {
    await using visit = await openToCheck(stage, "en-US");
    const { page } = visit;
    const signs = {
      "README.md": ".markdown kbd",
      "people.csv": "tbody th",
      "sales.ipynb": ".code-keyword",
      "paper.pdf": ".pages h3",
    };
    for (const [name, sign] of Object.entries(signs)) {
      await openFile(visit, name);
      await page.locator(`.face ${sign}`).first().waitFor();
      expect(await visit.violations(), name).toEqual([]);
    }
    await page.setViewportSize({ width: 2200, height: 900 });
    await openFile(visit, "change.diff");
    await page.locator(".diff-sides").waitFor();
    expect(await page.evaluate("axe.run().then(({ violations }) => violations.map(({ id }) => id))")).toEqual([]);
    await row(visit, "project").click();
    await show(visit, "Log");
    await page.locator(".git-log td").first().waitFor();
    expect(await visit.violations(), "log").toEqual([]);
    await page.locator(".git-log .link").first().click();
    await page.getByRole("table", { name: "Changed files" }).waitFor();
    expect(await visit.violations(), "commit").toEqual([]);
  });
});

async function openFile(visit: Visit, name: string): Promise<void> {
  const folder = row(visit, "shelf");
  await folder.waitFor();
  if ((await folder.getAttribute("aria-expanded")) === "false") await folder.click();
  await show(visit, name);
}
