/** The picker in a real browser, on a real server with real files. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { chosen, row, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const files: Record<string, string> = {
  "README.md":
    "# Welcome\n\nThis is **bold**, with a [way](docs/plan.md) on.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
  "docs/plan.md": "# Plan\n\nThe budget of next year.\n",
  "docs/予算.md": "# 予算\n\n来年の予算について。\n",
  "src/main.ts": "export const answer = 42; // <b>not bold</b>\n",
  "live.md": "# Before\n",
};
for (let index = 0; index < 1500; index += 1) files[`many/file-${String(index).padStart(4, "0")}.txt`] = `${index}\n`;

onStage("the picker", files, {}, (stage) => {
  it("shows folders and resources, and opens them by mouse, with the URI above", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "docs").click();
    await row(visit, "plan.md").click();
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    expect(await page.locator(".about .path-text").getAttribute("title")).toBe(stage.uriOf("docs/plan.md"));
    await page.getByRole("tab", { name: "Templates" }).click();
    await page.getByRole("button", { name: "Show folder" }).click();
    await page.locator(".row.active", { hasText: "docs" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("is used by keyboard alone: arrows, enter, space, letters and the slash", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "docs").waitFor();
    await page.getByRole("tree").focus();
    const active = () => page.locator(".row.active .name").textContent();
    await page.keyboard.press("ArrowDown");
    expect(await active()).toBe("docs");
    await page.keyboard.type("sr");
    expect(await active()).toBe("src");
    await page.keyboard.press("ArrowRight");
    await row(visit, "main.ts").waitFor();
    await page.keyboard.press("ArrowRight");
    expect(await active()).toBe("main.ts");
    await page.keyboard.press("Enter");
    await page.locator(".text pre", { hasText: "answer = 42; // <b>not bold</b>" }).waitFor();
    await page.keyboard.press("Space");
    expect(await chosen(visit)).toEqual(["main.ts"]);
    expect(await row(visit, "main.ts").getAttribute("aria-checked")).toBe("true");
    await page.keyboard.press("ArrowLeft");
    expect(await active()).toBe("src");
    await page.keyboard.press("ArrowLeft");
    await row(visit, "main.ts").waitFor({ state: "detached" });
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.getAttribute('role')")).toBe("combobox");
    expect(visit.troubles).toEqual([]);
  });

  it("draws only the rows in sight, and loads the rest of a folder as one scrolls", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "many").click();
    await row(visit, "file-0000.txt").waitFor();
    await page.getByRole("tree").focus();
    // The end of the folder comes into sight again and again, and moves on each time.
    const beforeLast = async (): Promise<string | null> => {
      for (const key of ["End", "ArrowUp", "ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
      return page.locator(".row.active").textContent();
    };
    await expect.poll(beforeLast, soon).toContain("file-1499.txt");
    expect(await page.getByRole("treeitem").count()).toBeLessThan(80);
    expect(visit.troubles).toEqual([]);
  });

  it("renders Markdown, and follows its links to other resources", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "README.md").click();
    await page.locator(".markdown strong", { hasText: "bold" }).waitFor();
    expect(await page.locator(".markdown li").allTextContents()).toEqual(["one", "two"]);
    expect(await page.locator(".markdown td").allTextContents()).toEqual(["1", "2"]);
    await page.getByRole("button", { name: "way" }).click();
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("shows what a file says as soon as it is saved, and that it is gone when it is removed", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "live.md").click();
    await page.getByRole("heading", { name: "Before" }).waitFor();
    const facts = page.locator(".about .facts");
    expect(await facts.textContent()).toContain("9 B");
    stage.write("live.md", "# After\n");
    await page.getByRole("heading", { name: "After" }).waitFor();
    await page.getByText("Updated at ").waitFor();
    // How large it was is not said of what is there now.
    expect(await facts.textContent()).toMatch(/^text\/markdown · changed (now|\d+ seconds? ago)$/);
    stage.write("newcomer.md", "# New\n");
    await row(visit, "newcomer.md").waitFor();
    rmSync(join(stage.root, "live.md"));
    await page.getByText("This resource no longer exists").waitFor();
    await row(visit, "live.md").waitFor({ state: "detached" });
    expect(visit.troubles).toEqual([]);
  });

  it("searches as one types, marks what was found, and opens it", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "docs").waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("budget");
    await page.locator("mark", { hasText: "budget" }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator(".about h2", { hasText: "plan.md" }).waitFor();
    await page.keyboard.press("Control+Enter");
    expect(await chosen(visit)).toEqual(["plan.md"]);
    await page.keyboard.press("Escape");
    await page.getByRole("tree").waitFor();
    await page.getByRole("combobox").fill("zzzqqqxxx");
    await page.getByText("Nothing found for “zzzqqqxxx”").waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("does not search for what is still being composed", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    const asked: string[] = [];
    page.on("request", (request) => {
      const query = /"search_resources".*"query":"([^"]*)"/.exec(request.postData() ?? "")?.[1];
      if (query !== undefined) asked.push(query);
    });
    await row(visit, "docs").waitFor();
    await page.getByRole("combobox").focus();
    const keyboard = await page.context().newCDPSession(page);
    for (const text of ["よ", "よさ", "よさん", "予算"])
      await keyboard.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
    expect(await page.getByRole("combobox").inputValue()).toBe("予算");
    expect(await page.getByRole("tree").count()).toBe(1);
    expect(await page.getByRole("combobox").getAttribute("aria-busy")).toBe("false");
    await keyboard.send("Input.insertText", { text: "予算" });
    await page.locator("mark", { hasText: "予算" }).first().waitFor();
    expect(asked).toEqual(["予算"]);
    expect(visit.troubles).toEqual([]);
  });

  it("says when the server cannot be reached, and tries again", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await page.route("**/mcp", (route) => route.abort());
    await page.reload();
    await page.getByRole("alert").getByText("The server cannot be reached").first().waitFor();
    await page.unroute("**/mcp");
    await page.getByRole("button", { name: "Try again" }).click();
    await row(visit, "docs").waitFor();
  });
});
