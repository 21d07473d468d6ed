/** Takes the pictures of the page that the docs show: `node test/picker/take-pictures.ts docs/picker`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStage, type Visit } from "./browser.ts";
import { row, show } from "./looking.ts";
import { makeShop, orchardConfig, orchardFiles } from "./orchard.ts";
import { smallPng } from "./small-png.ts";

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("say into which folder");
mkdirSync(folder, { recursive: true });
const viewport = { width: 1200, height: 680 };

const pictures: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
  async tree(visit) {
    await row(visit, "handbook").click();
    await row(visit, "English").click();
    await row(visit, "project").click();
    await show(visit, "Retries");
    await visit.page.locator(".code-keyword").first().waitFor();
    await row(visit, "Retries").locator(".tick").click();
    await row(visit, "Onboarding").locator(".tick").click();
    await visit.page.locator(".chosen li .fact", { hasText: "tokens" }).nth(1).waitFor();
  },
  async search({ page }) {
    await page.getByRole("button", { name: "Filters", exact: true }).click();
    await page.getByRole("combobox", { name: "Search" }).fill("retry");
    await page.locator(".hit").nth(3).waitFor();
    await page.getByLabel("Type", { exact: true }).selectOption("code");
    await page.locator(".hit .name", { hasText: "Retries" }).waitFor({ state: "detached" });
    await page.locator(".hit").first().click();
    await page.locator(".code-keyword").first().waitFor();
  },
  async templates({ page }) {
    await page.getByRole("tab", { name: "Templates" }).click();
    await page.locator(".templates .line").filter({ hasText: "orchard://" }).first().click();
    await page.keyboard.type("src/");
    await page.locator(".suggestions li", { hasText: "checkout.ts" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.mouse.move(0, 0);
  },
  async gather({ page }) {
    await page.getByRole("tab", { name: "Gather" }).click();
    await page.getByRole("textbox", { name: "What is to be done?" }).fill("Make retry.ts give up sooner when paying");
    await page.getByRole("button", { name: /^Gather up to/ }).click();
    await page.locator(".receipt .line").first().click();
    await page.locator(".code-keyword").first().waitFor();
  },
  async plot(visit) {
    await row(visit, "project").click();
    await row(visit, "data").click();
    await show(visit, "latency.csv");
    const plot = visit.page.getByRole("slider");
    await plot.hover({ position: { x: 420, y: 60 } });
  },
  async schema(visit) {
    await row(visit, "shop").click();
    await row(visit, "orders").click();
    await show(visit, "Database schema for shop.db.orders");
    await visit.page.getByRole("table", { name: "Columns" }).waitFor();
  },
  async state({ page }) {
    await page.getByRole("button", { name: "State" }).click();
    await page.getByRole("dialog").getByText("works").nth(2).waitFor();
  },
};

const stage = await openStage(orchardFiles, { config: orchardConfig, prepare: makeShop });
/** Those that the docs show in dark as well. */
const darkToo = ["tree", "plot"];
for (const colorScheme of ["light", "dark"] as const)
  for (const [name, stand] of Object.entries(pictures)) {
    if (colorScheme === "dark" && !darkToo.includes(name)) continue;
    await using visit = await stage.open({ viewport, colorScheme, timezoneId: "UTC" });
    await row(visit, "handbook").waitFor();
    await stand(visit);
    const picture = await smallPng(visit.page);
    const fileName = `${name}${colorScheme === "dark" ? "-dark" : ""}.png`;
    writeFileSync(join(folder, fileName), picture);
    process.stdout.write(`${fileName} ${picture.length} bytes\n`);
  }
await stage.close();
