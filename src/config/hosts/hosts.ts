/** The supported hosts: where each stores its settings, and the format of a server entry. */
import { isAbsolute, join } from "node:path";

export const hostNames = ["claude-code", "vscode", "codex", "cursor", "zed"] as const;
export type HostName = (typeof hostNames)[number];

export const scopes = ["project", "user"] as const;
export type HostScope = (typeof scopes)[number];

/** How a host reaches Pressmark. */
export type HostConnection =
  | {
      readonly kind: "http";
      readonly url: string;
      /** Environment variable with the token, if callers must send one. */
      readonly tokenVariable?: string;
    }
  | { readonly kind: "stdio"; readonly command: string; readonly args: readonly string[] };

/** A settings file of a host that lists its servers. */
export interface HostFile {
  readonly host: HostName;
  readonly title: string;
  readonly scope: HostScope;
  readonly file: string;
  readonly format: "json" | "toml";
  /** Path of the servers in the file. */
  readonly path: readonly string[];
  /** Exists if the host is installed, or used in this project. */
  readonly sign: string;
  /** The settings' placeholder for the project folder, if there is one; other hosts start servers in that folder. */
  readonly projectFolder?: string;
  render(connection: HostConnection): Readonly<Record<string, string | readonly string[]>>;
}

/** Keys that define the connection; all others of an entry belong to the user. */
export const connectionKeys: readonly string[] = ["type", "url", "command", "args", "transport", "serverUrl"];

interface HostPaths {
  readonly project: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

export function hostFiles({ project, home, env, platform }: HostPaths): readonly HostFile[] {
  const claude = folderFrom(env["CLAUDE_CONFIG_DIR"], home);
  const codex = folderFrom(env["CODEX_HOME"], join(home, ".codex"));
  const settings = folderFrom(env["XDG_CONFIG_HOME"], join(home, ".config"));
  const roaming = folderFrom(env["APPDATA"], join(home, "AppData", "Roaming"));
  const code =
    platform === "darwin"
      ? join(home, "Library", "Application Support", "Code", "User")
      : join(platform === "win32" ? roaming : settings, "Code", "User");
  const zed =
    platform === "win32"
      ? join(roaming, "Zed")
      : platform === "darwin"
        ? join(home, ".config", "zed")
        : join(settings, "zed");

  const json = (host: HostName, title: string, path: string, render: HostFile["render"]) =>
    ({ host, title, format: "json", path: [path], render }) as const;
  const claudeCode = json("claude-code", "Claude Code", "mcpServers", withType);
  const vscode = json("vscode", "VS Code", "servers", withType);
  const cursor = json("cursor", "Cursor", "mcpServers", plain);
  const zedEditor = json("zed", "Zed", "context_servers", plain);
  const codexTool = { host: "codex", title: "Codex", format: "toml", path: ["mcp_servers"], render: plain } as const;
  return [
    { ...claudeCode, scope: "project", file: join(project, ".mcp.json"), sign: join(project, ".mcp.json") },
    { ...claudeCode, scope: "user", file: join(claude, ".claude.json"), sign: join(claude, ".claude.json") },
    // The default of `claude mcp add`: for one project, in the settings of the user.
    {
      ...claudeCode,
      scope: "user",
      file: join(claude, ".claude.json"),
      sign: join(claude, ".claude.json"),
      path: ["projects", project, "mcpServers"],
    },
    {
      ...vscode,
      scope: "project",
      file: join(project, ".vscode", "mcp.json"),
      sign: join(project, ".vscode"),
      projectFolder: "${workspaceFolder}",
    },
    { ...vscode, scope: "user", file: join(code, "mcp.json"), sign: code },
    { ...codexTool, scope: "project", file: join(project, ".codex", "config.toml"), sign: join(project, ".codex") },
    { ...codexTool, scope: "user", file: join(codex, "config.toml"), sign: codex },
    {
      ...cursor,
      scope: "project",
      file: join(project, ".cursor", "mcp.json"),
      sign: join(project, ".cursor"),
      projectFolder: "${workspaceFolder}",
    },
    { ...cursor, scope: "user", file: join(home, ".cursor", "mcp.json"), sign: join(home, ".cursor") },
    { ...zedEditor, scope: "project", file: join(project, ".zed", "settings.json"), sign: join(project, ".zed") },
    { ...zedEditor, scope: "user", file: join(zed, "settings.json"), sign: zed },
  ];
}

function withType(connection: HostConnection): ReturnType<HostFile["render"]> {
  return { type: connection.kind, ...plain(connection) };
}

function plain(connection: HostConnection): ReturnType<HostFile["render"]> {
  if (connection.kind === "http") return { url: connection.url };
  return { command: connection.command, args: connection.args };
}

function folderFrom(configured: string | undefined, otherwise: string): string {
  return configured && isAbsolute(configured) ? configured : otherwise;
}
