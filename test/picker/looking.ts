/** What tests of the page look at. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { expect, vi } from "vitest";
import { connect } from "../../src/client/connect.ts";
import type { Stage, Visit } from "./browser.ts";

/** How long a busy machine may take to show something. */
export const soon = { timeout: 20_000 };

/** A row of the tree, by its name; the page may be one within another. */
export function row({ page }: { readonly page: Pick<Page, "getByRole" | "locator"> }, name: string): Locator {
  return page.getByRole("treeitem").filter({ has: page.locator(".name").getByText(name, { exact: true }) });
}

/** The names in the tray, in order. */
export function chosen({ page }: Visit): Promise<string[]> {
  return page.locator(".chosen li .link").allTextContents();
}

/** What has the focus, by its label or what it says. */
export function focused({ page }: Visit): Promise<unknown> {
  return page.evaluate(`document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent`);
}

export function clipboard({ page }: Visit): Promise<string> {
  return page.evaluate("navigator.clipboard.readText()");
}

/** From now on the server has no status for this page, as for those whom it does not concern. */
export async function refuseStatus({ page }: Visit): Promise<void> {
  await page.route("**/mcp", async (route) => {
    const asked = route.request().postData() ?? "";
    if (!asked.includes('"pressmark://')) return route.continue();
    const { id } = JSON.parse(asked) as { readonly id: number };
    await route.fulfill({ json: { jsonrpc: "2.0", id, error: { code: -32_602, message: "Resource not found" } } });
  });
}

/** Waits until all that is served can be found. */
export async function indexed({ url }: Stage): Promise<void> {
  const pressmark = await connect(new URL("/mcp", url));
  const call = { caller: { id: "test" }, signal: new AbortController().signal };
  await vi.waitFor(async () => expect((await pressmark.search({ text: "path:*", limit: 1 }, call)).ready).toBe(1), {
    timeout: 30_000,
    interval: 50,
  });
  await pressmark.close();
}

export const mayCopy: BrowserContextOptions = { permissions: ["clipboard-read", "clipboard-write"] };

/** By the name that stands in the tree; what is not shown there yet is waited for. */
export async function show(visit: Visit, name: string): Promise<void> {
  await row(visit, name).click();
  await visit.page.locator(".about h2", { hasText: name }).waitFor();
}

export async function chooseTab({ page }: Visit, tab: "View" | "Raw" | "About"): Promise<void> {
  await page.getByRole("tab", { name: tab, exact: true }).click();
}

/** Scrolls to the end of the preview, again and again, until this is there. */
export async function scrollTo({ page }: Visit, wanted: Locator): Promise<void> {
  await expect
    .poll(async () => {
      await page.evaluate(`document.querySelector(".content").scrollTo(0, 1e9)`);
      return wanted.count();
    }, soon)
    .toBeGreaterThan(0);
}

/** In which the page is checked: both colours, both widths, both languages. */
export const looks = {
  "en-US": [
    { colorScheme: "light", width: 1280 },
    { colorScheme: "dark", width: 400 },
  ],
  "ja-JP": [
    { colorScheme: "dark", width: 1280 },
    { colorScheme: "light", width: 400 },
  ],
} as const;

export const locales = ["en-US", "ja-JP"] as const;

interface Check extends Visit {
  /** The violations that axe finds in the present page. */
  broken(): Promise<readonly string[]>;
  /** The same in each of the looks. */
  violations(): Promise<readonly string[]>;
}

/** A visit with the checker on the page. It is no part of the page, and may do what the page may not. */
export async function openToCheck(stage: Stage, locale: (typeof locales)[number]): Promise<Check> {
  const visit = await stage.open({ locale, viewport: { width: 1280, height: 900 }, bypassCSP: true });
  const { page } = visit;
  await page.getByRole("tree").waitFor();
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  const broken = (): Promise<string[]> =>
    page.evaluate(
      `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" ")))`,
    );
  return {
    ...visit,
    broken,
    async violations() {
      const found: string[] = [];
      for (const { colorScheme, width } of looks[locale]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        const said = await broken();
        found.push(...said.map((each) => `${colorScheme}, ${width} wide: ${each}`));
      }
      await page.setViewportSize({ width: 1280, height: 900 });
      return found;
    },
  };
}
