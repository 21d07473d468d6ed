/** The part of VS Code's API that the extension uses. Passed in, so that tests can pass a small one. */
import type * as vscode from "vscode";

export interface EditorApi {
  readonly commands: Pick<typeof vscode.commands, "registerCommand" | "executeCommand">;
  readonly env: Pick<typeof vscode.env, "clipboard" | "language">;
  readonly lm: Pick<typeof vscode.lm, "registerMcpServerDefinitionProvider">;
  readonly window: Pick<
    typeof vscode.window,
    | "createOutputChannel"
    | "createWebviewPanel"
    | "showErrorMessage"
    | "showInformationMessage"
    | "showWorkspaceFolderPick"
  >;
  readonly workspace: Pick<
    typeof vscode.workspace,
    "getConfiguration" | "onDidChangeConfiguration" | "onDidChangeWorkspaceFolders" | "workspaceFolders"
  >;
  readonly EventEmitter: typeof vscode.EventEmitter;
  readonly McpStdioServerDefinition: typeof vscode.McpStdioServerDefinition;
  readonly Uri: Pick<typeof vscode.Uri, "joinPath">;
}
