/** The server of one folder: its name, and the command that starts it. */
import type * as vscode from "vscode";
import type { EditorApi } from "./editor-api.ts";

interface ServerCommand {
  readonly command: string;
  readonly args: string[];
}

/** `--project` finds a config above the folder, as hosts do that are started below it. */
export function serverCommand({ workspace }: EditorApi): ServerCommand {
  const program = workspace.getConfiguration("pressmark").get<string>("program")?.trim();
  return { command: program || "pressmark", args: ["stdio", "--project"] };
}

/** As the chat knows it. */
export function serverName({ workspace }: EditorApi, { name }: vscode.WorkspaceFolder): string {
  return localFolders(workspace).length === 1 ? "pressmark" : `pressmark (${name})`;
}

/** The folders of the workspace that are on disk. */
export function localFolders({ workspaceFolders = [] }: EditorApi["workspace"]): readonly vscode.WorkspaceFolder[] {
  return workspaceFolders.filter(({ uri }) => uri.scheme === "file");
}
