/** The picker as a custom element, in a page of somebody else's that has styles, keys and a policy of its own. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Browser, chromium, type Page } from "playwright-core";
import { rolldown } from "rolldown";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildPickerElement } from "../../scripts/build-picker.ts";
import { type Server, startServer } from "../../src/server/start-server.ts";
import { chromiumPath, hasBrowser } from "./browser.ts";

const html = `<!doctype html><html lang="en"><head><link rel="stylesheet" href="/page.css"></head>
<body><h1 class="top">Theirs</h1><input id="theirs"><pressmark-picker></pressmark-picker><script type="module" src="/page.js"></script></body></html>`;
const css = ".top { color: rgb(1, 2, 3); } button { background: rgb(255, 0, 0); } .page { display: none; }";
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src http://127.0.0.1:*";

describe.skipIf(!hasBrowser)("the picker as an element (needs /usr/bin/chromium)", { timeout: 60_000 }, () => {
  let scratch: string;
  let server: Server;
  let browser: Browser;
  let address: string;
  let close: () => void;
  const uriOf = (path: string): string => pathToFileURL(join(scratch, "shelf", path)).href;

  beforeAll(async () => {
    scratch = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-element-")));
    mkdirSync(join(scratch, "shelf/docs"), { recursive: true });
    writeFileSync(join(scratch, "shelf/docs/plan.md"), "# Plan\n\nNext year.\n");
    writeFileSync(join(scratch, "shelf/README.md"), "# Welcome\n");
    const element = join(scratch, "element");
    const [script] = await Promise.all([bundlePage(), buildPickerElement(element)]);
    server = await startServer({
      folders: [join(scratch, "shelf")],
      from: scratch,
      port: 0,
      env: { XDG_STATE_HOME: join(scratch, "state"), XDG_CACHE_HOME: join(scratch, "cache"), HOME: scratch },
      err: { write: () => true },
      allowedHosts: [],
      version: "1",
    });
    const pages = createServer(({ url = "/" }, response) => {
      const say = (type: string, text: string | Buffer) =>
        response.setHeader("Content-Type", type).setHeader("Content-Security-Policy", policy).end(text);
      if (url === "/page.js") say("text/javascript", script);
      else if (url === "/page.css") say("text/css", css);
      else if (url.startsWith("/element/")) say("text/javascript", readFileSync(join(scratch, url)));
      else say("text/html", html);
    });
    await new Promise<void>((listening) => pages.listen(0, "127.0.0.1", listening));
    address = `http://127.0.0.1:${(pages.address() as AddressInfo).port}/`;
    close = () => pages.close().closeAllConnections();
    browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  }, 60_000);

  afterAll(async () => {
    await browser?.close();
    close?.();
    await server?.close();
    rmSync(scratch, { recursive: true, force: true });
  }, 30_000);

  async function open(more: object = {}) {
    const context = await browser.newContext({ locale: "en-US" });
    const page = await context.newPage();
    const troubles: string[] = [];
    page.on("pageerror", (error) => troubles.push(error.message));
    page.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
    await page.goto(`${address}#${encodeURIComponent(JSON.stringify({ server: server.url, ...more }))}`);
    return { page, troubles, [Symbol.asyncDispose]: () => context.close() };
  }

  it.each([false, true])(
    "shows what it is handed (before it was defined: %s), and tells what was chosen",
    async (early) => {
      await using visit = await open({ early });
      const { page } = visit;
      await row(page, "docs").click();
      await row(page, "plan.md").click();
      await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
      await row(page, "plan.md").locator(".tick").click();
      await row(page, "README.md").locator(".tick").click();
      await page.getByRole("button", { name: "Use these" }).click();
      const uris = [uriOf("docs/plan.md"), uriOf("README.md")];
      expect(await page.evaluate("chosen")).toEqual([uris]);
      expect(await page.evaluate("document.querySelector('pressmark-picker').chosen.map(({ uri }) => uri)")).toEqual(
        uris,
      );
      expect(visit.troubles).toEqual([]);
    },
  );

  it("takes no style of the page, and gives it none", async () => {
    await using visit = await open();
    const { page } = visit;
    await row(page, "README.md").waitFor();
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
    await using visit = await open();
    const { page } = visit;
    await row(page, "README.md").waitFor();
    await page.getByRole("heading", { name: "Theirs" }).click();
    await page.keyboard.press("/");
    expect(await page.evaluate("document.activeElement.tagName")).toBe("BODY");
    await page.getByRole("tree").focus();
    await page.keyboard.press("/");
    await page.keyboard.type("a/b");
    expect(await page.getByRole("combobox").first().inputValue()).toBe("a/b");
  });

  it("speaks the language that the page says, and begins anew with other resources", async () => {
    await using visit = await open();
    const { page } = visit;
    await row(page, "README.md").locator(".tick").click();
    await page.evaluate("document.querySelector('pressmark-picker').setAttribute('lang', 'ja')");
    await page.getByRole("button", { name: "これらを使う" }).waitFor();
    await page.evaluate("open()");
    await row(page, "README.md").waitFor();
    expect(await page.evaluate("document.querySelector('pressmark-picker').chosen")).toEqual([]);
    await page.evaluate(
      "{ const it = document.querySelector('pressmark-picker'); it.remove(); document.body.append(it); }",
    );
    await row(page, "README.md").waitFor();
    expect(visit.troubles).toEqual([]);
  });
});

function row(page: Page, name: string) {
  return page.getByRole("treeitem").filter({ has: page.locator(".name").getByText(name, { exact: true }) });
}

async function bundlePage(): Promise<string> {
  const built = await rolldown({
    platform: "browser",
    input: join(import.meta.dirname, "element-page.js"),
    external: ["/element/index.js"],
    onLog: () => {},
  });
  const { output } = await built.generate({ format: "esm", codeSplitting: false });
  await built.close();
  return output[0].code;
}
