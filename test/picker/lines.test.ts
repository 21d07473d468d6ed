/** Lines: a hit opens at its lines, and they are chosen from results and previews. */
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { pdf } from "../../src/backends/documents/test-documents.ts";
import type { Visit } from "./browser.ts";
import { chooseTab, clipboard, mayCopy, openToCheck, row, show, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const numbered = (count: number, special: Readonly<Record<number, string>>): string =>
  Array.from({ length: count }, (_, index) => `${special[index + 1] ?? `row ${index + 1} of the list`}\n`).join("");
const large = Array.from({ length: 9000 }, (_, index) => `entry${index + 1} of many\n`).join("");
// Too long for its place, also in a font without these letters.
const japanese = `${"とても長い名前のフォルダー".repeat(6)}/設計/決済の設計書.md`;
const files: Readonly<Record<string, string | Uint8Array>> = {
  "long.txt": numbered(2000, { 187: "the quokka sleeps", 1756: "a wombat digs", 1757: "its long burrow" }),
  "code.ts": `${"export const a = 1;\n".repeat(300)}\nexport function platypus(): number {\n  return 1;\n}\n`,
  "guide.md": `# Guide\n\n${"Some text.\n\n".repeat(80)}## Echidna\n\nThe echidna eats ants\nand termites.\n\n${"More text.\n\n".repeat(80)}`,
  "wide.csv": `name,note\n${"koala,leaves\n".repeat(400)}dugong,grass\n`,
  "large.txt": large,
  "links.md": "See [an entry](large.txt?lines=7654-7655).\n",
  [japanese]: "# 決済\n\n二重請求を防ぐ。\n",
  "study.ipynb": JSON.stringify({
    cells: Array.from({ length: 40 }, (_, index) => ({
      cell_type: "markdown",
      source: [index === 30 ? "the bandicoot hides" : `cell ${index}`],
    })),
  }),
  "paper.pdf": pdf([["Anteater", ...Array.from({ length: 30 }, (_, index) => `paragraph ${index}`), "numbat nest"]]),
};

// Larger files are read in parts.
const config = "mounts: { files: { source: file, root: ., maxBytes: 100000 } }\n";

onStage("lines", files, { config, isSearched: true }, (stage) => {
  it("a hit opens its resource at its lines, marked; the next hit of the same file only scrolls", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await find(visit, "quokka");
    await page.locator(".hit").first().click();
    await inView(page, "the quokka sleeps");
    const read = watchReads(page);
    await find(visit, "wombat");
    await page.keyboard.press("Enter");
    await inView(page, "a wombat digs");
    expect(await page.locator(".line-matched", { hasText: "quokka" }).count()).toBe(0);
    expect(read).toEqual([]);
    // Scrolled away, and back.
    await page.locator(".content").hover();
    await page.mouse.wheel(0, -5000);
    await expect.poll(() => isInView(page, "a wombat digs"), soon).toBe(false);
    await page.getByRole("button", { name: /^Go to lines? / }).click();
    await inView(page, "a wombat digs");
    expect(visit.troubles).toEqual([]);
  });

  it("a change does not move the lines that the person is looking at", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await find(visit, "wombat");
    await page.keyboard.press("Enter");
    await inView(page, "a wombat digs");
    const scroller = page.locator(".content");
    await scroller.hover();
    await page.mouse.wheel(0, -300);
    const top = await stillTop(page);
    stage.write("long.txt", `${String(files["long.txt"])}one more\n`);
    await page.locator(".news", { hasText: "Updated" }).waitFor();
    expect(await stillTop(page)).toBe(top);
    expect(visit.troubles).toEqual([]);
  });

  it("a hit is shown where it is, in code, Markdown, a table and documents", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    for (const [query, text] of [
      ["platypus", "export function platypus"],
      ["echidna termites", "echidna eats ants"],
      ["dugong", "dugong,grass"],
      ["numbat", "numbat nest"],
      ["bandicoot", "bandicoot hides"],
    ] as const) {
      await find(visit, query);
      await page.keyboard.press("Enter");
      await inView(page, text);
    }
    expect(visit.troubles).toEqual([]);
  });

  it.each(Object.entries(ticking))(
    "a tick takes the lines of a hit, or its whole file, %s",
    async (how, [tick, whole]) => {
      const isTouch = how === "by touch";
      await using visit = await stage.open(isTouch ? { hasTouch: true, viewport: { width: 400, height: 800 } } : {});
      const { page } = visit;
      await find(visit, "platypus");
      const hit = page.getByRole("option").first();
      expect(await hit.textContent()).not.toContain("tokens");
      await tick(visit);
      await expect.poll(() => hit.getAttribute("aria-checked"), soon).toBe("true");
      // On a phone the tray is another view.
      await page.locator(`.chosen [title*="code.ts?lines="]`).waitFor({ state: "attached" });
      await hit.locator(".hit-facts", { hasText: /\d tokens/ }).waitFor();
      expect(await page.locator(".hit .whole.on").count()).toBe(0);
      await whole(visit);
      await page.locator(".hit .whole.on").waitFor();
      expect(await hit.getAttribute("aria-selected")).toBe("true");
      await page.locator(`.chosen [title$="code.ts"]`).waitFor({ state: "attached" });
      expect(visit.troubles).toEqual([]);
    },
  );

  it.each(["long.txt", "code.ts"])(
    "lines of %s are chosen by their numbers: click, Shift-click, drag",
    async (name) => {
      await using visit = await stage.open();
      const { page } = visit;
      await show(visit, name);
      await page.locator(`.line[data-line="5"]`).click({ position: { x: 12, y: 8 } });
      await page.getByRole("button", { name: "Choose line 5", exact: true }).waitFor();
      await page.locator(`.line[data-line="3"]`).click({ position: { x: 12, y: 8 }, modifiers: ["Shift"] });
      await page.getByRole("button", { name: "Choose lines 3–5" }).click();
      await page.locator(`.chosen [title$="${name}?lines=3-5"]`).waitFor();
      expect(await lineNumbers(page, ".line-chosen")).toEqual(["3", "4", "5"]);
      await page.locator(`.line[data-line="8"]`).hover({ position: { x: 12, y: 8 } });
      await page.mouse.down();
      await page.locator(`.line[data-line="11"]`).hover({ position: { x: 60, y: 8 } });
      await page.mouse.up();
      await page.locator(`.line[data-line="14"]`).hover({ position: { x: 60, y: 8 } });
      await page.getByRole("button", { name: "Choose lines 8–11" }).click();
      await page.locator(`.chosen [title$="${name}?lines=8-11"]`).waitFor();
      // Chosen lines are removed in the same way.
      await page.locator(`.line[data-line="3"]`).click({ position: { x: 12, y: 8 } });
      await page.locator(`.line[data-line="5"]`).click({ position: { x: 12, y: 8 }, modifiers: ["Shift"] });
      await page.getByRole("button", { name: "Remove lines 3–5" }).click();
      await expect.poll(() => lineNumbers(page, ".line-chosen"), soon).toEqual(["8", "9", "10", "11"]);
      expect(visit.troubles).toEqual([]);
    },
  );

  it("lines are chosen by keyboard, from the first visible one on", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "long.txt");
    await page.getByRole("region", { name: "Preview" }).focus();
    await page.keyboard.press("Shift+ArrowDown");
    await expect.poll(() => lineNumbers(page, ".line-picked"), soon).toEqual(["1"]);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await page.getByText("Lines 2–4 selected; Enter chooses, Escape cancels").waitFor();
    await page.keyboard.press("Enter");
    await page.locator(`.chosen [title$="long.txt?lines=2-4"]`).waitFor();
    await page.keyboard.press("Shift+ArrowUp");
    await page.locator(".line-picked").first().waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.locator(".line-picked").count(), soon).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it.each(["by mouse", "by touch"])("selected text is chosen by its lines, %s; numbers are not copied", async (how) => {
    const isTouch = how === "by touch";
    await using visit = await stage.open(isTouch ? { hasTouch: true, viewport: { width: 400, height: 800 } } : {});
    const { page } = visit;
    await show(visit, "long.txt");
    // Up to the beginning of line 13.
    await page.evaluate(`(() => {
      const line = (number) => document.querySelector('.line[data-line="' + number + '"]').firstChild;
      getSelection().setBaseAndExtent(line(10), 4, line(13), 0);
    })()`);
    expect(await page.evaluate("String(getSelection())")).toBe(
      "10 of the list\nrow 11 of the list\nrow 12 of the list\n",
    );
    const choose = page.getByRole("button", { name: "Choose lines 10–12" });
    await (isTouch ? choose.tap() : choose.click());
    await page.locator(`.chosen [title$="long.txt?lines=10-12"]`).waitFor({ state: "attached" });
    expect(visit.troubles).toEqual([]);
  });

  it("lines are chosen by touch: a tap on a number, and on another one for all between them", async () => {
    await using visit = await stage.open({
      hasTouch: true,
      isMobile: true,
      viewport: { width: 400, height: 800 },
    });
    const { page } = visit;
    await row(visit, "long.txt").tap();
    const tapNumber = async (line: number): Promise<void> =>
      page.locator(`.line[data-line="${line}"]`).tap({ position: { x: 40, y: 8 } });
    await page.locator(`.line[data-line="2"]`).waitFor();
    await tapNumber(2);
    await page.getByRole("button", { name: "Choose line 2" }).waitFor();
    await tapNumber(4);
    const choose = page.getByRole("button", { name: "Choose lines 2–4" });
    await choose.waitFor();
    const above = (await choose.boundingBox())!;
    const actions = (await page.locator(".about > .actions").boundingBox())!;
    expect(above.y + above.height).toBeLessThanOrEqual(actions.y);
    // Elsewhere, a tap begins anew.
    await page.locator(`.line[data-line="7"]`).tap({ position: { x: 90, y: 8 } });
    await expect.poll(() => page.locator(".line-picked").count(), soon).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it("text of a rendered document is chosen by the lines of its source", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await find(visit, "echidna termites");
    await page.keyboard.press("Enter");
    // The text is shown until its view is loaded, or instead of a view without lines.
    await page.locator(`.markdown [data-line], #tab-raw[aria-selected="true"]`).first().waitFor();
    await inView(page, "echidna eats ants");
    await page.evaluate(`(() => {
      const text = [...document.querySelectorAll("[data-line]")].findLast((each) => each.textContent.includes("termites"));
      getSelection().setBaseAndExtent(text.firstChild, 0, text, text.childNodes.length);
    })()`);
    await page.getByRole("button", { name: /^Choose lines? (165–)?166$/ }).click();
    await page.locator(`.chosen [title*="guide.md?lines="]`).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("lines of a document are those of its extracted text", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "paper.pdf");
    await chooseTab(visit, "Raw");
    await page.locator(`.line[data-line="2"]`, { hasText: "Anteater" }).click({ position: { x: 12, y: 8 } });
    await page.getByRole("button", { name: "Choose line 2", exact: true }).click();
    await page.locator(`.chosen [title$="paper.pdf?as=text&lines=2-2"]`).click();
    await inView(page, "Anteater", ".line-found");
    expect(await page.locator(".about .path-text").getAttribute("title")).toBe(stage.uriOf("paper.pdf"));
    expect(visit.troubles).toEqual([]);
  });

  it("paths are decoded wherever they are read, and their names stay visible; the URI is copied", async () => {
    await using visit = await stage.open({ ...mayCopy, viewport: { width: 500, height: 800 } });
    const { page } = visit;
    const uri = stage.uriOf(japanese);
    await find(visit, "二重請求");
    const path = page.locator(".hit-uri").first();
    expect(await path.textContent()).toBe(japanese);
    // Folders are cut, the name is not. Each is measured while it is visible: the narrow page shows one view at a time.
    const isCut = (within: string) =>
      page.evaluate(
        `[...document.querySelectorAll("${within} :is(.path-folders, .path-name)")].map((each) => each.scrollWidth > each.clientWidth)`,
      );
    await expect.poll(() => isCut(".hit-uri"), soon).toEqual([true, false]);
    await page.locator(".hit").first().click();
    const header = page.locator(".about .path-text");
    await header.waitFor();
    // The name is the title above.
    const folder = japanese.slice(0, japanese.lastIndexOf("/") + 1);
    expect([await header.textContent(), await header.getAttribute("title")]).toEqual([folder, uri]);
    await expect.poll(() => isCut(".about"), soon).toEqual([true, false]);
    await page.getByRole("button", { name: "Copy URI", exact: true }).click();
    await expect.poll(() => clipboard(visit), soon).toBe(uri);
    await page.getByRole("button", { name: "Show folder" }).click();
    await page.getByRole("treeitem").filter({ hasText: "設計" }).last().waitFor();
    expect(await page.locator("body").innerText()).not.toMatch(/%E[0-9A-F]%/);
    expect(visit.troubles).toEqual([]);
  });

  it("breaks no rule of axe with lines that are found, chosen and selected", async () => {
    await using visit = await openToCheck(stage, "en-US");
    const { page } = visit;
    await find(visit, "platypus");
    await page.keyboard.press("Enter");
    await inView(page, "export function platypus");
    await page.locator(`.line[data-line="299"]`).click({ position: { x: 12, y: 8 } });
    await page.getByRole("button", { name: "Choose line 299", exact: true }).click();
    await page.locator(".hit .tick").first().click();
    await page.locator(`.line[data-line="303"]`).click({ position: { x: 12, y: 8 } });
    await page.locator(".choose-lines").waitFor();
    expect(await visit.violations()).toEqual([]);
  });

  it("excerpts of code are in a monospace font with the numbers of their lines, those of prose are not", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    const font = `getComputedStyle(document.querySelector(".snippet")).fontFamily`;
    await find(visit, "dugong");
    expect(await page.evaluate(font)).toContain("monospace");
    expect(await page.locator(".snippet [data-number]").count()).toBe(0);
    await find(visit, "platypus");
    const line = page.locator(".snippet-line", { has: page.locator("mark") }).first();
    expect(await line.textContent()).toBe("export function platypus(): number {\n");
    expect(await line.getAttribute("data-number")).toBe("302");
    await find(visit, "echidna");
    expect(await page.evaluate(font)).not.toContain("monospace");
    expect(visit.troubles).toEqual([]);
  });

  it("a large resource is opened near the lines, and continues before and after them", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await show(visit, "links.md");
    await page.getByRole("button", { name: "an entry" }).click();
    await inView(page, "entry7654 ", ".line-found");
    const first = page.locator(".line").first();
    const before = await first.getAttribute("data-line");
    expect(Number(before)).toBeGreaterThan(7000);
    expect(await first.textContent()).toBe(`entry${before} of many\n`);
    await page.locator(".content").hover();
    await page.mouse.wheel(0, -1e6);
    await page.getByRole("button", { name: "Load earlier lines" }).click();
    await expect.poll(() => first.getAttribute("data-line"), soon).toBe(String(Number(before) - 1000));
    await inView(page, `entry${before} `, ".line");
    await page.getByRole("button", { name: /^Go to lines/ }).click();
    await inView(page, "entry7654 ", ".line-found");
    expect(visit.troubles).toEqual([]);
  });
});

/** How the lines of the first result are ticked, and how its whole file. */
const ticking = {
  "by mouse": [
    ({ page }: Visit) => page.locator(".hit .tick").first().click(),
    async ({ page }: Visit) => {
      await page.locator(".hit").first().hover();
      await page.locator(".hit .whole").first().click();
    },
  ],
  "in the search box": [
    ({ page }: Visit) => page.keyboard.press("Control+Enter"),
    ({ page }: Visit) => page.keyboard.press("Alt+w"),
  ],
  "in the list": [
    async ({ page }: Visit) => {
      await page.getByRole("listbox").focus();
      await page.keyboard.press("Space");
    },
    ({ page }: Visit) => page.keyboard.press("w"),
  ],
  "by touch": [
    ({ page }: Visit) => page.locator(".hit .tick").first().tap(),
    ({ page }: Visit) => page.locator(".hit .whole").first().tap(),
  ],
} as const;

async function find({ page }: Visit, text: string): Promise<void> {
  await page.getByRole("combobox").first().fill(text);
  await page.locator(".hit mark").first().waitFor();
  await expect.poll(() => page.locator(".hit").first().textContent(), soon).toContain(text.split(" ")[0]);
}

/** The URIs that are read from now on. */
function watchReads(page: Page): string[] {
  const read: string[] = [];
  page.on("request", (request) => {
    const body = request.postData() ?? "";
    if (body.includes('"resources/read"')) read.push(body);
  });
  return read;
}

function lineNumbers(page: Page, lines: string): Promise<string[]> {
  return page.evaluate(`[...document.querySelectorAll("${lines}")].map((each) => each.dataset.line)`);
}

/** Where the marked line is, once nothing moves any more. */
function stillTop(page: Page): Promise<number> {
  return page.evaluate(`new Promise((resolve) => {
    let [before, still] = [NaN, 0];
    const look = () => {
      const { top } = document.querySelector(".line-matched").getBoundingClientRect();
      still = top === before ? still + 1 : 0;
      before = top;
      if (still > 10) resolve(Math.round(top));
      else requestAnimationFrame(look);
    };
    look();
  })`);
}

/** Waits until a marked line with this text is within the visible part of the preview. */
async function inView(page: Page, text: string, marked = ".line-matched"): Promise<void> {
  await expect.poll(() => isInView(page, text, marked), { ...soon, message: `${text} in view` }).toBe(true);
}

function isInView(page: Page, text: string, marked = ".line-matched"): Promise<boolean> {
  return page.evaluate(`(() => {
    const line = [...document.querySelectorAll(${JSON.stringify(marked)})].find((each) => each.textContent.includes(${JSON.stringify(text)}));
    const inside = line?.getBoundingClientRect();
    const box = document.querySelector(".content").getBoundingClientRect();
    return inside !== undefined && inside.top >= box.top && inside.bottom <= box.bottom;
  })()`);
}
