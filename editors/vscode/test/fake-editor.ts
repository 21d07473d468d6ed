/** The part of VS Code's API that the extension uses, in memory; checked against VS Code's types. What the extension does is recorded. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as vscode from "vscode";
import type { EditorApi } from "../src/editor-api.ts";

interface FakePanel {
  readonly title: string;
  readonly options: vscode.WebviewPanelOptions & vscode.WebviewOptions;
  readonly webview: { html: string };
  /** What the extension has sent to the page. */
  readonly sent: unknown[];
  /** Called with each message to the page. */
  heard: (message: unknown) => void;
  revealed: number;
  /** As the page does. */
  post(message: unknown): unknown;
  /** As a person who closes the tab. */
  close(): void;
}

export interface FakeEditor {
  readonly api: EditorApi;
  readonly context: Pick<vscode.ExtensionContext, "extensionUri" | "subscriptions"> & {
    readonly extension: { readonly packageJSON: { readonly version: string } };
  };
  readonly panels: FakePanel[];
  /** Commands of the editor that were executed. */
  readonly executed: unknown[][];
  readonly errors: string[];
  copied: string;
  /** The button that a person presses below an error. */
  answer: string | undefined;
  provider: vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition> | undefined;
  setProgram(program: string): void;
  setFolders(...paths: readonly string[]): void;
  run(command: string): unknown;
}

export function createFakeEditor({ hasChat = true } = {}): FakeEditor {
  const commands = new Map<string, () => unknown>();
  let program: string | undefined;
  let folders: readonly vscode.WorkspaceFolder[] = [];

  class FakeEmitter<T> implements vscode.EventEmitter<T> {
    readonly #listeners = new Set<(event: T) => unknown>();
    readonly event: vscode.Event<T> = (listener) => {
      this.#listeners.add(listener);
      return { dispose: () => this.#listeners.delete(listener) };
    };
    fire(event: T): void {
      for (const listener of this.#listeners) listener(event);
    }
    dispose(): void {
      this.#listeners.clear();
    }
  }
  const settingsChanged = new FakeEmitter<vscode.ConfigurationChangeEvent>();
  const foldersChanged = new FakeEmitter<vscode.WorkspaceFoldersChangeEvent>();

  function createPanel(title: string, options: FakePanel["options"]): vscode.WebviewPanel {
    const received = new FakeEmitter<unknown>();
    const disposed = new FakeEmitter<void>();
    const webview = {
      html: "",
      cspSource: "https://files.example",
      options,
      onDidReceiveMessage: received.event,
      async postMessage(message: unknown) {
        panel.sent.push(message);
        panel.heard(message);
        return true;
      },
      asWebviewUri: (uri: vscode.Uri) => fakeUri(`https://files.example${uri.fsPath}`, uri.fsPath),
    };
    const panel: FakePanel = {
      title,
      options,
      webview,
      sent: [],
      heard: () => {},
      revealed: 0,
      post: (message) => received.fire(message),
      close: () => disposed.fire(),
    };
    editor.panels.push(panel);
    return {
      viewType: "pressmark.picker",
      title,
      webview,
      options,
      viewColumn: undefined,
      active: true,
      visible: true,
      onDidDispose: disposed.event,
      onDidChangeViewState: new FakeEmitter<vscode.WebviewPanelOnDidChangeViewStateEvent>().event,
      reveal: () => void (panel.revealed += 1),
      dispose: () => panel.close(),
    };
  }

  const api = {
    commands: {
      registerCommand(name: string, run: () => unknown) {
        commands.set(name, run);
        return { dispose: () => commands.delete(name) };
      },
      async executeCommand<T>(name: string, ...args: unknown[]): Promise<T> {
        if (!hasChat && name.includes("chat")) throw new Error(`command '${name}' not found`);
        editor.executed.push([name, ...args]);
        return undefined as T;
      },
    },
    env: {
      language: "en",
      clipboard: {
        readText: async () => editor.copied,
        writeText: async (text: string) => void (editor.copied = text),
      },
    },
    lm: {
      registerMcpServerDefinitionProvider(_id: string, provider: vscode.McpServerDefinitionProvider) {
        editor.provider = provider as FakeEditor["provider"];
        return { dispose: () => (editor.provider = undefined) };
      },
    },
    window: {
      createOutputChannel: (() => ({
        append() {},
        dispose() {},
      })) as unknown as EditorApi["window"]["createOutputChannel"],
      createWebviewPanel: (_type: string, title: string, _place: unknown, options: FakePanel["options"] = {}) =>
        createPanel(title, options),
      showErrorMessage: (async (text: string) => {
        editor.errors.push(text);
        return editor.answer;
      }) as EditorApi["window"]["showErrorMessage"],
      showInformationMessage: (async () => undefined) as EditorApi["window"]["showInformationMessage"],
      showWorkspaceFolderPick: async () => folders[1],
    },
    workspace: {
      get workspaceFolders() {
        return folders;
      },
      getConfiguration: (() => ({ get: () => program })) as unknown as EditorApi["workspace"]["getConfiguration"],
      onDidChangeConfiguration: settingsChanged.event,
      onDidChangeWorkspaceFolders: foldersChanged.event,
    },
    EventEmitter: FakeEmitter,
    McpStdioServerDefinition: class implements vscode.McpStdioServerDefinition {
      readonly label: string;
      cwd?: vscode.Uri;
      command: string;
      args: string[];
      env: Record<string, string | number | null>;
      version?: string;
      constructor(label: string, command: string, args: string[] = [], env: typeof this.env = {}, version?: string) {
        this.label = label;
        this.command = command;
        this.args = args;
        this.env = env;
        if (version !== undefined) this.version = version;
      }
    },
    Uri: { joinPath: (base: vscode.Uri, ...parts: string[]) => fileUri(join(base.fsPath, ...parts)) },
  } satisfies EditorApi;

  const editor: FakeEditor = {
    api,
    context: {
      extensionUri: fileUri("/extension"),
      subscriptions: [],
      extension: { packageJSON: { version: "1.2.3" } },
    },
    panels: [],
    executed: [],
    errors: [],
    copied: "",
    answer: undefined,
    provider: undefined,
    setProgram(next) {
      program = next;
      settingsChanged.fire({ affectsConfiguration: (section) => "pressmark.program".startsWith(section) });
    },
    setFolders(...paths) {
      folders = paths.map((path, index) => ({ uri: fileUri(path), name: path.split("/").at(-1)!, index }));
      foldersChanged.fire({ added: [], removed: [] });
    },
    run: (command) => commands.get(command)?.(),
  };
  return editor;
}

function fileUri(path: string): vscode.Uri {
  return fakeUri(pathToFileURL(path).href, path);
}

function fakeUri(text: string, fsPath: string): vscode.Uri {
  const { protocol, host, pathname } = new URL(text);
  return {
    scheme: protocol.slice(0, -1),
    authority: host,
    path: pathname,
    query: "",
    fragment: "",
    fsPath,
    with: () => fakeUri(text, fsPath),
    toString: () => text,
    toJSON: () => text,
  } as vscode.Uri;
}
