/** The picker in a real browser, on a real server with real files. */
import { readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, openStage, type Stage, type Visit } from "./browser.ts";

const line = (number: number): string => `line ${number} of a long text that goes on and on and on\n`;
/** Larger than is read at once. */
const longText = Array.from({ length: 120_000 }, (_, index) => line(index + 1)).join("");
const circle = `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60"><circle cx="40" cy="30" r="20"/></svg>`;

const files: Record<string, string | Uint8Array> = {
  "README.md":
    "# Welcome\n\nThis is **bold**, with a [way](docs/plan.md) on.\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
  "docs/plan.md": "# Plan\n\nThe budget of next year.\n",
  "docs/予算.md": "# 予算\n\n来年の予算について。\n",
  "src/main.ts": "export const answer = 42; // <b>not bold</b>\n",
  "circle.svg": circle,
  "long.txt": longText,
  "parts.bin": new Uint8Array([0, 1, 2, 255, 254, 0, 3]),
  "live.md": "# Before\n",
};
for (let index = 0; index < 1500; index += 1) files[`many/file-${String(index).padStart(4, "0")}.txt`] = `${index}\n`;

describe.skipIf(!hasBrowser)("the picker (needs /usr/bin/chromium)", { timeout: 60_000 }, () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(files);
  }, 60_000);
  afterAll(() => stage?.close(), 30_000);

  it("shows folders and resources, and opens them by mouse, with the URI above", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "docs").click();
    await row(visit, "plan.md").click();
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    expect(await page.locator(".uri").textContent()).toBe(stage.uriOf("docs/plan.md"));
    expect(await page.locator(".crumbs .link").allTextContents()).toEqual(["shelf", "docs"]);
    await page.locator(".crumbs .link").last().click();
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
    expect(await active()).toBe("README.md");
    await page.keyboard.type("sr");
    expect(await active()).toBe("src");
    await page.keyboard.press("ArrowRight");
    await row(visit, "main.ts").waitFor();
    await page.keyboard.press("ArrowRight");
    expect(await active()).toBe("main.ts");
    await page.keyboard.press("Enter");
    await page.locator(".text pre", { hasText: "answer = 42; // <b>not bold</b>" }).waitFor();
    await page.keyboard.press("Space");
    expect(await page.locator(".chosen li .link").allTextContents()).toEqual(["main.ts"]);
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
      for (const key of ["End", "ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
      return page.locator(".row.active").textContent();
    };
    await expect.poll(beforeLast, { timeout: 20_000 }).toContain("file-1499.txt");
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

  it("shows images as such, and says of binary content that it is", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "circle.svg").click();
    const image = page.getByRole("img", { name: "circle.svg" });
    await image.waitFor();
    const shown = `document.querySelector(".content img")`;
    expect(await page.evaluate(`${shown}.decode().then(() => ${shown}.naturalWidth)`)).toBe(80);
    await row(visit, "parts.bin").click();
    await page.getByText(/Binary content \(.*7 B\)/).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("reads a large file a part at a time, as one scrolls", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "long.txt").click();
    await page.getByText("read a part at a time").waitFor();
    const region = page.getByRole("region", { name: "Preview" });
    expect(await region.textContent()).toContain(line(1).trim());
    while (!(await region.textContent())?.includes(line(3500).trim())) {
      const before = (await region.textContent())?.length ?? 0;
      await page.evaluate(`document.querySelector(".content").scrollTo(0, 1e9)`);
      await expect.poll(async () => (await region.textContent())?.length, { timeout: 10_000 }).toBeGreaterThan(before);
    }
    expect(visit.troubles).toEqual([]);
  });

  it("shows what a file says as soon as it is saved, and that it is gone when it is removed", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await row(visit, "live.md").click();
    await page.getByRole("heading", { name: "Before" }).waitFor();
    stage.write("live.md", "# After\n");
    await page.getByRole("heading", { name: "After" }).waitFor();
    await page.getByText("Updated while you looked").waitFor();
    stage.write("newcomer.md", "# New\n");
    await row(visit, "newcomer.md").waitFor();
    rmSync(join(stage.root, "live.md"));
    await page.getByText("This resource is gone").waitFor();
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
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    await page.keyboard.press("Control+Enter");
    expect(await page.locator(".chosen li .link").allTextContents()).toEqual(["plan.md"]);
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

  it("collects what was chosen, counts it against a budget, and copies it", async () => {
    await using visit = await stage.open({ permissions: ["clipboard-read", "clipboard-write"] });
    const { page } = visit;
    const clipboard = () => page.evaluate("navigator.clipboard.readText()");
    await row(visit, "README.md").locator(".tick").click();
    await row(visit, "circle.svg").locator(".tick").click();
    await page.getByRole("button", { name: "Move circle.svg up" }).click();
    await page.getByRole("button", { name: "Copy URIs" }).click();
    await page.getByText("Copied", { exact: true }).waitFor();
    expect(await clipboard()).toBe(`${stage.uriOf("circle.svg")}\n${stage.uriOf("README.md")}\n`);
    await page.getByRole("button", { name: "Take circle.svg out" }).click();
    await page.getByRole("button", { name: "Copy as Markdown" }).click();
    await expect.poll(clipboard).toContain("````".slice(1) + "markdown\n# Welcome");
    await page.getByText(/about [1-9]\d* of 100,000 tokens/).waitFor();
    await page.getByLabel("Budget").last().fill("1");
    await page.keyboard.press("Tab");
    await page.locator(".over").waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("speaks Japanese to those who do", async () => {
    await using visit = await stage.open({ locale: "ja-JP" });
    await visit.page.getByRole("tree", { name: "すべてのリソース" }).waitFor();
    expect(await visit.page.locator("html").getAttribute("lang")).toBe("ja");
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

  it.each([
    { colorScheme: "light", width: 1280 },
    { colorScheme: "dark", width: 1280 },
    { colorScheme: "light", width: 400 },
  ] as const)(
    "breaks no rule of axe with a tree, a preview and results, $colorScheme and $width wide",
    async ({ colorScheme, width }) => {
      // The checker is no part of the page, and may do what the page may not.
      await using visit = await stage.open({ colorScheme, viewport: { width, height: 800 }, bypassCSP: true });
      const { page } = visit;
      await row(visit, "README.md").waitFor();
      await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
      expect(await violations(visit)).toEqual([]);
      await row(visit, "README.md").click();
      await page.locator(".markdown strong").waitFor();
      await row(visit, "README.md").locator(".tick").click();
      await page.getByText(/about [1-9]\d* of/).waitFor();
      expect(await violations(visit)).toEqual([]);
      await page.getByRole("combobox").fill("budget");
      await page.locator("mark").first().waitFor();
      expect(await violations(visit)).toEqual([]);
    },
  );
});

function row({ page }: Visit, name: string) {
  return page.getByRole("treeitem").filter({ has: page.locator(".name").getByText(name, { exact: true }) });
}

async function violations({ page }: Visit): Promise<unknown> {
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" ")))`,
  );
}
