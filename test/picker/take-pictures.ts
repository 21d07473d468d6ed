/** Takes the pictures of the page that the docs show: `node test/picker/take-pictures.ts docs/picker [NAME…]`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions } from "playwright-core";
import { connect } from "../../src/client/connect.ts";
import { openStage, type Visit } from "./browser.ts";
import { row, show } from "./looking.ts";
import { makeShop, orchardConfig, orchardFiles } from "./orchard.ts";
import { smallPng } from "./small-png.ts";

const [folder, ...only] = process.argv.slice(2);
if (folder === undefined) throw new Error("say into which folder");
mkdirSync(folder, { recursive: true });

const laptop: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, timezoneId: "UTC" };
const phone: BrowserContextOptions = {
  ...laptop,
  viewport: { width: 400, height: 800 },
  hasTouch: true,
  isMobile: true,
};

/** Each brings the page into a state, and is taken as a picture of its name. */
const states: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
  async tree(visit) {
    await choose(visit);
    await show(visit, "Retries");
    await visit.page.locator(".code-keyword").first().waitFor();
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
    await page
      .getByRole("textbox", { name: "What do you want to do?" })
      .fill("Make retry.ts give up sooner when paying");
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
  async lines(visit) {
    const { page } = visit;
    await page.getByRole("combobox", { name: "Search" }).fill("deadline");
    await page.locator(".hit .name", { hasText: "retry.ts" }).click();
    await page.locator('[data-line="3"] .code-keyword').first().waitFor();
    await page.locator(".hit", { hasText: "retry.ts" }).locator(".tick").click();
    await page.locator(".chosen .lines").first().waitFor();
    await page.mouse.move(0, 0);
  },
  async "use-in"(visit) {
    await row(visit, "project").click();
    await row(visit, "src").locator(".tick").click();
    await row(visit, "handbook").click();
    await row(visit, "English").click();
    await row(visit, "Retries").locator(".tick").click();
    await show(visit, "Retries");
    await visit.page.locator(".chosen li .fact", { hasText: /\d/ }).nth(1).waitFor();
    await visit.page.locator(".tray [aria-haspopup=menu]").click();
    await visit.page.getByRole("menuitem").first().waitFor();
  },
  async connect({ page }) {
    await page.getByRole("link", { name: "Connect", exact: true }).click();
    await page.getByText("claude mcp add").first().waitFor();
  },
  async activity({ page }) {
    await page.getByRole("button", { name: "Activity" }).click();
    await page.getByRole("dialog").getByText("Make retry.ts give up").waitFor();
  },
  async palette({ page }) {
    await page.keyboard.press("Control+k");
    await page.getByRole("dialog").getByRole("combobox").fill("ret");
    await page
      .getByRole("dialog")
      .getByRole("option", { name: /retry\.ts/ })
      .first()
      .waitFor();
  },
  async diff(visit) {
    await row(visit, "project").click();
    await row(visit, "data").click();
    await show(visit, "change.diff");
    await visit.page.locator(".preview").getByText("deadlineMs").first().waitFor();
  },
  async state({ page }) {
    await page.getByRole("button", { name: "State" }).click();
    await page.getByRole("dialog").getByText("works").nth(2).waitFor();
  },
};

/** States in another look, or another part of them; on a phone only one part is shown at a time. */
const others: Readonly<Record<string, readonly [stand: (visit: Visit) => Promise<void>, BrowserContextOptions]>> = {
  "tree-dark": [states["tree"]!, { ...laptop, colorScheme: "dark" }],
  "tree-ja": [states["tree"]!, { ...laptop, locale: "ja-JP" }],
  "plot-dark": [states["plot"]!, { ...laptop, colorScheme: "dark" }],
  "lines-dark": [states["lines"]!, { ...laptop, colorScheme: "dark" }],
  "phone-tree": [choose, phone],
  "phone-preview": [states["tree"]!, phone],
  "phone-tray": [
    async (visit) => {
      await choose(visit);
      await visit.page.locator("#tab-tray").tap();
    },
    { ...phone, colorScheme: "dark" },
  ],
};

async function choose(visit: Visit): Promise<void> {
  for (const name of ["handbook", "English", "project", "src"]) await row(visit, name).click();
  for (const name of ["Retries", "Onboarding", "checkout.ts"]) await row(visit, name).locator(".tick").click();
  await visit.page.locator(".chosen li .fact", { hasText: /\d/ }).nth(2).waitFor({ state: "attached" });
}

const change = `diff --git a/src/retry.ts b/src/retry.ts
--- a/src/retry.ts
+++ b/src/retry.ts
@@ -4,5 +4,6 @@ export async function retry<T>(ask: () => Promise<T>, deadlineMs: number) {
     try {
       return await ask();
     } catch (error) {
-      if (waitMs > deadlineMs) throw error;
+      // Half of the time is left for the person to try another card.
+      if (waitMs > deadlineMs / 2) throw error;
       await new Promise((done) => setTimeout(done, waitMs));
`;
const files = { ...orchardFiles, "project/data/change.diff": change };
const stage = await openStage(files, { config: orchardConfig, prepare: makeShop });
// For the activity: a host whose model has gathered and searched.
const host = await connect(new URL("/mcp", stage.url), { client: { name: "claude-code", version: "2.1.325" } });
const call = { caller: { id: "host" }, signal: new AbortController().signal };
const page = await connect(new URL("/mcp", stage.url), { client: { name: "pressmark-picker", version: "0.1.0" } });
for (let ready = 0; ready < 1;) ({ ready } = await page.search({ text: "deadline", limit: 1 }, call));
await page.close();
await host.useTool("search_resources", { query: "payment deadline" }, call);
await host.useTool("gather_context", { task: "Make retry.ts give up sooner when paying", budget: 2000 }, call);
const plain = Object.entries(states).map(([name, stand]) => [name, [stand, laptop]] as const);
for (const [name, [stand, options]] of [...plain, ...Object.entries(others)]) {
  if (only.length > 0 && !only.includes(name)) continue;
  await using visit = await stage.open(options);
  await row(visit, "handbook").waitFor();
  await stand(visit);
  const picture = await smallPng(visit.page);
  writeFileSync(join(folder, `${name}.png`), picture);
  process.stdout.write(`${name}.png ${picture.length} bytes\n`);
}
await host.close();
await stage.close();
