/** Tells VS Code's chat how to start a server for each folder of the workspace. */
import type * as vscode from "vscode";
import type { EditorApi } from "./editor-api.ts";
import { localFolders, serverCommand, serverName } from "./server-command.ts";

interface ServerDefinitions extends vscode.Disposable {
  readonly provider: vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition>;
}

export function createServerDefinitions(editor: EditorApi, version: string): ServerDefinitions {
  const { workspace, EventEmitter, McpStdioServerDefinition } = editor;
  const changed = new EventEmitter<void>();
  const listening = [
    changed,
    workspace.onDidChangeWorkspaceFolders(() => changed.fire()),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("pressmark.program")) changed.fire();
    }),
  ];
  return {
    provider: {
      onDidChangeMcpServerDefinitions: changed.event,
      provideMcpServerDefinitions() {
        const { command, args } = serverCommand(editor);
        return localFolders(workspace).map((folder) => {
          const definition = new McpStdioServerDefinition(serverName(editor, folder), command, args, {}, version);
          definition.cwd = folder.uri;
          return definition;
        });
      },
    },
    dispose: () => listening.forEach((each) => each.dispose()),
  };
}
