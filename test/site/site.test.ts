/** The site is built from docs/, its links hold, and its search finds words in both languages. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parseHTML } from "linkedom";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { installSite } from "../../scripts/install-site.ts";
import { chromiumPath, hasBrowser } from "../picker/browser.ts";
import { serveFolder, type ServedFolder } from "./serve-folder.ts";

const root = join(import.meta.dirname, "../..");
const missing = installSite();
if (missing !== undefined && process.env["CI"]) throw new Error(missing);

describe.skipIf(missing !== undefined)(`the site${missing === undefined ? "" : ` (${missing})`}`, () => {
  let folder: string;
  let pages: ReadonlyMap<string, ReturnType<typeof parseHTML>["document"]>;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "pressmark-site-"));
    const words = [join(root, "scripts/site.ts"), "build", "--outDir", folder];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { cwd: root, encoding: "utf8" });
    if (status !== 0) throw new Error(`the site cannot be built: ${stdout}${stderr}`);
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".html"));
    pages = new Map(files.map((file) => [file, parseHTML(readFileSync(join(folder, file), "utf8")).document]));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("has a config that is correct in its types", () => {
    const compiler = join(root, "node_modules/typescript/bin/tsc");
    expect(spawnSync(process.execPath, [compiler, "-p", join(root, "site")], { encoding: "utf8" }).stdout).toBe("");
  });

  it("has a page for each of docs/, and the schemas", () => {
    const sources = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" });
    for (const name of sources.filter((each) => each.endsWith(".md")))
      expect(pages.has(name.replace("README.md", "index.md").replace(/md$/, "html")), name).toBe(true);
    for (const name of ["pressmark.schema.json", "analysis.schema.json"])
      expect(readFileSync(join(folder, name), "utf8")).toBe(readFileSync(join(root, "docs", name), "utf8"));
  });

  it("has links and pictures that lead to files and headings", () => {
    const problems: string[] = [];
    for (const [file, document] of pages) {
      const links = [...document.querySelectorAll("a[href], img[src], link[href], script[src]")];
      for (const link of links) {
        const to = link.getAttribute("href") ?? link.getAttribute("src") ?? "";
        if (/^[a-z]+:/.test(to)) continue;
        const [path = "", heading] = to.split("#");
        const target = path === "" ? file : path.startsWith("/") ? path.slice(1) : join(dirname(file), path);
        const there = target === "" || target.endsWith("/") ? `${target}index.html` : target;
        if (!existsSync(join(folder, there))) problems.push(`${file}: ${to} leads nowhere`);
        else if (heading && pages.has(there) && !pages.get(there)!.getElementById(decodeURIComponent(heading)))
          problems.push(`${file}: ${to} has no such heading`);
      }
    }
    expect(problems).toEqual([]);
  });

  it("loads nothing from other hosts", () => {
    for (const [file, document] of pages) {
      const loaded = [...document.querySelectorAll("script[src], link[href], img[src], iframe, video, audio")];
      const addresses = loaded.map((each) => each.getAttribute("src") ?? each.getAttribute("href") ?? "");
      expect(
        addresses.filter((address) => /^(?:https?:)?\/\//.test(address)),
        file,
      ).toEqual([]);
    }
    const styles = readdirSync(join(folder, "assets")).filter((name) => name.endsWith(".css"));
    for (const name of styles)
      expect(readFileSync(join(folder, "assets", name), "utf8")).not.toMatch(/url\(["']?https?:/);
  });

  describe.skipIf(!hasBrowser)("in a browser", () => {
    let served: ServedFolder;
    let browser: Browser;
    beforeAll(async () => {
      served = await serveFolder(folder);
      browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
    });
    afterAll(async () => {
      await browser.close();
      await served[Symbol.asyncDispose]();
    });

    /** A page that reports errors and requests to others. */
    async function open(path: string): Promise<{ readonly page: Page; readonly troubles: readonly string[] }> {
      const context = await browser.newContext();
      onTestFinished(() => context.close());
      const page = await context.newPage();
      const troubles: string[] = [];
      page.on("pageerror", (error) => troubles.push(error.message));
      page.on("request", (request) => {
        if (!request.url().startsWith(served.url)) troubles.push(request.url());
      });
      await page.goto(new URL(path, served.url).href);
      return { page, troubles };
    }

    it.each([
      ["", "retry", "/gather.html"],
      ["", "getUserName", "/cli.html"],
      ["ja/", "検索", "/ja/"],
      ["ja/", "設定", "/ja/"],
    ])("at /%s the search finds %s", async (path, words, found) => {
      const { page, troubles } = await open(path);
      await page.locator(".VPNavBarSearchButton, .DocSearch-Button").first().click();
      await page.locator("#localsearch-input").fill(words);
      await page.locator(`#localsearch-list .result[href*="${found}"]`).first().waitFor();
      expect(troubles.filter((each) => !each.startsWith("data:"))).toEqual([]);
    });

    it("opens a page from the sidebar, and changes the language and the theme", async () => {
      const { page, troubles } = await open("search.html");
      await page.locator(".VPSidebar").getByRole("link", { name: "Gather", exact: true }).click();
      await page.getByRole("heading", { name: "Gather", level: 1 }).waitFor();
      await page.locator(".VPNavBarAppearance button").click();
      await page.locator("html.dark").waitFor();
      await page.goto(new URL("ja/", served.url).href);
      await page.getByRole("link", { name: "はじめる" }).waitFor();
      expect(await page.locator("html").getAttribute("lang")).toBe("ja");
      expect(troubles.filter((each) => !each.startsWith("data:"))).toEqual([]);
    });
  });
});
