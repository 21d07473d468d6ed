/** "Use in…": the menu from the tray into hosts, by mouse, keyboard and touch. */
import { readFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import type { Stage, Visit } from "./browser.ts";
import { chosen, clipboard, focused, locales, mayCopy, openToCheck, row, soon } from "./looking.ts";
import { onStage } from "./on-stage.ts";

const files = { "a.md": "# First\n", "b (old).md": "# Second\n", "e.bin": new Uint8Array([0, 1, 2, 255, 0]) };
const config = `mounts: { docs: { source: file, root: ".", exclude: ["*.yaml"] } }
sets: { onboarding: { title: First day, resources: [a.md] } }
server: { tools: [search_resources, read_resource, save_set] }
`;

onStage("the menu of uses", files, { config }, (stage) => {
  it("copies mentions by mouse, says what to do next, and shows the last use first", async () => {
    await using visit = await openWith(stage, "a.md", "b (old).md");
    const { page } = visit;
    const button = page.getByRole("button", { name: "Use in…" });
    await button.click();
    await page.getByRole("menuitem", { name: /^Mentions .*Claude Code/ }).click();
    await page.getByText("Copied. Paste it into Claude Code").waitFor();
    expect(await clipboard(visit)).toBe(`@pressmark:${stage.uriOf("a.md")} @pressmark:${stage.uriOf("b (old).md")}`);
    expect(await page.getByRole("menu").count()).toBe(0);
    await page.reload();
    await choose(visit, "a.md");
    await button.click();
    expect(await page.getByRole("menuitem").first().textContent()).toMatch(/^Claude Code: Mentions/);
    await button.click();
    expect(await page.getByRole("menu").count()).toBe(0);
    await button.click();
    await page.getByRole("tree").click({ position: { x: 5, y: 300 } });
    expect(await page.getByRole("menu").count()).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it("is used by keyboard", async () => {
    await using visit = await openWith(stage, "a.md");
    const { page } = visit;
    await page.getByRole("button", { name: "Use in…" }).focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => focused(visit), soon).toMatch(/^Contents as Markdown/);
    for (const [key, name] of [
      ["End", /^\.xml/],
      ["ArrowUp", /^\.md/],
      ["Home", /^Contents as Markdown/],
      ["ArrowUp", /^\.xml/],
      ["ArrowDown", /^Contents as Markdown/],
    ] as const) {
      await page.keyboard.press(key);
      expect(await focused(visit)).toMatch(name);
    }
    await page.keyboard.press("Escape");
    expect(await page.getByRole("menu").count()).toBe(0);
    expect(await focused(visit)).toBe("Use in…");
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(visit), soon).toMatch(/^Contents as Markdown/);
    for (let step = 0; step < 20; step += 1) {
      if (/^Ask the model.*Codex/.test(String(await focused(visit)))) break;
      await page.keyboard.press("ArrowDown");
    }
    await page.keyboard.press("Enter");
    await page.getByText("Copied. Paste it into Codex").waitFor();
    expect(await clipboard(visit)).toBe(
      `Read these resources of the MCP server "pressmark" with its tool read_resource:\n- ${stage.uriOf("a.md")}\n`,
    );
    expect(await focused(visit)).toBe("Use in…");
    expect(visit.troubles).toEqual([]);
  });

  it("opens VS Code and Cursor with a request, by mouse and keyboard, and the page stays", async () => {
    await using visit = await openWith(stage, "a.md", "b (old).md");
    const { page } = visit;
    const button = page.getByRole("button", { name: "Use in…" });
    await button.click();
    const cursor = page.getByRole("group", { name: "Cursor" }).getByRole("menuitem", { name: /^Open its chat/ });
    const link = new URL((await cursor.getAttribute("href")) ?? "");
    expect(`${link.protocol}//${link.host}${link.pathname}`).toBe("cursor://anysphere.cursor-deeplink/prompt");
    expect(link.searchParams.get("text")).toBe(
      `Read these resources of the MCP server "pressmark" with its tool read_resource:\n- ${stage.uriOf("a.md")}\n- ${stage.uriOf("b (old).md")}\n`,
    );
    await cursor.click();
    await page.getByText("Cursor opens; send the request there").waitFor();
    expect(await focused(visit)).toBe("Use in…");
    await button.press("ArrowDown");
    await expect.poll(() => focused(visit), soon).toMatch(/^Cursor: Open its chat/);
    await page.keyboard.press("ArrowUp");
    await page
      .getByRole("group", { name: "VS Code" })
      .getByRole("menuitem", { name: /^Open its chat/ })
      .focus();
    await page.keyboard.press("Space");
    await page.getByText("VS Code opens; send the request there").waitFor();
    expect(await chosen(visit)).toEqual(["a.md", "b (old).md"]);
    // Nothing else than the two links, which this browser has no program for.
    expect(visit.troubles.map((each) => each.slice(0, 40))).toEqual([
      expect.stringMatching(/^request: cursor:\/\/anysphere/),
      expect.stringMatching(/^request: vscode:\/\/GitHub/),
    ]);
  });

  it("copies and saves contents, and tells how many have no text", async () => {
    await using visit = await openWith(stage, "a.md", "e.bin");
    const { page } = visit;
    const use = async (name: RegExp): Promise<void> => {
      await page.getByRole("button", { name: "Use in…" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    await use(/^Contents as XML/);
    await page.getByText("(1 without text left out)").waitFor();
    expect(await clipboard(visit)).toContain(`<document name="a.md" uri="${stage.uriOf("a.md")}"`);
    const downloading = page.waitForEvent("download");
    await use(/^\.md/);
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("pressmark.md");
    expect(await readFile(await download.path(), "utf8")).toContain("# First");
    await page.getByText("Saved. Attach the downloaded file").waitFor();
    await use(/^URIs/);
    await expect.poll(() => clipboard(visit), soon).toBe(`${stage.uriOf("a.md")}\n${stage.uriOf("e.bin")}\n`);
    expect(visit.troubles).toEqual([]);
  });

  it("offers the command of a set while the tray holds exactly that set", async () => {
    await using visit = await openWith(stage);
    const { page } = visit;
    await page.getByRole("button", { name: "Sets" }).click();
    await page.getByRole("button", { name: "First day" }).click();
    await expect.poll(() => chosen(visit), soon).toEqual(["a.md"]);
    await page.getByRole("button", { name: "Use in…" }).click();
    await page.getByRole("menuitem", { name: /mcp__pressmark__onboarding/ }).click();
    await page.getByText("it adds the set").waitFor();
    expect(await clipboard(visit)).toBe("/mcp__pressmark__onboarding");
    expect(await page.getByText("“First day” is open").count()).toBe(1);
    await row(visit, "e.bin").locator(".tick").click();
    await expect.poll(() => page.getByText("“First day” is open").count(), soon).toBe(0);
    await page.getByRole("button", { name: "Use in…" }).click();
    await page.getByRole("menuitem").first().waitFor();
    expect(await page.getByRole("menuitem", { name: /Slash command/ }).count()).toBe(0);
    expect(visit.troubles).toEqual([]);
  });

  it("disables mentions of lines, with the reason", async () => {
    const guest = await connect(stage.server.url);
    const call = { caller: { id: "test" }, signal: new AbortController().signal };
    await guest.useTool("save_set", { name: "part", uris: [`${stage.uriOf("a.md")}?lines=1-1`] }, call);
    await guest.close();
    await using visit = await openWith(stage);
    const { page } = visit;
    await page.getByRole("button", { name: "Sets" }).click();
    await page.getByRole("button", { name: "part", exact: true }).click();
    await page.getByRole("button", { name: "Use in…" }).click();
    const ofClaude = page.getByRole("group", { name: "Claude Code" }).getByRole("menuitem");
    const mentions = ofClaude.and(page.getByRole("menuitem", { name: /^Mentions/ }));
    await mentions.getByText("Lines cannot be mentioned").waitFor();
    expect(await mentions.getAttribute("aria-disabled")).toBe("true");
    expect(await ofClaude.last().textContent()).toMatch(/^Mentions/);
    expect(await focused(visit)).toMatch(/^Contents as Markdown/);
    await mentions.click({ force: true });
    expect(await page.getByRole("menu").count()).toBe(1);
    await ofClaude.and(page.getByRole("menuitem", { name: /^Ask the model/ })).click();
    await page.getByText("Copied.").waitFor();
    expect(await clipboard(visit)).toContain(`- ${stage.uriOf("a.md")}?lines=1-1\n`);
  });

  it("disables mentions of what the server does not list, once it knows", async () => {
    await using visit = await stage.open();
    const { page } = visit;
    // As servers with other resources: this one lists nothing of what it serves.
    await page.route("**/mcp", async (route) => {
      if (!route.request().postData()?.includes('"resources/list"')) return route.continue();
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(/"uri":"file:[^"]*"/g, '"uri":"other:x"');
      return route.fulfill({ response, body });
    });
    await choose(visit, "a.md");
    await page.getByRole("button", { name: "Use in…" }).click();
    await page.getByRole("group", { name: "Gemini CLI" }).getByText("Only what the server lists").waitFor();
    expect(await focused(visit)).toMatch(/^Contents as Markdown/);
  });

  it("tells which hosts have not connected, and leads to the page Connect", async () => {
    await using visit = await openWith(stage, "a.md");
    const { page } = visit;
    const client = { name: "cursor-vscode", version: "3" };
    const guest = await connect(stage.server.url, { era: "legacy", client });
    await page.getByRole("button", { name: "Use in…" }).click();
    const claude = page.getByRole("menuitem", { name: "Claude Code: Not connected yet" });
    await claude.waitFor();
    expect(await page.getByRole("menuitem", { name: "Cursor: Not connected yet" }).count()).toBe(0);
    await guest.close();
    await claude.click();
    await page.getByRole("heading", { name: "Connect a host" }).waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("is in the bar while the tray is hidden, and beside the button that hides it", async () => {
    await using visit = await stage.open({ ...mayCopy, viewport: { width: 900, height: 700 } });
    const { page } = visit;
    await row(visit, "a.md").locator(".tick").click();
    const use = page.getByRole("button", { name: "Use in…" });
    await use.click();
    await page.getByRole("menuitem", { name: /^Contents as Markdown/ }).click();
    await page.getByText("Copied. Paste the contents").waitFor();
    await page.getByRole("button", { name: /^1 chosen/ }).click();
    await use.click();
    await page.getByRole("menu").waitFor();
    expect(visit.troubles).toEqual([]);
  });

  it("stays where it is after a use, and what was cleared can be brought back", async () => {
    await using visit = await openWith(stage, "a.md", "e.bin");
    const { page } = visit;
    const use = page.getByRole("button", { name: "Use in…" });
    const before = await use.boundingBox();
    await use.click();
    await page.getByRole("menuitem", { name: /^Contents as XML/ }).click();
    await page.getByText("(1 without text left out)").waitFor();
    expect(await use.boundingBox()).toEqual(before);
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    await expect.poll(() => chosen(visit), soon).toEqual([]);
    await page.keyboard.press("Enter");
    await expect.poll(() => chosen(visit), soon).toEqual(["a.md", "e.bin"]);
    expect(await focused(visit)).toBe("Clear");
  });

  it("is a sheet on a phone, by touch, and needs no storage", async () => {
    await using visit = await stage.open({ ...mayCopy, hasTouch: true, viewport: { width: 400, height: 800 } });
    const { page } = visit;
    await page.addInitScript(`Object.defineProperty(window, "localStorage", { get() { throw new Error("denied"); } })`);
    await page.reload();
    await row(visit, "a.md").locator(".tick").tap();
    await page.getByRole("tab", { name: "Chosen" }).tap();
    await page.getByRole("button", { name: "Use in…" }).tap();
    const sheet = page.getByRole("menu", { name: "Use in…" });
    await sheet.waitFor();
    const box = (await sheet.boundingBox())!;
    expect([box.x, Math.round(box.y + box.height), box.width]).toEqual([0, 800, 400]);
    const heights = await sheet.getByRole("menuitem").evaluateAll((all) => all.map((each) => each.clientHeight));
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
    await sheet.getByRole("menuitem", { name: /^Contents as Markdown/ }).tap();
    await page.getByText("Copied. Paste the contents").waitFor();
    expect(await clipboard(visit)).toContain("# First");
    expect(visit.troubles).toEqual([]);
  });

  it.each(locales)("breaks no rule of axe, light and dark, wide and narrow, %s", async (locale) => {
    await using visit = await openToCheck(stage, locale);
    await row(visit, "a.md").locator(".tick").click();
    await visit.page.locator(".tray [aria-haspopup=menu]").click();
    await visit.page.getByRole("menu").waitFor();
    expect(await visit.violations()).toEqual([]);
  });
});

async function openWith(stage: Stage, ...names: readonly string[]): Promise<Visit> {
  const visit = await stage.open(mayCopy);
  await choose(visit, ...names);
  return visit;
}

async function choose(visit: Visit, ...names: readonly string[]): Promise<void> {
  for (const name of names) await row(visit, name).locator(".tick").click();
  await expect.poll(() => chosen(visit), soon).toEqual(names);
}
