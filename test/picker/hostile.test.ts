/** What is hostile runs nothing, asks nobody, and does not bring the page to a halt. */
import { expect, it } from "vitest";
import { visibleText } from "../../src/lib/visible-text.ts";
import type { Visit } from "./browser.ts";
import { elsewhere, hostileFiles } from "./hostile-files.ts";
import { chooseTab, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

onStage("what is hostile", hostileFiles, {}, (stage) => {
  it(
    "runs nothing and asks nobody, when it is looked at in every way and when it is clicked",
    { timeout: 120_000 },
    async () => {
      await using visit = await stage.open({ viewport: { width: 1280, height: 2400 } });
      const { page, troubles } = visit;
      const names = page.locator(".row .name");
      await names.nth(Object.keys(hostileFiles).length).waitFor();
      const listed = (await names.allTextContents()).slice(1);
      expect(listed.toSorted()).toEqual(Object.keys(hostileFiles).map(visibleText).toSorted());
      for (const name of listed) {
        await names.getByText(name, { exact: true }).click();
        await page.locator(".about h2", { hasText: name }).first().waitFor();
        await settled(visit);
        await touchEverything(visit);
        expect(await badElements(visit), name).toEqual([]);
        expect(await badLinks(visit), name).toEqual([]);
        for (const tab of ["Raw", "About"] as const) {
          await chooseTab(visit, tab);
          await settled(visit);
          expect(await badElements(visit), `${name}, ${tab}`).toEqual([]);
        }
        await chooseTab(visit, "View");
        expect(troubles, name).toEqual([]);
      }
      expect(await page.evaluate("window.ran")).toBeUndefined();
      expect(await page.evaluate("({}).polluted")).toBeUndefined();
      expect(troubles).toEqual([]);
    },
  );

  it("would be noticed if it did", async () => {
    await using visit = await stage.open();
    await visit.page.evaluate(
      `new Promise((done) => { const image = new Image(); image.onerror = done; image.src = "${elsewhere}/pixel.png"; })`,
    );
    await expect.poll(() => visit.troubles, soon).toContainEqual(expect.stringContaining("policy: img-src"));
  });
});

/** Read, and shown by the renderer that it asks for: no view failed, none is still loading. */
async function settled({ page }: Visit): Promise<void> {
  await page.locator(".face > *").first().waitFor();
  await page.locator(".face").getByText("Loading…").waitFor({ state: "detached" });
  expect(await page.getByText("The view failed").count()).toBe(0);
}

/** What can be opened is opened, what looks like a link is clicked, the plot is pointed at. */
async function touchEverything({ page }: Visit): Promise<void> {
  for (const closed of await page.locator(".face details:not([open]) > summary").all())
    await closed.click({ timeout: 5000 });
  for (const link of await page.locator(".face .markdown span[title]").all()) await link.click();
  for (const plot of await page.getByRole("slider").all()) await plot.hover();
  await page.locator(".content").hover();
}

function badElements({ page }: Visit): Promise<unknown> {
  return page.evaluate(`[
    ...document.querySelectorAll(".preview :is(script, iframe, style, base, meta, link, object, embed, form, foreignObject, use, image, animate, set)"),
    ...[...document.querySelectorAll(".preview *")].filter((element) =>
      [...element.attributes].some(({ name, value }) => name.startsWith("on") || /^\\s*(javascript|data|vbscript):/i.test(value) && name !== "title")),
  ].map((element) => element.outerHTML.slice(0, 100))`);
}

/** Links lead to the web alone, and only when they are clicked. */
function badLinks({ page }: Visit): Promise<unknown> {
  return page.evaluate(
    `[...document.querySelectorAll(".preview a")].filter((link) => !/^https?:$/.test(link.protocol) || link.rel !== "noopener noreferrer").map(String)`,
  );
}
