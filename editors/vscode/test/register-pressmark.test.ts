import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connectBy } from "../../../dist/client/index.js";
import type { ToPage } from "../src/panel-messages.ts";
import { createPageTransports } from "../src/panel/page-transport.ts";
import { registerPressmark } from "../src/register-pressmark.ts";
import { createFakeEditor, type FakeEditor } from "./fake-editor.ts";

const program = join(import.meta.dirname, "../../../bin/pressmark.js");
let folder: string;
let editor: FakeEditor;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-vscode-")));
  writeFileSync(join(folder, "tea.md"), "Sencha is steamed.\n");
  editor = createFakeEditor();
});
afterEach(() => {
  for (const each of editor.context.subscriptions) each.dispose();
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});

const start = (): void => registerPressmark(editor.api, editor.context);
const definitions = async () => editor.provider!.provideMcpServerDefinitions({} as never);

describe("server definitions", () => {
  it("start the program in the folder of the workspace", async () => {
    editor.setFolders(folder);
    start();
    const [definition, ...others] = (await definitions())!;
    expect(others).toEqual([]);
    expect(definition).toMatchObject({
      label: "pressmark",
      command: "pressmark",
      args: ["stdio", "--project"],
      version: "1.2.3",
    });
    expect(definition?.cwd?.fsPath).toBe(folder);
  });

  it("are one for each folder, with the program of the settings", async () => {
    editor.setProgram("/opt/pressmark");
    editor.setFolders("/home/me/one", "/home/me/two");
    start();
    expect((await definitions())!.map(({ label, command }) => [label, command])).toEqual([
      ["pressmark (one)", "/opt/pressmark"],
      ["pressmark (two)", "/opt/pressmark"],
    ]);
  });

  it("are announced again when folders or the program change", () => {
    start();
    let announced = 0;
    editor.provider!.onDidChangeMcpServerDefinitions!(() => (announced += 1));
    editor.setFolders(folder);
    editor.setProgram("/opt/pressmark");
    expect(announced).toBe(2);
  });
});

describe("the picker's panel", () => {
  it("needs a folder", async () => {
    start();
    await editor.run("pressmark.openPicker");
    expect(editor.panels).toEqual([]);
    expect(editor.errors[0]).toContain("Open a folder first");
  });

  it("is one for each folder, which a person chooses among several", async () => {
    editor.setFolders("/home/me/one", "/home/me/two");
    start();
    await editor.run("pressmark.openPicker");
    await editor.run("pressmark.openPicker");
    expect(editor.panels.map(({ title, revealed }) => [title, revealed])).toEqual([["Pressmark: two", 1]]);
  });

  it("loads only files of the extension, and connects to nothing", async () => {
    const { options, webview } = await openPanel();
    expect(options.localResourceRoots?.map(({ fsPath }) => fsPath)).toEqual(["/extension/dist"]);
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(webview.html)?.[1];
    expect(policy).toBe(
      "default-src 'none'; script-src https://files.example; style-src https://files.example; img-src blob:; base-uri 'none'; form-action 'none'",
    );
    expect(webview.html).toContain('src="https://files.example/extension/dist/panel.js"');
  });

  it("reads and searches through a server of its own, which ends with it", async () => {
    editor.setProgram(program);
    const panel = await openPanel();
    const server = await connectBy(pageOf(panel));
    const call = { caller: { id: "me" }, signal: AbortSignal.timeout(30_000) };
    const { contents } = await server.read(pathToFileURL(join(folder, "tea.md")).href, call);
    expect(contents[0]?.body).toEqual({ text: "Sencha is steamed.\n" });
    const found = async () =>
      (await server.search({ text: "sencha", limit: 5 }, call)).hits.map(({ resource }) => resource.name);
    await expect.poll(found, { timeout: 30_000 }).toEqual(["tea.md"]);
    const ended = new Promise<unknown>((resolve) => (panel.heard = resolve));
    panel.close();
    expect(await ended).toEqual({ kind: "closed", connection: expect.any(Number) });
  });

  it("starts the server again when it has ended", async () => {
    editor.setProgram(program);
    const panel = await openPanel();
    const server = await connectBy(pageOf(panel));
    const call = { caller: { id: "me" }, signal: AbortSignal.timeout(30_000) };
    const read = async () => (await server.read(pathToFileURL(join(folder, "tea.md")).href, call)).contents.length;
    expect(await read()).toBe(1);
    const { connection } = panel.sent.at(-1) as { readonly connection: number };
    panel.post({ kind: "close", connection });
    await expect.poll(() => panel.sent.at(-1)).toEqual({ kind: "closed", connection });
    expect(await read()).toBe(1);
    expect(panel.sent.at(-1)).toMatchObject({ kind: "message", connection: connection + 1 });
    await server.close();
  });

  it("says how to set a program that cannot be started", async () => {
    editor.setProgram(join(folder, "missing"));
    editor.answer = "Open settings";
    const panel = await openPanel();
    await expect(connectBy(pageOf(panel))).rejects.toThrow("cannot be reached");
    expect(editor.errors[0]).toMatch(
      /^Pressmark cannot be started: spawn .*missing ENOENT\. Install it, or set the path/,
    );
    expect(editor.executed).toContainEqual(["workbench.action.openSettings", "pressmark.program"]);
  });

  it("writes a request for what was chosen into the chat, and sends nothing", async () => {
    const panel = await openPanel();
    panel.post({ kind: "choose", uris: ["file:///a.md", "file:///b.md?lines=1-2"] });
    await expect.poll(() => editor.executed).toHaveLength(1);
    const query = `Read these resources of the MCP server "pressmark" with its tool read_resource:\n- file:///a.md\n- file:///b.md?lines=1-2\n`;
    expect(editor.executed).toEqual([["workbench.action.chat.open", { query, isPartialQuery: true }]]);
  });

  it("copies the request where there is no chat", async () => {
    editor = createFakeEditor({ hasChat: false });
    const panel = await openPanel();
    panel.post({ kind: "choose", uris: ["file:///a.md"] });
    await expect.poll(() => editor.copied).toContain("- file:///a.md");
  });

  it("ignores what a page should not send", async () => {
    const panel = await openPanel();
    const odd = [null, "open", {}, { kind: "open" }, { kind: "run", connection: 1 }, { kind: "choose", uris: [1] }];
    for (const message of [...odd, { kind: "send", connection: 1 }, { kind: "send", connection: 9, message: {} }])
      panel.post(message);
    await Promise.resolve();
    expect([panel.sent, editor.executed, editor.errors]).toEqual([[], [], []]);
  });
});

async function openPanel() {
  editor.setFolders(folder);
  start();
  await editor.run("pressmark.openPicker");
  return editor.panels[0]!;
}

/** What the panel's page does to reach the server. */
function pageOf(panel: FakeEditor["panels"][number]) {
  return createPageTransports({
    post: (message) => panel.post(message),
    listen(heard) {
      panel.heard = (message) => heard(message as ToPage);
      return () => (panel.heard = () => {});
    },
  });
}
