/** The page while its server stops, hangs and comes back. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createScratch, type Served, startServe } from "../faults/pressmark-process.ts";
import { chromiumPath, hasBrowser } from "./browser.ts";

describe.skipIf(!hasBrowser)("the page of a server (needs /usr/bin/chromium)", { timeout: 60_000 }, () => {
  const scratch = createScratch();
  const files = join(scratch.folder, "files");
  let browser: Awaited<ReturnType<typeof chromium.launch>>;
  let server: Served;
  const start = (port = 0) => startServe([files], { cwd: files, env: scratch.env, port });

  beforeAll(async () => {
    mkdirSync(files);
    writeFileSync(join(files, "first.md"), "# First\n");
    browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  });
  afterEach(() => void server.child.kill("SIGKILL"));
  afterAll(async () => {
    await browser.close();
    scratch.remove();
  });

  async function open() {
    const page = await browser.newPage({ locale: "en-US" });
    await page.goto(`http://127.0.0.1:${server.port}/`);
    await page.getByRole("treeitem", { name: "first.md" }).click();
    await page.getByRole("heading", { name: "First", exact: true }).waitFor();
    return { page, alert: page.getByRole("alert").filter({ hasText: "last known state" }) };
  }

  it("says that it stopped, and shows its new state when it runs again, without a click", async () => {
    server = await start();
    const { page, alert } = await open();
    server.child.kill("SIGKILL");
    await alert.waitFor();
    await page.getByRole("combobox").fill("first");
    await page.locator(".count", { hasText: /^The server cannot be reached$/ }).waitFor();
    await page.keyboard.press("Escape");
    writeFileSync(join(files, "second.md"), "# Second\n");
    writeFileSync(join(files, "first.md"), "# First again\n");
    server = await start(server.port);
    await alert.waitFor({ state: "detached" });
    await page.getByRole("treeitem", { name: "second.md" }).waitFor();
    await page.getByRole("heading", { name: "First again", exact: true }).waitFor();
    await page.close();
  });

  it("says that it hangs, and goes on when it does, as if nothing had changed", async () => {
    writeFileSync(join(files, "first.md"), "# First\n");
    server = await start();
    const { page, alert } = await open();
    server.child.kill("SIGSTOP");
    await alert.waitFor();
    server.child.kill("SIGCONT");
    await alert.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "First", exact: true }).waitFor();
    expect(await page.getByText("Updated").count()).toBe(0);
    await page.close();
  });
});
