/** The state page in a real browser, on a real server. */
import { expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { locales, openToCheck, refuseStatus, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const config = `mounts:
  shelf: { source: file, root: docs }
  gone: { source: mcp, url: "http://127.0.0.1:1/mcp" }
server: { tools: true }
`;

onStage("the state page", { "docs/plan.md": "# Plan\n" }, { config }, (stage) => {
  const call = { caller: { id: "test" }, signal: new AbortController().signal };

  it("is opened by a button, and shows mounts, clients and reads, live", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await page.getByRole("button", { name: "State" }).click();
    const state = page.getByRole("dialog", { name: /State/ });
    const mount = (name: string) => state.getByRole("row").filter({ hasText: name });
    await mount("shelf").getByText("works").waitFor();
    await mount("gone").getByText("not responding").waitFor();
    await state.getByRole("row").filter({ hasText: "pressmark-picker 0" }).waitFor();

    const guest = await connect(stage.server.url, { era: "legacy", client: { name: "guest", version: "7" } });
    await state.getByRole("row").filter({ hasText: "guest" }).waitFor();
    await guest.read(stage.uriOf("docs/plan.md"), call);
    await state.getByText("by guest").waitFor();
    await guest.close();
    await expect
      .poll(() => state.getByRole("row").filter({ hasText: "guest" }).getByText("1", { exact: true }).count(), soon)
      .toBe(0);

    const read = state.getByTitle(stage.uriOf("docs/plan.md"));
    expect(await read.textContent()).toBe("shelf › plan.md");
    await read.click();
    await page.getByRole("heading", { name: "Plan", exact: true }).waitFor();
    expect(await state.count()).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it("is opened and closed by keyboard, in Japanese too", async () => {
    await using visit = await stage.open({ locale: "ja-JP" });
    const { page } = visit;
    await page.getByRole("button", { name: "状態" }).waitFor();
    await page.keyboard.press("Alt+s");
    await page.getByRole("dialog").getByText("応答なし").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await page.evaluate("document.activeElement.tagName")).not.toBe("DIALOG");
    expect(visit.troubles).toEqual([]);
  });

  it("is not there for those whom it does not concern", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await refuseStatus(visit);
    const refused = page.waitForResponse((response) =>
      Boolean(response.request().postData()?.includes('"pressmark://')),
    );
    await page.reload();
    await refused;
    await page.getByRole("tree").waitFor();
    expect(await page.getByRole("button", { name: "State" }).count()).toBe(0);
  });

  it("says when the server does not tell, and asks again", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await page.getByRole("button", { name: "State" }).waitFor();
    await page.route("**/mcp", (route) => (isRead(route.request().postData()) ? route.abort() : route.continue()));
    await page.getByRole("button", { name: "State" }).click();
    const state = page.getByRole("dialog");
    await state.getByRole("alert").getByText("The server status could not be loaded").waitFor();
    await page.unroute("**/mcp");
    await state.getByRole("button", { name: "Try again" }).click();
    await state.getByText("Connected clients").waitFor();
    await state.getByRole("button", { name: "Close" }).click();
    await state.waitFor({ state: "detached" });
  });

  it.each(locales)("breaks no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
    await using visit = await openToCheck(stage, locale);
    await visit.page.locator('[aria-keyshortcuts="Alt+S"]').click();
    await visit.page
      .getByRole("dialog")
      .getByText(/not responding|応答なし/)
      .waitFor();
    expect(await visit.violations()).toEqual([]);
  });
});

function isRead(asked: string | null): boolean {
  return asked !== null && asked.includes('"resources/read"') && asked.includes('"pressmark://status"');
}
