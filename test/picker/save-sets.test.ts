/** Saving sets from the page, as users run it: `serve` and a host's `stdio` are processes of their own. */
import { mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { type Browser, chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { createScratch, type Served, startServe } from "../faults/pressmark-process.ts";
import { chromiumPath, hasBrowser, placeFile, type Visit } from "./browser.ts";
import { chosen, row, soon } from "./looking.ts";

const program = join(import.meta.dirname, "../../bin/pressmark.js");
const call = { caller: { id: "test" }, signal: new AbortController().signal };

describe.skipIf(!hasBrowser)("saving a set without a config (needs /usr/bin/chromium)", { timeout: 60_000 }, () => {
  const scratch = createScratch();
  const project = join(realpathSync(scratch.folder), "project");
  const uriOf = (path: string) => `file://${project}/${path}`;
  let served: Served;
  let browser: Browser;
  let host: Client;
  let listChanges = 0;

  beforeAll(async () => {
    mkdirSync(project);
    placeFile(project, "a.md", "# First\n");
    placeFile(project, "docs/b.md", "# Second\n");
    placeFile(project, "long.txt", Array.from({ length: 400 }, (_, at) => `line ${at + 1}\n`).join(""));
    const { env } = scratch;
    host = new Client({ name: "host", version: "1" });
    host.setNotificationHandler("notifications/prompts/list_changed", () => {
      listChanges += 1;
    });
    const stdio = { command: process.execPath, args: [program, "stdio"], cwd: project, stderr: "ignore" as const };
    const clean = Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value ? [[name, value]] : [])));
    [served, browser] = await Promise.all([
      startServe([], { cwd: project, env }),
      chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] }),
      host.connect(new StdioClientTransport({ ...stdio, env: clean })),
    ]);
  }, 60_000);

  afterAll(async () => {
    await host?.close();
    await browser?.close();
    served?.child.kill();
    await served?.exited;
    scratch.remove();
  }, 30_000);

  async function open(): Promise<Visit> {
    const context = await browser.newContext({ locale: "en-US" });
    const page = await context.newPage();
    const troubles: string[] = [];
    page.on("pageerror", (error) => troubles.push(error.message));
    await page.goto(`http://127.0.0.1:${served.port}/`);
    return { page, troubles, [Symbol.asyncDispose]: () => context.close() };
  }

  async function promptNames(): Promise<readonly string[]> {
    return (await host.listPrompts(undefined, { cacheMode: "bypass" })).prompts.map(({ name }) => name);
  }

  async function promptTexts(name: string): Promise<readonly unknown[]> {
    const { messages } = await host.getPrompt({ name });
    return messages.slice(1).map(({ content }) => (content.type === "resource" ? content.resource : content));
  }

  it("makes it a prompt in the host at once, shows how it is called, and asks before replacing or deleting", async () => {
    await using visit = await open();
    const { page } = visit;
    const sets = page.locator(".sets");
    await row(visit, "a.md").locator(".tick").click();
    await page.getByRole("button", { name: "Sets", exact: true }).click();
    const before = listChanges;
    await sets.getByRole("textbox").fill("mine");
    await sets.getByRole("button", { name: "Save as a set" }).click();
    await sets.getByText("Saved as “mine”").waitFor();
    expect(await sets.locator("code").allTextContents()).toEqual(["/mcp__pressmark__mine", "/mcp.pressmark.mine"]);
    await expect.poll(() => listChanges, soon).toBeGreaterThan(before);
    expect(await promptNames()).toContain("mine");
    expect(await promptTexts("mine")).toMatchObject([{ uri: uriOf("a.md"), text: "# First\n" }]);

    await row(visit, "a.md").locator(".tick").click();
    await row(visit, "long.txt").locator(".tick").click();
    await expect.poll(() => chosen(visit), soon).toEqual(["long.txt"]);
    await sets.getByRole("textbox").fill("mine");
    await page.keyboard.press("Enter");
    await sets.getByRole("alertdialog").waitFor();
    // Cancel has the focus.
    await page.keyboard.press("Enter");
    await expect.poll(() => sets.getByRole("alertdialog").count(), soon).toBe(0);
    expect(await promptTexts("mine")).toMatchObject([{ uri: uriOf("a.md") }]);
    await page.keyboard.press("Enter");
    await sets.getByRole("button", { name: "Replace" }).click();
    await sets.getByText("Saved as “mine”").waitFor();
    await expect.poll(() => promptTexts("mine"), soon).toMatchObject([{ uri: uriOf("long.txt") }]);

    await sets.getByRole("button", { name: "Delete the set “mine”" }).click();
    await sets.getByRole("button", { name: "Delete", exact: true }).click();
    await sets.getByText("“mine” was deleted").waitFor();
    await sets.getByText("none saved yet").waitFor();
    await expect.poll(promptNames, soon).not.toContain("mine");
    expect(visit.troubles).toEqual([]);
  });

  it("takes lines of a file and directories as members", async () => {
    const page = await connect(`http://127.0.0.1:${served.port}/mcp`, {
      clientOptions: { capabilities: { extensions: { "pressmark/picker": {} } } },
    });
    try {
      const range = `${uriOf("long.txt")}?lines=187-189`;
      await page.useTool("save_set", { name: "parts", uris: [range, uriOf("docs")] }, call);
      await expect.poll(promptNames, soon).toContain("parts");
      const lines = "line 187\nline 188\nline 189\n";
      expect(await promptTexts("parts")).toMatchObject([
        { uri: range, text: lines },
        { type: "resource_link", uri: uriOf("docs") },
      ]);
      const { contents } = await page.read("set://parts", call);
      expect(contents.slice(1)).toMatchObject([{ uri: range, body: { text: lines } }, { uri: uriOf("docs") }]);
      const { structured } = await page.useTool("gather_context", { task: "zzz", include: ["set://parts"] }, call);
      expect(structured?.["included"]).toMatchObject([
        { uri: uriOf("docs/b.md") },
        { uri: uriOf("long.txt"), lines: "187-189" },
      ]);
    } finally {
      await page.close();
    }
  });
});
