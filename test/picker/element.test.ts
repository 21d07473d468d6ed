/** The picker as a custom element, in a page of somebody else's that has styles, keys and a policy of its own. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPickerElement } from "../../scripts/build-picker.ts";
import { hasBrowser } from "./browser.ts";
import { row } from "./looking.ts";
import { openOtherPage, type OtherPage } from "./other-page.ts";

const html = `<!doctype html><html lang="en"><head><link rel="stylesheet" href="/page.css"></head>
<body><h1 class="top">Theirs</h1><input id="theirs"><pressmark-picker></pressmark-picker><script type="module" src="/page.js"></script></body></html>`;
const css = ".top { color: rgb(1, 2, 3); } button { background: rgb(255, 0, 0); } .page { display: none; }";
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src http://127.0.0.1:*";

describe.skipIf(!hasBrowser)("the picker as an element (needs /usr/bin/chromium)", { timeout: 60_000 }, () => {
  let other: OtherPage;
  beforeAll(async () => {
    other = await openOtherPage({
      files: { "docs/plan.md": "# Plan\n\nNext year.\n", "README.md": "# Welcome\n" },
      script: "element-page.js",
      external: ["/element/index.js"],
      policy,
      async prepare(scratch) {
        await buildPickerElement(join(scratch, "element"));
        return {};
      },
      answer(url, scratch) {
        if (url === "/page.css") return { type: "text/css", text: css };
        if (!url.startsWith("/element/")) return { type: "text/html", text: html };
        return { type: "text/javascript", text: readFileSync(join(scratch, url)) };
      },
    });
  }, 60_000);
  afterAll(() => other?.close(), 30_000);

  it.each([false, true])(
    "shows what it is handed (before it was defined: %s), and tells what was chosen",
    async (early) => {
      await using visit = await other.open({ early });
      const { page } = visit;
      await row(visit, "docs").click();
      await row(visit, "plan.md").click();
      await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
      await row(visit, "plan.md").locator(".tick").click();
      await row(visit, "README.md").locator(".tick").click();
      await page.getByRole("button", { name: "Use these" }).click();
      const uris = [other.uriOf("docs/plan.md"), other.uriOf("README.md")];
      expect(await page.evaluate("chosen")).toEqual([uris]);
      expect(await page.evaluate("document.querySelector('pressmark-picker').chosen.map(({ uri }) => uri)")).toEqual(
        uris,
      );
      expect(visit.troubles).toEqual([]);
    },
  );

  it("does not claim the files of a folder that cannot be listed", async () => {
    await using visit = await other.open();
    const { page } = visit;
    await row(visit, "docs").locator(".tick").click();
    await page.getByText("1 file ·").waitFor();
    await page.evaluate("globalThis.isBroken = true");
    const use = page.getByRole("button", { name: "Use these" });
    await use.click();
    await page.getByText("1 folder could not be listed").waitFor();
    expect(await page.evaluate("chosen")).toEqual([]);
    await row(visit, "README.md").locator(".tick").click();
    await use.click();
    await expect.poll(() => page.evaluate("chosen")).toEqual([[other.uriOf("README.md")]]);
    await page.evaluate("globalThis.isBroken = false");
    await row(visit, "docs").click();
    await row(visit, "plan.md").locator(".tick").click();
    const except = "document.querySelector('pressmark-picker').chosen.map(({ except }) => except ?? [])";
    expect(await page.evaluate(except)).toEqual([[other.uriOf("docs/plan.md")], []]);
  });

  it("takes no style of the page, and gives it none", async () => {
    await using visit = await other.open();
    const { page } = visit;
    await row(visit, "README.md").waitFor();
    const colour = (of: string) => page.evaluate(`getComputedStyle(${of}).color`);
    expect(await colour(`document.querySelector("h1")`)).toBe("rgb(1, 2, 3)");
    expect(await page.evaluate(`getComputedStyle(document.body).margin`)).toBe("8px");
    const shadow = `document.querySelector("pressmark-picker").shadowRoot`;
    expect(await page.evaluate(`getComputedStyle(${shadow}.querySelector("button")).backgroundColor`)).not.toBe(
      "rgb(255, 0, 0)",
    );
    expect(await page.evaluate(`${shadow}.querySelector(".page").getBoundingClientRect().height`)).toBe(640);
  });

  it("hears the keys that are typed into it, and leaves the page its own", async () => {
    await using visit = await other.open();
    const { page } = visit;
    await row(visit, "README.md").waitFor();
    await page.getByRole("heading", { name: "Theirs" }).click();
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("BODY");
    await page.getByRole("tree").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("a/b");
    expect(await page.getByRole("combobox").first().inputValue()).toBe("a/b");
  });

  it("speaks the language that the page says, and begins anew with other resources", async () => {
    await using visit = await other.open();
    const { page } = visit;
    await row(visit, "README.md").locator(".tick").click();
    await page.evaluate("document.querySelector('pressmark-picker').setAttribute('lang', 'ja')");
    await page.getByRole("button", { name: "選択したものを使う" }).waitFor();
    await page.evaluate("open()");
    await row(visit, "README.md").waitFor();
    expect(await page.evaluate("document.querySelector('pressmark-picker').chosen")).toEqual([]);
    await page.evaluate(
      "{ const it = document.querySelector('pressmark-picker'); it.remove(); document.body.append(it); }",
    );
    await row(visit, "README.md").waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("watches as long as it is in the page, wherever it is moved, and again when it is put back", async () => {
    await using visit = await other.open();
    const { page } = visit;
    const element = "document.querySelector('pressmark-picker')";
    const listens = () => page.evaluate("watched.filter(({ aborted }) => !aborted).length");
    await row(visit, "README.md").locator(".tick").click();
    await expect.poll(listens).toBeGreaterThan(0);
    await page.evaluate(`{ const it = ${element}; it.remove(); document.body.prepend(it); }`);
    await page.getByRole("button", { name: "Use these" }).waitFor();
    expect(await listens()).toBeGreaterThan(0);
    await page.evaluate(`globalThis.taken = ${element}; taken.remove()`);
    expect(await page.evaluate("taken.chosen.length")).toBe(1);
    await expect.poll(listens).toBe(0);
    await page.evaluate("document.body.append(taken)");
    await row(visit, "README.md").waitFor();
    await expect.poll(listens).toBeGreaterThan(0);
    expect(visit.troubles).toEqual([]);
  });
});
