import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const executablePath = "/usr/bin/chromium";
const server = spawn(process.execPath, [fileURLToPath(new URL("server.ts", import.meta.url))], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const [said] = (await once(server.stdout, "data")) as [Buffer];
  const address = String(said).trim();
  const module = await (await fetch(new URL("/picker/index.js", address))).text();
  assert.match(module, /definePicker/);
  if (existsSync(executablePath)) await look(address);
  else console.log("picker: without a browser, only its module was looked at");
} finally {
  server.kill();
}
console.log("picker: all is as it should be");

async function look(address: string): Promise<void> {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage();
    await page.goto(address);
    const note = page.getByRole("treeitem").filter({ hasText: "shopping" });
    await note.click();
    await page.getByRole("heading", { name: "Shopping", exact: true }).waitFor();
    await note.locator(".tick").click();
    await page.getByRole("button", { name: "Use these" }).click();
    assert.equal(await page.locator("output").textContent(), "note://home/shopping");
  } finally {
    await browser.close();
  }
}
