/** The picker inside a host: the official bridge, a sandboxed frame, and a real server behind both. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type FrameLocator, type Page } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPickerApp } from "../../scripts/build-picker.ts";
import { type Server, startServer } from "../../src/server/start-server.ts";
import { chromiumPath, hasBrowser } from "./browser.ts";

interface Stay extends AsyncDisposable {
  readonly page: Page;
  readonly frame: FrameLocator;
  readonly requests: string[];
}

const everyWay = {
  updateModelContext: { text: {}, resourceLink: {}, structuredContent: {} },
  message: { text: {} },
};

describe.skipIf(!hasBrowser)("the picker as an app (needs /usr/bin/chromium)", { timeout: 60_000 }, () => {
  let scratch: string;
  let server: Server;
  let browser: Browser;
  let hostUrl: string;
  let close: () => void;
  const uriOf = (path: string): string => pathToFileURL(join(scratch, "shelf", path)).href;

  beforeAll(async () => {
    scratch = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-app-")));
    write("docs/plan.md", "# Plan\n\nThe budget of next year.\n");
    write("README.md", "# Welcome\n");
    write("main.ts", "export const answer = 42;\n");
    write("sums.csv", "name,sum\none,42\n");
    write("circle.svg", `<svg xmlns="http://www.w3.org/2000/svg" width="80" height="60"><circle r="9"/></svg>`);
    const pickerApp = join(scratch, "app.html");
    const [script] = await Promise.all([bundleHost(), buildPickerApp(pickerApp)]);
    server = await startServer({
      folders: [join(scratch, "shelf")],
      from: scratch,
      port: 0,
      env: { XDG_STATE_HOME: join(scratch, "state"), XDG_CACHE_HOME: join(scratch, "cache"), HOME: scratch },
      err: { write: () => true },
      allowedHosts: [],
      version: "1",
      pickerApp,
    });
    const pages = createServer((request, response) => {
      const isScript = request.url === "/host.js";
      response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
      response.end(
        isScript
          ? script
          : `<!doctype html><iframe sandbox="allow-scripts" width="1000" height="300"></iframe><script type="module" src="/host.js"></script>`,
      );
    });
    await new Promise<void>((listening) => pages.listen(0, "127.0.0.1", listening));
    hostUrl = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
    close = () => pages.close().closeAllConnections();
    browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    close?.();
    await server?.close();
    rmSync(scratch, { recursive: true, force: true });
  }, 30_000);

  function write(path: string, text: string): void {
    const file = join(scratch, "shelf", path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }

  async function open(era: "modern" | "legacy", capabilities: object = everyWay): Promise<Stay> {
    const context = await browser.newContext({ locale: "en-US" });
    const page = await context.newPage();
    const requests: string[] = [];
    page.on("request", (request) => {
      if (request.frame() !== page.mainFrame()) requests.push(request.url());
    });
    const asked = encodeURIComponent(JSON.stringify({ server: server.url, era, capabilities }));
    await page.goto(`${hostUrl}#${asked}`);
    return { page, frame: page.frameLocator("iframe"), requests, [Symbol.asyncDispose]: () => context.close() };
  }

  it.each(["modern", "legacy"] as const)("is linked from the tool, shown and used in the %s era", async (era) => {
    await using stay = await open(era);
    const { page, frame } = stay;
    await row(frame, "docs").click();
    await row(frame, "plan.md").click();
    await frame.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    await row(frame, "plan.md").locator(".tick").click();
    await frame.getByRole("button", { name: "Use these" }).click();
    await frame.getByText("Handed over").waitFor();
    expect(await page.evaluate("handed")).toMatchObject([
      {
        how: "context",
        content: [
          { type: "text", text: expect.stringContaining(uriOf("docs/plan.md")) as string },
          { type: "resource_link", uri: uriOf("docs/plan.md"), name: "plan.md" },
        ],
        structuredContent: { resources: [{ uri: uriOf("docs/plan.md"), name: "plan.md" }] },
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
      .poll(() => picture.evaluate((image: unknown) => (image as { naturalWidth: number }).naturalWidth))
      .toBe(80);
    await row(frame, "main.ts").click();
    await frame.locator("pre span", { hasText: "const" }).first().waitFor();
    await row(frame, "sums.csv").click();
    await frame.getByRole("cell", { name: "42" }).waitFor();
    expect(await page.evaluate("blocked")).toEqual([]);
  });

  it("looks again when it is told to, since hosts relay no updates", async () => {
    await using stay = await open("modern");
    const { frame } = stay;
    await row(frame, "README.md").click();
    await frame.getByRole("heading", { name: "Welcome" }).waitFor();
    write("README.md", "# Welcome back\n");
    write("later.md", "# Later\n");
    await expect
      .poll(async () => {
        await frame.getByRole("button", { name: "Look again" }).click();
        return (
          (await row(frame, "later.md").count()) + (await frame.getByRole("heading", { name: "Welcome back" }).count())
        );
      })
      .toBe(2);
    write("README.md", "# Welcome\n");
  });

  it("hands over by a message where the host has nothing else, and says so where it has nothing at all", async () => {
    await using stay = await open("modern", { message: { text: {} } });
    await row(stay.frame, "README.md").locator(".tick").click();
    await stay.frame.getByRole("button", { name: "Use these" }).click();
    await stay.frame.getByText("Handed over").waitFor();
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
    await deaf.frame.getByText("The host did not take them").waitFor();
  });
});

function row(frame: FrameLocator, name: string) {
  return frame.getByRole("treeitem").filter({ has: frame.locator(".name").getByText(name, { exact: true }) });
}

async function bundleHost(): Promise<string> {
  const built = await rolldown({
    platform: "browser",
    input: join(import.meta.dirname, "app-host.js"),
    onLog: () => {},
  });
  const { output } = await built.generate({ format: "esm", codeSplitting: false });
  await built.close();
  return output[0].code;
}
