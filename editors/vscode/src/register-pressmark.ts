/** Registers the provider of server definitions and the command that opens the picker. VS Code calls this only in trusted workspaces. */
import type * as vscode from "vscode";
import type { EditorApi } from "./editor-api.ts";
import { createPickerPanels } from "./picker-panels.ts";
import { localFolders } from "./server-command.ts";
import { createServerDefinitions } from "./server-definitions.ts";

type Context = Pick<vscode.ExtensionContext, "extensionUri" | "subscriptions"> & {
  readonly extension: Pick<vscode.Extension<unknown>, "packageJSON">;
};

export function registerPressmark(editor: EditorApi, { extensionUri, subscriptions, extension }: Context): void {
  const { version } = extension.packageJSON as { readonly version: string };
  const definitions = createServerDefinitions(editor, version);
  const panels = createPickerPanels(editor, extensionUri);
  subscriptions.push(
    definitions,
    panels,
    editor.lm.registerMcpServerDefinitionProvider("pressmark.servers", definitions.provider),
    editor.commands.registerCommand("pressmark.openPicker", async () => {
      const folder = await chooseFolder(editor);
      if (folder) panels.open(folder);
    }),
  );
}

async function chooseFolder({ window, workspace }: EditorApi): Promise<vscode.WorkspaceFolder | undefined> {
  const folders = localFolders(workspace);
  if (folders.length > 1) return window.showWorkspaceFolderPick({ placeHolder: "Folder to show in the picker" });
  if (folders.length === 0)
    await window.showErrorMessage("Open a folder first: Pressmark serves the folders of the workspace.");
  return folders[0];
}
