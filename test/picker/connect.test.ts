/** The page Connect: how each host gets this server, and whether it has connected. */
import { expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { clipboard, focused, locales, mayCopy, openToCheck, refuseStatus, row, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

onStage("the page Connect", { "docs/plan.md": "# Plan\n" }, {}, (stage) => {
  it("has links, commands and settings to copy, for both ways", async () => {
    await using visit = await stage.open(mayCopy);
    const { page } = visit;
    await page.getByRole("link", { name: "Connect", exact: true }).click();
    const host = (name: string) => page.getByRole("listitem", { name, exact: true });
    const linkOf = async (name: string, title: string): Promise<string> =>
      (await host(name)
        .getByRole("link", { name: `Add to ${title}`, exact: true })
        .getAttribute("href")) ?? "";
    await host("VS Code").waitFor();
    expect(new URL(page.url()).hash).toBe("#connect");
    const { url } = stage.server;
    const offered = { name: "pressmark", type: "http", url };
    for (const [title, scheme] of [
      ["VS Code", "vscode"],
      ["VS Code Insiders", "vscode-insiders"],
    ] as const) {
      const [start, query] = (await linkOf("VS Code", title)).split("?") as [string, string];
      expect([start, JSON.parse(decodeURIComponent(query))]).toEqual([`${scheme}:mcp/install`, offered]);
    }
    const cursor = new URL(await linkOf("Cursor", "Cursor"));
    expect(cursor.href).toMatch(/^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?name=pressmark&config=/);
    expect(JSON.parse(atob(cursor.searchParams.get("config")!))).toEqual({ url });
    await page.getByRole("button", { name: "Copy for Claude Code" }).click();
    await expect.poll(() => clipboard(visit), soon).toBe(`claude mcp add --transport http pressmark ${url}`);
    expect(await host("Claude Desktop").count()).toBe(0);

    await page.getByRole("radio", { name: "The host starts Pressmark" }).check();
    await host("Claude Desktop").waitFor();
    await page.getByRole("button", { name: "Copy for Codex" }).click();
    await expect.poll(() => clipboard(visit), soon).toMatch(/^codex mcp add pressmark -- .*stdio /);
    expect(await clipboard(visit)).toContain(` stdio ${stage.root}`);
    expect(await linkOf("Cursor", "Cursor")).toContain("&config=");
    expect(visit.troubles).toEqual([]);
  });

  it("shows live whether a host has connected, and as what", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    await page.goto(`${stage.url}#connect`);
    const seen = (host: string) => page.getByRole("listitem", { name: host, exact: true }).getByRole("status").first();
    await expect.poll(() => seen("Claude Code").textContent(), soon).toBe("Not connected yet");
    const client = { name: "claude-code", version: "2.1.325" };
    const guest = await connect(stage.server.url, { era: "legacy", client });
    await expect.poll(() => seen("Claude Code").textContent(), soon).toBe("Connected as claude-code 2.1.325");
    expect(await seen("Codex").textContent()).toBe("Not connected yet");
    await guest.close();
    await expect
      .poll(() => seen("Claude Code").textContent(), soon)
      .toMatch(/^Last active .* as claude-code 2\.1\.325$/);
    expect(visit.troubles).toEqual([]);
  });

  it("is opened and left by keyboard and by the Back button, and remembers the server's name", async () => {
    await using visit = await stage.open(mayCopy);
    const { page } = visit;
    const title = page.getByRole("heading", { name: "Connect a host" });
    await page.locator(".tray").getByRole("link", { name: "Connect a host" }).focus();
    await page.keyboard.press("Enter");
    await title.waitFor();
    expect(await page.title()).toBe("Connect a host – Pressmark");
    await page.getByRole("button", { name: "Copy for Claude Code" }).waitFor();
    await page.getByRole("textbox", { name: /^Name of this server/ }).fill("docs");
    await page.getByRole("button", { name: "Copy for Claude Code" }).click();
    await expect.poll(() => clipboard(visit), soon).toBe(`claude mcp add --transport http docs ${stage.server.url}`);
    await page.goBack();
    await title.waitFor({ state: "detached" });
    expect(await focused(visit)).toBe("Connect a host");
    await page.goForward();
    await title.waitFor();
    await page.keyboard.press("Escape");
    await title.waitFor({ state: "detached" });
    await row(visit, "plan.md").or(row(visit, "docs")).first().waitFor();
    await row(visit, "docs").click();
    await row(visit, "plan.md").locator(".tick").click();
    await page.getByRole("button", { name: "Use in…" }).click();
    await page.getByRole("menuitem", { name: /^Mentions .*Claude Code/ }).click();
    await expect.poll(() => clipboard(visit), soon).toBe(`@docs:${stage.uriOf("docs/plan.md")}`);
    expect(visit.troubles).toEqual([]);
  });

  it("tells others the address, and whom to ask, by touch", async () => {
    await using visit = await stage.open({ hasTouch: true, viewport: { width: 400, height: 800 } });
    const { page } = visit;
    await refuseStatus(visit);
    await page.reload();
    await page.getByRole("button", { name: "Commands" }).tap();
    await page.getByRole("option", { name: "Connect", exact: true }).tap();
    await page.getByText("ask the owner of this server").waitFor();
    await page.getByText(stage.server.url, { exact: true }).waitFor();
    expect(await page.getByRole("dialog").getByRole("listitem").count()).toBe(0);
    await page.getByRole("button", { name: "Back to the resources" }).tap();
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  it.each(locales)("breaks no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
    await using visit = await openToCheck(stage, locale);
    await visit.page.locator("header a[href='#connect']").click();
    await visit.page.getByRole("listitem", { name: "VS Code" }).waitFor();
    expect(await visit.violations()).toEqual([]);
  });
});

const token = "0123456789abcdef0123456789abcdef";
onStage(
  "the page Connect of a server with a token",
  { "a.md": "a\n" },
  { env: { PRESSMARK_TOKEN: token } },
  (stage) => {
    it("refers to the token, and shows it nowhere", async () => {
      await using visit = await stage.open();
      const { page } = visit;
      await page.getByRole("link", { name: "Connect", exact: true }).click();
      await page.getByText("--bearer-token-env-var PRESSMARK_TOKEN").waitFor();
      expect(await page.content()).not.toContain(token);
      const links = await page
        .locator(".connect-links a")
        .evaluateAll((all) => all.map((each) => each.getAttribute("href")));
      expect(decodeURIComponent(links[0] ?? "")).toContain("${input:pressmark-token}");
      expect(atob(new URL(links.at(-1) ?? "").searchParams.get("config")!)).toContain("${env:PRESSMARK_TOKEN}");
    });
  },
);
