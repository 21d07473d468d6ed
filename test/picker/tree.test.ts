/** The tree: what its rows say, where one is in it, and every state that it can be in. */
import { mkdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import type { Route } from "playwright-core";
import { expect, it } from "vitest";
import { clipboard, locales, mayCopy, openToCheck, refuseStatus, row, soon } from "./looking.ts";
import { openStage } from "./browser.ts";
import { onStage } from "./on-stage.ts";

const files: Record<string, string | Uint8Array> = {
  "files/live.md": "# Before\n",
  "files/docs/予算 plan.md": "# Plan\n",
  "files/picture.png": new Uint8Array(4000),
  "handbook/guide.md": "---\npriority: 0.9\naudience: [user]\n---\n# Guide\n\nHow it is done.\n",
};
for (let index = 0; index < 120; index += 1) files[`files/many/entry-${index}.txt`] = `${index}\n`;
const config = `mounts:
  shelf: { source: file, root: files }
  handbook: { source: docs, root: handbook }
`;
const hourMs = 3_600_000;

onStage(
  "the tree",
  files,
  {
    config,
    prepare(root) {
      const before = new Date(Date.now() - 3 * hourMs);
      utimesSync(join(root, "files/live.md"), before, before);
      mkdirSync(join(root, "files/nothing"));
    },
  },
  (stage) => {
    it("says of each resource how large it is, what it costs, how much it matters and when it was changed", async () => {
      await using visit = await stage.open();
      await row(visit, "shelf").click();
      expect(await row(visit, "live.md").locator(".fact").allTextContents()).toEqual(["9 B", "≈ 3 Tokens", "3h ago"]);
      // Nobody is given a picture as text.
      expect(await row(visit, "picture.png").locator(".cost").textContent()).toBe("");
      await row(visit, "handbook").click();
      await row(visit, "English").click();
      await row(visit, "Guide").locator(".priority").waitFor();
      expect(await row(visit, "Guide").locator(".priority").textContent()).toBe("◆0.9");
      expect(await row(visit, "Guide").locator(".priority").getAttribute("title")).toBe("priority 0.9");
      expect(visit.troubles).toEqual([]);
    });

    it("shows the way to where one is, and its URI to take along, by mouse and by keyboard", async () => {
      await using visit = await stage.open(mayCopy);
      const { page } = visit;
      await row(visit, "shelf").click();
      await row(visit, "docs").click();
      await row(visit, "予算 plan.md").click();
      const here = page.getByRole("navigation", { name: "Current location" });
      expect(await here.getByRole("listitem").allTextContents()).toEqual(["shelf", "docs", "予算 plan.md"]);
      expect(await page.locator(".about .path-text").getAttribute("title")).toBe(
        stage.uriOf("files/docs/予算 plan.md"),
      );
      await page.locator(".here").getByRole("button", { name: "Copy URI" }).click();
      await page.locator(".here").getByText("Copied").waitFor();
      expect(await clipboard(visit)).toBe(stage.uriOf("files/docs/予算 plan.md"));
      await here.getByRole("button", { name: "docs" }).focus();
      await page.keyboard.press("Enter");
      await page.locator(".row.active", { hasText: "docs" }).waitFor();
      await page.locator(".here").getByRole("button", { name: "Copy URI" }).focus();
      await page.keyboard.press("Enter");
      await expect.poll(() => clipboard(visit), soon).toBe(stage.uriOf("files/docs"));
      expect(visit.troubles).toEqual([]);
    });

    it("says at once that a file in sight has changed, and how large it is now", async () => {
      await using visit = await stage.open();
      const listens = visit.page.waitForRequest(
        (request) =>
          request.postData()?.includes("subscriptions/listen") === true && request.postData()!.includes("live.md"),
      );
      await row(visit, "shelf").click();
      await row(visit, "live.md").locator(".fresh").waitFor();
      await (await listens).response();
      stage.write("files/live.md", "# After\n\nA good deal longer than before.\n");
      await expect
        .poll(() => row(visit, "live.md").locator(".fact").allTextContents(), soon)
        .toEqual(["41 B", "≈ 10 Tokens", expect.stringMatching(/^(now|\d+s ago)$/)]);
      expect(visit.troubles).toEqual([]);
    });

    it("keeps in sight, and whole, where one walks by keyboard", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await row(visit, "shelf").click();
      await row(visit, "many").click();
      await row(visit, "entry-0.txt").waitFor();
      await page.getByRole("tree").focus();
      for (const key of ["End", "PageUp", "Home", "PageDown", "PageDown", "End", "ArrowUp"]) {
        await page.keyboard.press(key);
        await expect
          .poll(
            () =>
              page.evaluate(`(() => {
              const place = (selector) => document.querySelector(selector).getBoundingClientRect();
              const [row, tree] = [place(".row.active"), place(".tree")];
              return row.top >= tree.top - 1 && row.bottom <= tree.bottom + 1;
            })()`),
            soon,
          )
          .toBe(true);
      }
      expect(visit.troubles).toEqual([]);
    });

    it("is as it was when one comes back to it", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await row(visit, "shelf").click();
      await row(visit, "docs").click();
      await row(visit, "予算 plan.md").click();
      await page.getByRole("tab", { name: "Templates" }).click();
      await page.getByRole("tree").waitFor({ state: "detached" });
      await page.getByRole("tab", { name: "All" }).click();
      await page.locator(".row.active", { hasText: "予算 plan.md" }).waitFor();
      expect(visit.troubles).toEqual([]);
    });

    it("says of an empty folder that nothing is there", async () => {
      await using visit = await stage.open();
      await row(visit, "shelf").click();
      await row(visit, "nothing").click();
      await visit.page.getByRole("treeitem", { name: "Nothing here" }).waitFor();
      expect(visit.troubles).toEqual([]);
    });

    it("says that a folder is loading, that it failed and why, and tries again by keyboard", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await row(visit, "shelf").click();
      await row(visit, "docs").waitFor();
      const held = Promise.withResolvers<Route>();
      await page.route("**/mcp", async (route) => {
        const asked = route.request().postData() ?? "";
        if (asked.includes("resources/directory/read") && asked.includes("/docs")) held.resolve(route);
        else await route.continue();
      });
      await row(visit, "docs").click();
      await page.getByRole("treeitem", { name: "Loading…" }).waitFor();
      await (await held.promise).fulfill({ status: 500, body: "no" });
      await page.getByRole("treeitem", { name: /This failed\. Try again \(.*500/ }).waitFor();
      await page.unroute("**/mcp");
      await page.keyboard.press("Tab");
      await page.getByRole("tree").focus();
      await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await row(visit, "予算 plan.md").waitFor();
    });

    it("keeps what it has when the server is gone, says so, and goes on when it is back", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await row(visit, "shelf").click();
      await row(visit, "live.md").waitFor();
      await page.route("**/mcp", (route) => route.abort());
      await row(visit, "docs").click();
      const lost = page.getByRole("alert").filter({ hasText: "last known state" });
      await lost.waitFor();
      await row(visit, "live.md").waitFor();
      await page.unroute("**/mcp");
      await lost.waitFor({ state: "detached" });
    });

    it("says to those who are not let in how to be", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await page.route("**/mcp", (route) => route.fulfill({ status: 401, body: "" }));
      await page.reload();
      await page.getByRole("alert").getByText("Access denied").waitFor();
      await page.unroute("**/mcp");
      await page.getByRole("button", { name: "Try again" }).focus();
      await page.keyboard.press("Enter");
      await row(visit, "shelf").waitFor();
    });

    it.each(locales)("breaks no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
      await using visit = await openToCheck(stage, locale);
      const { page } = visit;
      expect(await visit.violations()).toEqual([]);
      await row(visit, "shelf").click();
      await row(visit, "nothing").click();
      await row(visit, "live.md").locator(".tick").click();
      await page.locator(".row.empty").waitFor();
      expect(await visit.violations()).toEqual([]);
      await page.route("**/mcp", (route) => route.abort());
      await row(visit, "docs").click();
      await page.locator(".row.failed").waitFor();
      expect(await visit.violations()).toEqual([]);
    });

    it("of a mount with nothing in it says so, and what to do where not even that is known", async () => {
      const bare = await openStage({}, { config: "mounts: { none: { source: memory, resources: {} } }\n" });
      try {
        await using visit = await bare.open();
        const { page } = visit;
        await row(visit, "none").waitFor();
        await page.getByRole("treeitem", { name: "Nothing here" }).waitFor();
        await refuseStatus(visit);
        await page.reload();
        await page.getByText("This server serves nothing yet").waitFor();
        await page.getByText("Add a folder or a source to its config").waitFor();
        expect(visit.troubles).toEqual([]);
      } finally {
        await bare.close();
      }
    });
  },
);
