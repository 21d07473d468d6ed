/** Content and names that want to run, or to tell someone that they were looked at. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasBrowser, openStage, type Stage } from "./browser.ts";

/** Nothing answers there; a request would be seen all the same. */
const elsewhere = "http://127.0.0.1:9";
const script = `window.ran = true; fetch("${elsewhere}/ran")`;

const markdown: Readonly<Record<string, string>> = {
  "script.md": `# Hi\n\n<script>${script}</script>\n\n<img src=x onerror='${script}'>\n\n<svg onload='${script}'>`,
  "links.md": `[a](javascript:window.ran=true) [b](JaVaScRiPt:window.ran=true) [c](data:text/html,<script>window.ran=true</script>) [d](vbscript:x) [e]( javascript:window.ran=true) [f](java\tscript:x) [g](file:///etc/passwd) [h](blob:x)\n\n<javascript:window.ran=true>`,
  "images.md": `![a](${elsewhere}/pixel.png) ![b](//127.0.0.1:9/pixel.png) [![c](${elsewhere}/badge.svg)](javascript:window.ran=true)\n\n![d](data:image/svg+xml,<svg onload=alert(1)>)`,
  "attributes.md": `[x](http://127.0.0.1:9/"onmouseover="window.ran=true) <a href="javascript:window.ran=true">y</a> <iframe src="${elsewhere}"></iframe> <style>@import "${elsewhere}/x.css"</style> <base href="${elsewhere}"> <meta http-equiv=refresh content="0;url=${elsewhere}"> <link rel=prefetch href="${elsewhere}">`,
  "code.md": `\`\`\`html"><script>${script}</script>\n</code></pre><script>${script}</script>\n\`\`\`\n\n\`<script>${script}</script>\``,
  "deep.md": `${">".repeat(5000)} x\n\n${"[".repeat(20_000)}\n\n${"*a ".repeat(20_000)}\n\n${"- ".repeat(2000)}x\n\n${"`".repeat(20_000)}\n\n# ${" ".repeat(50_000)}x`,
};
const files: Readonly<Record<string, string>> = {
  ...markdown,
  "run.svg": `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20" onload='${script}'><script>${script}</script><image href="${elsewhere}/pixel.png" width="9" height="9"/><style>@import url("${elsewhere}/x.css"); rect { fill: url("${elsewhere}/f.svg#a") }</style><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="${elsewhere}"/></foreignObject><rect width="20" height="20"/></svg>`,
  "page.html": `<script>${script}</script><img src="${elsewhere}/pixel.png">`,
  "table.csv": `=HYPERLINK("${elsewhere}","x"),<img src=x onerror='window.ran=true'>\n`,
  "<img src=x onerror=window.ran=true>.md": "# named\n",
  "javascript:window.ran=true": "x\n",
  "\u202Etxt.exe\u2066.md": "# turned\n",
  '"><script>window.ran=true<': "x\n",
};

describe.skipIf(!hasBrowser)("what is hostile (needs /usr/bin/chromium)", { timeout: 60_000 }, () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(files);
  }, 60_000);
  afterAll(() => stage?.close(), 30_000);

  it("runs nothing and asks nobody, when it is looked at and when it is clicked", async () => {
    await using visit = await stage.open();
    const { page, troubles } = visit;
    const names = page.locator(".row .name");
    await names.nth(Object.keys(files).length).waitFor();
    const listed = (await names.allTextContents()).slice(1);
    expect(listed.toSorted()).toEqual(Object.keys(files).toSorted());
    for (const name of listed) {
      await names.getByText(name, { exact: true }).click();
      await page.locator("h2", { hasText: name }).first().waitFor();
      await page.locator(".content > :not(.state)").first().waitFor();
      const leads = await page.evaluate(`[...document.querySelectorAll(".content a")].map((link) => link.protocol)`);
      expect(
        (leads as string[]).filter((protocol) => protocol !== "http:"),
        name,
      ).toEqual([]);
      for (const link of await page.locator(".content .markdown span[title]").all()) await link.click();
      await page.locator(".content").hover();
    }
    expect(
      await page.locator(".content :is(script, iframe, style, base, meta, link, object, embed, form)").count(),
    ).toBe(0);
    expect(await page.evaluate("window.ran")).toBeUndefined();
    expect(troubles).toEqual([]);
  });

  it("would be noticed if it did", async () => {
    await using visit = await stage.open();
    await visit.page.evaluate(
      `new Promise((done) => { const image = new Image(); image.onerror = done; image.src = "${elsewhere}/pixel.png"; })`,
    );
    await expect.poll(() => visit.troubles).toContainEqual(expect.stringContaining("policy: img-src"));
  });
});
