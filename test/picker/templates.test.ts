/** Templates, filled in one variable at a time. */
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import type { Visit } from "./browser.ts";
import { chosen, focused, locales, openToCheck, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

function commitTwice(root: string): void {
  const git = (...args: readonly string[]): void =>
    void execFileSync("git", ["-C", root, "-c", "user.name=T", "-c", "user.email=t@example.org", ...args], {
      stdio: "ignore",
      env: { PATH: process.env["PATH"], HOME: "/nowhere", GIT_CONFIG_NOSYSTEM: "1" },
    });
  git("init", "--initial-branch=main");
  git("add", ".");
  git("commit", "-m", "One");
  git("checkout", "-b", "feature/old");
  git("rm", "-q", "docs/plan.md");
  git("commit", "-m", "Two");
  git("checkout", "main");
}

const suggestions = ({ page }: Visit) => page.locator(".suggestions li").allTextContents();
const box = ({ page }: Visit, name: string) => page.getByRole("combobox", { name, exact: true });

async function fill({ page }: Visit, name: string): Promise<void> {
  await page.getByRole("tab", { name: "Templates" }).click();
  await page
    .locator(".templates .line")
    .filter({ has: page.getByText(name, { exact: true }) })
    .click();
}

onStage(
  "templates",
  { "docs/plan.md": "# The plan\n", "docs/予算.md": "# 予算\n", "readme.md": "# Read me\n" },
  { prepare: commitTwice },
  (stage) => {
    it("are filled in by mouse, each variable with what fits those before it", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await fill(visit, "File at a commit");
      await expect.poll(() => suggestions(visit), soon).toContain("feature/old");
      await page.getByRole("option", { name: "feature/old" }).click();
      await box(visit, "path").waitFor();
      await page.getByRole("option", { name: "docs/", exact: true }).click();
      // On that branch the plan is gone.
      await expect.poll(() => suggestions(visit), soon).toEqual(["docs/予算.md"]);
      await page.getByRole("button", { name: "ref: feature/old" }).click();
      await page.getByRole("option", { name: "main", exact: true }).click();
      await page.getByRole("option", { name: "docs/", exact: true }).click();
      await expect.poll(() => suggestions(visit), soon).toEqual(["docs/plan.md", "docs/予算.md"]);
      await page.getByRole("option", { name: "docs/plan.md" }).click();
      await page.locator(".result code", { hasText: "/blob/main/docs/plan.md" }).waitFor();
      await page.getByRole("button", { name: "Open", exact: true }).click();
      await page.getByRole("heading", { name: "The plan" }).waitFor();
      await page.locator(".pane").getByRole("button", { name: "Choose", exact: true }).click();
      await expect.poll(() => chosen(visit), soon).toEqual(["plan.md"]);
      expect(visit.troubles).toEqual([]);
    });

    it("are filled in by keyboard alone", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await page.getByRole("tree").waitFor();
      await page.getByRole("tab", { name: "All" }).focus();
      await page.keyboard.press("ArrowRight");
      await page.locator(".templates .line").filter({ hasText: "{+path}" }).focus();
      await page.keyboard.press("Enter");
      await expect.poll(() => suggestions(visit), soon).toEqual(["docs/", "readme.md"]);
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await expect.poll(() => suggestions(visit), soon).toEqual(["docs/plan.md", "docs/予算.md"]);
      expect(await box(visit, "path").inputValue()).toBe("docs/");
      await page.keyboard.type("pl");
      await expect.poll(() => suggestions(visit), soon).toEqual(["docs/plan.md"]);
      await page.keyboard.press("ArrowDown");
      expect(await box(visit, "path").getAttribute("aria-activedescendant")).toBe("suggestion-0");
      await page.keyboard.press("Enter");
      await box(visit, "lines (optional)").waitFor();
      await page.keyboard.press("Escape");
      await box(visit, "path").waitFor();
      expect(await box(visit, "path").inputValue()).toBe("docs/plan.md");
      await page.keyboard.press("Enter");
      await box(visit, "lines (optional)").waitFor();
      await page.keyboard.type("1-1");
      await page.keyboard.press("Enter");
      for (const name of ["bytes (optional)", "as (optional)"]) {
        await box(visit, name).waitFor();
        await page.keyboard.press("Enter");
      }
      const uri = `${stage.uriOf("docs/plan.md")}?lines=1-1`;
      await page.locator(".result code").getByText(uri, { exact: true }).waitFor();
      await expect.poll(() => focused(visit), soon).toBe("Open");
      await page.keyboard.press("Enter");
      await page.locator("main").getByText("The plan").first().waitFor();
      expect(visit.troubles).toEqual([]);
    });

    it("that cannot be listed say so, and are asked for again", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await page.getByRole("tree").waitFor();
      await page.route("**/mcp", (route) =>
        route.request().postData()?.includes("templates/list")
          ? route.fulfill({ status: 500, body: "no" })
          : route.continue(),
      );
      await page.getByRole("tab", { name: "Templates" }).click();
      const said = page.locator("#place").getByRole("alert");
      await said.waitFor();
      await page.unroute("**/mcp");
      await said.getByRole("button", { name: "Try again" }).click();
      await fill(visit, "Commit");
      await box(visit, "sha").waitFor();
      await page.getByRole("button", { name: "All templates" }).focus();
      await page.keyboard.press("Enter");
      // Back on the one that was left.
      await expect.poll(() => focused(visit), soon).toContain("Commit");
    });

    it.each(locales)("break no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
      await using visit = await openToCheck(stage, locale);
      const { page } = visit;
      await page.locator("#tab-templates").click();
      await page.locator(".templates").waitFor();
      expect(await visit.violations()).toEqual([]);
      await page.locator(".templates .line").filter({ hasText: "{+path}" }).click();
      await page.locator(".suggestions li").first().waitFor();
      await page.keyboard.press("ArrowDown");
      expect(await visit.violations()).toEqual([]);
      await page.keyboard.type("readme.md");
      await page.keyboard.press("Enter");
      await page.locator(".result code", { hasText: "readme.md" }).waitFor();
      expect(await visit.violations()).toEqual([]);
    });
  },
);
