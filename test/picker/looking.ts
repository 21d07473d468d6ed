/** What tests of the page look at. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { BrowserContextOptions, Locator } from "playwright-core";
import { expect, vi } from "vitest";
import { connect } from "../../src/client/connect.ts";
import type { Stage, Visit } from "./browser.ts";

/** How long a busy machine may take to show something. */
export const soon = { timeout: 20_000 };

/** A row of the tree, by its name. */
export function row({ page }: Visit, name: string): Locator {
  return page.getByRole("treeitem").filter({ has: page.locator(".name").getByText(name, { exact: true }) });
}

/** The names in the tray, in order. */
export function chosen({ page }: Visit): Promise<string[]> {
  return page.locator(".chosen li .link").allTextContents();
}

export function clipboard({ page }: Visit): Promise<string> {
  return page.evaluate("navigator.clipboard.readText()");
}

/** Waits until all that is served can be found. */
export async function indexed({ url }: Stage): Promise<void> {
  const house = await connect(new URL("/mcp", url));
  const call = { caller: { id: "test" }, signal: new AbortController().signal };
  await vi.waitFor(async () => expect((await house.search({ text: "path:*", limit: 1 }, call)).ready).toBe(1), {
    timeout: 30_000,
    interval: 50,
  });
  await house.close();
}

export const mayCopy: BrowserContextOptions = { permissions: ["clipboard-read", "clipboard-write"] };

export const looks = [
  { colorScheme: "light", width: 1280, locale: "en-US" },
  { colorScheme: "dark", width: 1280, locale: "ja-JP" },
  { colorScheme: "light", width: 400, locale: "ja-JP" },
  { colorScheme: "dark", width: 400, locale: "en-US" },
] as const;

/** A visit with the checker on the page. It is no part of the page, and may do what the page may not. */
export async function openToCheck(
  stage: Stage,
  { colorScheme, width, locale }: (typeof looks)[number],
): Promise<Visit & { violations(): Promise<unknown> }> {
  const visit = await stage.open({ colorScheme, locale, viewport: { width, height: 800 }, bypassCSP: true });
  await visit.page.getByRole("tree").waitFor();
  await visit.page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  return {
    ...visit,
    violations: () =>
      visit.page.evaluate(
        `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" ")))`,
      ),
  };
}
