/** The entry point, which VS Code loads. */
import * as vscode from "vscode";
import { registerPressmark } from "./register-pressmark.ts";

export function activate(context: vscode.ExtensionContext): void {
  registerPressmark(vscode, context);
}
