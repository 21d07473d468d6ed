/** Panels with the picker, at most one for each folder. */
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type * as vscode from "vscode";
import { usesOf } from "../../../src/lib/host-uses.ts";
import type { EditorApi } from "./editor-api.ts";
import { panelPage } from "./panel-page.ts";
import { parseFromPage } from "./panel-messages.ts";
import { serverCommand, serverName } from "./server-command.ts";
import { createServerRelay } from "./server-relay.ts";

interface PickerPanels extends vscode.Disposable {
  open(folder: vscode.WorkspaceFolder): void;
}

const settings = "Open settings";

export function createPickerPanels(editor: EditorApi, extensionUri: vscode.Uri): PickerPanels {
  const { commands, env, window, Uri } = editor;
  const panels = new Map<string, vscode.WebviewPanel>();
  const log = window.createOutputChannel("Pressmark");
  let isExplained = false;
  const files = Uri.joinPath(extensionUri, "dist");

  function startsIn(folder: string): StdioClientTransport {
    const own = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const server = new StdioClientTransport({
      ...serverCommand(editor),
      cwd: folder,
      env: Object.fromEntries(own),
      stderr: "pipe",
    });
    server.stderr?.on("data", (text: Buffer) => log.append(text.toString()));
    return server;
  }

  /** Not again while the message is shown: pages try again by themselves. */
  async function explain(reason: string): Promise<void> {
    if (isExplained) return;
    isExplained = true;
    const { command } = serverCommand(editor);
    const said = `Pressmark cannot be started: ${reason}. Install it, or set the path of the program (now "${command}").`;
    const answer = await window.showErrorMessage(said, settings);
    isExplained = false;
    if (answer === settings) await commands.executeCommand("workbench.action.openSettings", "pressmark.program");
  }

  /** Writes a request into the chat, without sending it. */
  async function use(uris: readonly string[], server: string): Promise<void> {
    const language = env.language.startsWith("ja") ? "ja" : "en";
    const uses = usesOf({ chosen: uris.map((uri) => ({ uri })), server, language });
    const query = uses.find(({ id }) => id === "agents-request")?.text ?? "";
    try {
      await commands.executeCommand("workbench.action.chat.open", { query, isPartialQuery: true });
    } catch {
      // An editor without a chat.
      await env.clipboard.writeText(query);
      await window.showInformationMessage(
        "There is no chat here. A request that names the chosen resources was copied.",
      );
    }
  }

  return {
    open(folder) {
      const { name, uri } = folder;
      const key = uri.toString();
      const shown = panels.get(key);
      if (shown) return shown.reveal();
      const panel = window.createWebviewPanel("pressmark.picker", `Pressmark: ${name}`, -1, {
        enableScripts: true,
        // The tray is lost otherwise when another tab is shown.
        retainContextWhenHidden: true,
        localResourceRoots: [files],
      });
      panels.set(key, panel);
      const { webview } = panel;
      const relay = createServerRelay({
        create: () => startsIn(uri.fsPath),
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- VS Code's function, which takes no origin
        post: (message) => void webview.postMessage(message),
        failed: (reason) => void explain(reason),
      });
      webview.onDidReceiveMessage(async (value: unknown) => {
        const message = parseFromPage(value);
        if (message?.kind === "choose") await use(message.uris, serverName(editor, folder));
        else if (message) await relay.receive(message);
      });
      panel.onDidDispose(() => {
        panels.delete(key);
        void relay.close();
      });
      const address = (file: string) => webview.asWebviewUri(Uri.joinPath(files, file)).toString();
      webview.html = panelPage({
        source: webview.cspSource,
        script: address("panel.js"),
        style: address("panel.css"),
        language: env.language,
      });
    },
    dispose() {
      for (const panel of panels.values()) panel.dispose();
      log.dispose();
    },
  };
}
