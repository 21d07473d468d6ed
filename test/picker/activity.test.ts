/** The activity page in a real browser: what real clients were given, live, for the owner alone. */
import { expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { indexed, locales, openToCheck, refuseStatus, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const files = {
  "plan.md": "# Plan\n\nThe budget of next year.\n",
  "設計/決済.md": "# 決済\n\nThe budget of payments.\n",
};

onStage("the activity page", files, {}, (stage) => {
  const call = { caller: { id: "test" }, signal: new AbortController().signal };
  const guest = () => connect(stage.server.url, { client: { name: "guest", version: "7" } });

  it("explains itself while it is empty, then shows live what a client gathered, found and read", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await page.getByRole("button", { name: "Activity" }).click();
    const list = page.getByRole("dialog", { name: "What did the model read?" });
    await list.getByText("No model has read anything yet").waitFor();

    await indexed(stage);
    const client = await guest();
    await client.useTool("search_resources", { query: "budget" }, call);
    const entry = (text: string) =>
      list.locator(".deliveries > li").filter({ hasText: text }).filter({ hasText: "guest" });
    await entry("Searched").getByText("guest 7").waitFor();
    await entry("Searched").getByText("2 results").click();
    // People see decoded paths.
    await entry("Searched").getByRole("button", { name: "設計/決済.md" }).waitFor();
    await client.useTool("read_resource", { uri: stage.uriOf("plan.md"), lines: "1-2" }, call);
    await entry("Read").getByText("lines 1–2").waitFor();
    await client.useTool("gather_context", { task: "plan the budget" }, call);
    await entry("Gathered for").getByText("plan the budget").waitFor();
    await entry("Gathered for").locator("summary").click();
    await entry("Gathered for").getByText("contains").first().waitFor();
    await client.close();

    expect(await list.getByText("pressmark-picker 0").count()).toBe(0);
    await entry("Read").getByRole("button", { name: "plan.md" }).click();
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    await page.getByText("Go to lines 1–2").waitFor();
    expect(await list.count()).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it("is opened and closed by keyboard, in Japanese too, and shows the page's own requests on demand", async () => {
    await using visit = await stage.open({ locale: "ja-JP" });
    const { page } = visit;
    await page.getByRole("button", { name: "アクティビティ" }).waitFor();
    await page.getByRole("treeitem").filter({ hasText: "plan.md" }).click();
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    await page.keyboard.press("Alt+a");
    const list = page.getByRole("dialog", { name: "モデルが読んだもの" });
    await list.getByRole("checkbox").focus();
    await page.keyboard.press("Space");
    await list.getByText("pressmark-picker 0").first().waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => list.count(), soon).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it("is not there for anyone else", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await refuseStatus(visit);
    const refused = page.waitForResponse((response) =>
      Boolean(response.request().postData()?.includes('"pressmark://activity')),
    );
    await page.reload();
    await refused;
    await page.getByRole("tree").waitFor();
    expect(await page.getByRole("button", { name: "Activity" }).count()).toBe(0);
  });

  it.each(locales)("breaks no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
    const client = await guest();
    await client.useTool("gather_context", { task: "plan the budget" }, call);
    await client.close();
    await using visit = await openToCheck(stage, locale);
    await visit.page.locator('[aria-keyshortcuts="Alt+A"]').click();
    await visit.page.locator(".deliveries summary").first().click();
    expect(await visit.violations()).toEqual([]);
  });
});
