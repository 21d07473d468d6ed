/** The picker inside a host: the official bridge, a sandboxed frame, and a real server behind both. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FrameLocator } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPickerApp } from "../../scripts/build-picker.ts";
import { hasBrowser } from "./browser.ts";
import { row as rowOf, soon } from "./looking.ts";
import { openOtherPage, type OtherPage } from "./other-page.ts";

/** The host is the owner's. */
const token = "0123456789abcdef0123456789abcdef";
const everyWay = {
  updateModelContext: { text: {}, resourceLink: {}, structuredContent: {} },
  message: { text: {} },
};

describe.skipIf(!hasBrowser)("the picker as an app (needs /usr/bin/chromium)", { timeout: 60_000 }, () => {
  let other: OtherPage;
  beforeAll(async () => {
    other = await openOtherPage({
      files: {
        "docs/plan.md": "# Plan\n\nThe budget of next year.\n",
        "README.md": "# Welcome\n",
        "main.ts": "export const answer = 42;\n",
        "sums.csv": "name,sum\none,42\n",
        "circle.svg": `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60"><circle r="9"/></svg>`,
      },
      script: "app-host.js",
      async prepare(scratch) {
        const pickerApp = join(scratch, "app.html");
        await buildPickerApp(pickerApp);
        const tokenFile = join(scratch, "token");
        writeFileSync(tokenFile, token, { mode: 0o600 });
        return { pickerApp, tokenFile };
      },
      answer: () => ({
        type: "text/html",
        text: `<!doctype html><iframe sandbox="allow-scripts" width="1000" height="300"></iframe><script type="module" src="/page.js"></script>`,
      }),
    });
  }, 60_000);
  afterAll(() => other?.close(), 30_000);

  async function open(era: "modern" | "legacy", capabilities: object = everyWay) {
    const visit = await other.open({ era, capabilities, token });
    return { ...visit, frame: visit.page.frameLocator("iframe") };
  }

  it.each(["modern", "legacy"] as const)("is linked from the tool, shown and used in the %s era", async (era) => {
    await using stay = await open(era);
    const { page, frame } = stay;
    await row(frame, "docs").click();
    await row(frame, "plan.md").click();
    await frame.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    await row(frame, "plan.md").locator(".tick").click();
    await frame.getByRole("button", { name: "Use these" }).click();
    await frame.getByText("Passed to the host").waitFor();
    expect(await page.evaluate("handed")).toMatchObject([
      {
        how: "context",
        content: [
          { type: "text", text: expect.stringContaining(other.uriOf("docs/plan.md")) as string },
          { type: "resource_link", uri: other.uriOf("docs/plan.md"), name: "plan.md" },
        ],
        structuredContent: { resources: [{ uri: other.uriOf("docs/plan.md"), name: "plan.md" }] },
      },
    ]);
    expect(await page.evaluate("found")).toMatchObject({
      uri: "ui://pressmark/picker",
      mimeType: "text/html;profile=mcp-app",
      meta: { ui: { csp: {} } },
    });
    expect(await page.evaluate("blocked")).toEqual([]);
    expect(stay.requests.filter((url) => !url.startsWith("about:"))).toEqual([]);
  });

  it("searches through the host, and looks dressed as the host asks", async () => {
    await using stay = await open("modern");
    const { frame } = stay;
    await row(frame, "docs").waitFor();
    await frame.getByRole("combobox").first().fill("budget");
    await frame.locator("mark", { hasText: "budget" }).waitFor();
    expect(await frame.locator("html").getAttribute("data-theme")).toBe("dark");
  });

  it("shows pictures, code and tables, though it may load nothing", async () => {
    await using stay = await open("modern");
    const { page, frame } = stay;
    await row(frame, "circle.svg").click();
    const picture = frame.getByRole("img", { name: "circle.svg" });
    await expect
      .poll(() => picture.evaluate((image: unknown) => (image as { naturalWidth: number }).naturalWidth), soon)
      .toBe(80);
    await row(frame, "main.ts").click();
    await frame.locator("pre span", { hasText: "const" }).first().waitFor();
    await row(frame, "sums.csv").click();
    await frame.getByRole("cell", { name: "42" }).waitFor();
    expect(await page.evaluate("blocked")).toEqual([]);
  });

  it("keeps the button that passes on within the frame, however small it is", async () => {
    await using stay = await open("modern");
    const { page, frame } = stay;
    await row(frame, "README.md").locator(".tick").click();
    let passed = 0;
    for (const width of [400, 700, 1000])
      for (const height of [300, 600]) {
        await page.evaluate(
          `Object.assign(document.querySelector("iframe"), { width: "${width}", height: "${height}" })`,
        );
        const button = frame.getByRole("button", { name: /^Use these 1 · (≈ )?\d+ tokens$/ });
        const outer = (await page.locator("iframe").boundingBox())!;
        await expect
          .poll(async () => {
            const inner = await button.boundingBox();
            return (
              inner !== null &&
              inner.x >= outer.x &&
              inner.y >= outer.y &&
              inner.x + inner.width <= outer.x + outer.width &&
              inner.y + inner.height <= outer.y + outer.height
            );
          }, soon)
          .toBe(true);
        expect(await row(frame, "README.md").isVisible(), `${width} x ${height}`).toBe(true);
        await button.click();
        passed += 1;
        await expect.poll(() => page.evaluate("handed.length"), soon).toBe(passed);
      }
  });

  it("completes templates through the host", async () => {
    await using stay = await open("modern");
    const { page, frame } = stay;
    await frame.getByRole("tab", { name: "Templates" }).click();
    await frame.locator(".templates .line").first().click();
    await page.keyboard.type("docs/");
    await frame.locator(".suggestions li", { hasText: "plan.md" }).waitFor();
  });

  it("shows the owner the state of the server", async () => {
    await using stay = await open("modern");
    await stay.frame.getByRole("button", { name: "State" }).click();
    await stay.frame.getByRole("dialog").getByText("test-host").first().waitFor();
  });

  it("looks again when it is told to, since hosts relay no updates", async () => {
    await using stay = await open("modern");
    const { frame } = stay;
    await row(frame, "README.md").click();
    await frame.getByRole("heading", { name: "Welcome" }).waitFor();
    other.write("README.md", "# Welcome back\n");
    other.write("later.md", "# Later\n");
    await expect
      .poll(async () => {
        await frame.getByRole("button", { name: "Refresh" }).click();
        return (
          (await row(frame, "later.md").count()) + (await frame.getByRole("heading", { name: "Welcome back" }).count())
        );
      }, soon)
      .toBe(2);
    other.write("README.md", "# Welcome\n");
  });

  it("hands over by a message where the host has nothing else, and says so where it has nothing at all", async () => {
    await using stay = await open("modern", { message: { text: {} } });
    await row(stay.frame, "README.md").locator(".tick").click();
    await stay.frame.getByRole("button", { name: "Use these" }).click();
    await stay.frame.getByText("Passed to the host").waitFor();
    expect(await stay.page.evaluate("handed")).toMatchObject([
      {
        how: "message",
        role: "user",
        content: [{ type: "text", text: expect.stringContaining("README.md") as string }],
      },
    ]);
    await using deaf = await open("modern", {});
    await row(deaf.frame, "README.md").locator(".tick").click();
    await deaf.frame.getByRole("button", { name: "Use these" }).click();
    await deaf.frame.getByText("The host did not accept them").waitFor();
  });
});

function row(frame: FrameLocator, name: string) {
  return rowOf({ page: frame }, name);
}
