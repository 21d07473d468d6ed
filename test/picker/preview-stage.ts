/** What the tests of the preview share: opening a resource, and asking axe. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Visit } from "./browser.ts";
import { row } from "./looking.ts";

/** By the name that stands in the tree; what is not shown there yet is waited for. */
export async function show(visit: Visit, name: string): Promise<void> {
  await row(visit, name).click();
  await visit.page.locator(".about h2", { hasText: name }).waitFor();
}

export async function choose({ page }: Visit, tab: "View" | "Raw" | "About"): Promise<void> {
  await page.getByRole("tab", { name: tab, exact: true }).click();
}

/** The checker is no part of the page, and may do what the page may not: the context must bypass its policy. */
export async function violations({ page }: Visit): Promise<unknown> {
  await page.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8"));
  return page.evaluate(
    `axe.run(".preview").then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html }) => html.slice(0, 120)).join(" ")))`,
  );
}
