/** The page in Firefox, driven by WebDriver BiDi: choosing lines and folders, the menu and the palette. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createScratch, type Served, startServe } from "../faults/pressmark-process.ts";
import { importPeer, installPeers, type Peers } from "../interop/install-peers.ts";

const firefox = "/usr/bin/firefox-esr";
const driver: Peers = { folder: "firefox", packages: ["puppeteer-core@25.16.0"], runsScripts: false };
const missing = existsSync(firefox) || process.env["CI"] ? installPeers(driver) : `there is no ${firefox}`;

/** The parts of Puppeteer that are used here. */
interface FirefoxPage {
  goto(url: string): Promise<unknown>;
  setViewport(size: { readonly width: number; readonly height: number }): Promise<void>;
  click(selector: string): Promise<void>;
  type(selector: string, text: string): Promise<void>;
  evaluate(code: string): Promise<unknown>;
  on(event: "pageerror", listener: (error: Error) => void): void;
  readonly keyboard: {
    down(key: string): Promise<void>;
    up(key: string): Promise<void>;
    press(key: string): Promise<void>;
  };
}

interface Firefox {
  newPage(): Promise<FirefoxPage>;
  close(): Promise<void>;
}

describe.skipIf(missing !== undefined)(`the page in Firefox${missing ? ` (skipped: ${missing})` : ""}`, () => {
  const scratch = createScratch();
  const files = join(scratch.folder, "files");
  const errors: string[] = [];
  let browser: Firefox;
  let server: Served;
  let page: FirefoxPage;

  beforeAll(async () => {
    mkdirSync(join(files, "設計"), { recursive: true });
    const lines = Array.from({ length: 400 }, (_, index) => `line ${index + 1}${index === 299 ? " platypus" : ""}\n`);
    writeFileSync(join(files, "long.txt"), lines.join(""));
    writeFileSync(join(files, "設計", "決済.md"), "# 決済\n\n再試行する。\n");
    server = await startServe([files], { cwd: files, env: scratch.env });
    const { launch } = ((await importPeer(driver, "puppeteer-core")) as { readonly default: unknown }).default as {
      launch(options: object): Promise<Firefox>;
    };
    browser = await launch({ browser: "firefox", executablePath: firefox, headless: true });
    page = await browser.newPage();
    page.on("pageerror", (error) => errors.push(error.message));
    await page.setViewport({ width: 1280, height: 800 });
    await page.goto(`http://127.0.0.1:${server.port}/`);
  });
  afterAll(async () => {
    await browser?.close();
    server?.child.kill("SIGKILL");
    scratch.remove();
  });

  /** Polls, because the page forbids the scripts with which Puppeteer waits. */
  async function shown(selector: string, text = ""): Promise<void> {
    const find = `[...document.querySelectorAll(${JSON.stringify(selector)})].map((each) => each.textContent).join("\\n")`;
    const count = `document.querySelectorAll(${JSON.stringify(selector)}).length`;
    await expect.poll(() => page.evaluate(count), { timeout: 20_000, message: selector }).toBeGreaterThan(0);
    await expect.poll(() => page.evaluate(find), { timeout: 20_000, message: selector }).toContain(text);
  }

  it("opens a hit at its lines, and chooses them", async () => {
    await shown(".row", "long.txt");
    await page.type(".search", "platypus");
    await shown(".hit");
    await page.click(".hit");
    await shown('[data-line="300"]');
    await page.click(".hit .tick");
    await shown('.chosen [title*="long.txt?lines="]');
  });

  it("chooses a folder with the keyboard, by its Japanese name", async () => {
    await page.click(".search");
    await page.keyboard.press("Escape");
    await shown(".tree");
    await page.evaluate('document.querySelector(".tree").focus()');
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press(" ");
    await shown('.row[aria-checked="true"]');
    await shown(".chosen .name", "設計/");
  });

  it("opens the menu of uses and the palette", async () => {
    await page.click("[aria-haspopup=menu]");
    await shown("[role=menuitem]");
    await page.keyboard.press("Escape");
    await page.keyboard.down("Control");
    await page.keyboard.press("k");
    await page.keyboard.up("Control");
    await shown("dialog[open] [role=option]");
  });

  it("reports no error", () => {
    expect(errors).toEqual([]);
  });
});
