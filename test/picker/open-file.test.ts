/** The page that `serve --open` writes, in a real browser: it signs the owner in. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { expect, it } from "vitest";
import { writeRedirect } from "../../src/server/open-browser.ts";
import { startHttp } from "../../src/server/start-http.ts";
import { chromiumPath, hasBrowser } from "./browser.ts";

it.runIf(hasBrowser)("a file that leads to an address with a code signs the browser in", async () => {
  const root = mkdtempSync(join(tmpdir(), "pressmark-open-"));
  writeFileSync(join(root, "a.md"), "# A\n");
  const env = {
    XDG_STATE_HOME: join(root, "s"),
    XDG_CACHE_HOME: join(root, "c"),
    HOME: root,
    PRESSMARK_TOKEN: "0123456789abcdef0123456789abcdef",
  };
  const options = { folders: [], from: root, err: { write: () => true }, allowedHosts: [], port: 0, version: "1", env };
  const server = await startHttp(options);
  const browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    const redirect = writeRedirect(server.invite(), join(root, "s"));
    await page.goto(redirect.url);
    await page.waitForURL(`${new URL(server.url).origin}/`);
    expect(await page.evaluate(async () => (await fetch("/")).status)).toBe(200);
  } finally {
    await browser.close();
    await server.close();
    rmSync(root, { recursive: true, force: true });
  }
});
