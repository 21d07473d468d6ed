/** The supported hosts: where each stores its settings, the format of a server entry, and how to ask it about its servers. */
import { existsSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import {
  type EntryValues,
  type HostConnection,
  asOpencode,
  asPlain,
  asTyped,
  withHttpType,
  withHttpUrl,
} from "./entry-formats.ts";

export const hostNames = [
  "claude-code",
  "vscode",
  "codex",
  "cursor",
  "zed",
  "gemini",
  "qwen",
  "opencode",
  "copilot",
  "amp",
  "cline",
  "continue",
  "claude-desktop",
] as const;
export type HostName = (typeof hostNames)[number];

export const scopes = ["project", "user"] as const;
export type HostScope = (typeof scopes)[number];

/** The placeholder of VS Code and Cursor for the project folder. */
export const workspaceFolder = "${workspaceFolder}";

/** The host's command that lists its servers. */
export interface HostQuery {
  readonly program: string;
  readonly words: readonly string[];
  /** The first version known to start no server that the user has not approved. Older ones may start those of any project. */
  readonly since: string;
}

interface HostDeclaration {
  readonly host: HostName;
  readonly title: string;
  readonly format: "json" | "toml" | "yaml";
  /** Path of the servers in the file. In YAML they are a list of maps with a `name`. */
  readonly path: readonly string[];
  /** Whether it can only start servers, not connect to them over HTTP. */
  readonly stdioOnly?: boolean;
  /** Whether it runs without the PATH of the user's shell. */
  readonly ownPath?: boolean;
  readonly query?: HostQuery;
  render(connection: HostConnection): EntryValues;
}

/** A settings file of a host that lists its servers. */
export interface HostFile extends HostDeclaration {
  readonly scope: HostScope;
  readonly file: string;
  /** Exists if the host is installed, or used in this project. */
  readonly sign: string;
  /** The settings' placeholder for the project folder, if there is one. Other hosts start servers in the folder where they were started. */
  readonly projectFolder?: string;
  /** The step that the user must take before the host uses an entry of this file. */
  readonly remains?: string;
  /** The host's command that removes the entry, if `add` does not write to this place. */
  readonly removal?: string;
}

interface HostPaths {
  readonly project: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
}

export function hostFiles({ project, home, env, platform }: HostPaths): readonly HostFile[] {
  const claude = join(folderFrom(env["CLAUDE_CONFIG_DIR"], home), ".claude.json");
  const settings = folderFrom(env["XDG_CONFIG_HOME"], join(home, ".config"));
  const roaming = folderFrom(env["APPDATA"], join(home, "AppData", "Roaming"));
  const application =
    platform === "darwin" ? join(home, "Library", "Application Support") : platform === "win32" ? roaming : settings;
  const code = join(application, "Code", "User");
  const zed = join(platform === "darwin" ? join(home, ".config") : application, platform === "win32" ? "Zed" : "zed");
  const copilot = folderFrom(env["COPILOT_HOME"], join(home, ".copilot"));

  /** A file in a folder of the host. */
  const inProject = (path: string, more: Partial<HostFile> = {}) =>
    ({ scope: "project", file: join(project, path), sign: join(project, dirname(path)), ...more }) as const;
  const forUser = (file: string, more: Partial<HostFile> = {}) =>
    ({ scope: "user", file, sign: dirname(file), ...more }) as const;

  return [
    {
      ...claudeCode,
      ...inProject(".mcp.json", { sign: join(project, ".mcp.json") }),
      remains: 'run "claude" in the project and approve the server pressmark; until then it is pending',
    },
    { ...claudeCode, ...forUser(claude, { sign: claude }) },
    // The default of `claude mcp add`: for one project, in the settings of the user.
    {
      ...claudeCode,
      ...forUser(claude, { sign: claude }),
      path: ["projects", project, "mcpServers"],
      removal: "claude mcp remove pressmark --scope local",
    },
    { ...vscode, ...inProject(".vscode/mcp.json", { projectFolder: workspaceFolder }) },
    { ...vscode, ...forUser(join(code, "mcp.json")) },
    {
      ...codex,
      ...inProject(".codex/config.toml"),
      remains: `${trust("codex")}; until then Codex ignores its settings`,
    },
    { ...codex, ...forUser(join(folderFrom(env["CODEX_HOME"], join(home, ".codex")), "config.toml")) },
    { ...cursor, ...inProject(".cursor/mcp.json", { projectFolder: workspaceFolder }) },
    { ...cursor, ...forUser(join(home, ".cursor", "mcp.json")) },
    { ...zedEditor, ...inProject(".zed/settings.json") },
    { ...zedEditor, ...forUser(join(zed, "settings.json")) },
    { ...gemini, ...inProject(".gemini/settings.json"), remains: trust("gemini") },
    { ...gemini, ...forUser(join(home, ".gemini", "settings.json")), remains: trust("gemini") },
    { ...qwen, ...inProject(".qwen/settings.json"), remains: 'run "qwen mcp approve pressmark" in the project' },
    { ...qwen, ...forUser(join(home, ".qwen", "settings.json")) },
    { ...opencode, ...inProject(jsonOrJsonc(project), { sign: join(project, jsonOrJsonc(project)) }) },
    { ...opencode, ...forUser(join(settings, "opencode", jsonOrJsonc(join(settings, "opencode")))) },
    // The same file as Claude Code's, so the project alone does not tell that Copilot is installed.
    { ...copilotCli, ...inProject(".mcp.json", { sign: copilot }), remains: trust("copilot") },
    { ...copilotCli, ...forUser(join(copilot, "mcp-config.json")) },
    { ...amp, ...inProject(".amp/settings.json"), remains: 'run "amp mcp approve pressmark" in the project' },
    { ...amp, ...forUser(join(settings, "amp", "settings.json")) },
    {
      ...cline,
      ...forUser(
        folderFrom(env["CLINE_MCP_SETTINGS_PATH"], join(home, ".cline", "data", "settings", "cline_mcp_settings.json")),
      ),
      sign: join(home, ".cline"),
    },
    { ...continueCli, ...forUser(join(home, ".continue", "config.yaml")) },
    { ...claudeDesktop, ...forUser(join(application, "Claude", "claude_desktop_config.json")) },
  ];
}

const json = { format: "json", path: ["mcpServers"] } as const;

const claudeCode: HostDeclaration = {
  ...json,
  host: "claude-code",
  title: "Claude Code",
  render: asTyped,
  query: { program: "claude", words: ["mcp", "list"], since: "2.1.325" },
};
const vscode: HostDeclaration = { ...json, host: "vscode", title: "VS Code", path: ["servers"], render: asTyped };
const codex: HostDeclaration = {
  host: "codex",
  title: "Codex",
  format: "toml",
  path: ["mcp_servers"],
  render: asPlain,
  query: { program: "codex", words: ["mcp", "list", "--json"], since: "0.166.0" },
};
const cursor: HostDeclaration = { ...json, host: "cursor", title: "Cursor", render: asPlain };
const zedEditor: HostDeclaration = { ...json, host: "zed", title: "Zed", path: ["context_servers"], render: asPlain };
const gemini: HostDeclaration = {
  ...json,
  host: "gemini",
  title: "Gemini CLI",
  render: withHttpUrl,
  query: { program: "gemini", words: ["mcp", "list"], since: "0.61.0" },
};
const qwen: HostDeclaration = {
  ...json,
  host: "qwen",
  title: "Qwen Code",
  render: withHttpUrl,
  query: { program: "qwen", words: ["mcp", "list"], since: "0.24.4" },
};
// Not asked: `opencode mcp list` starts every server of a project, and no one approves them.
const opencode: HostDeclaration = { ...json, host: "opencode", title: "opencode", path: ["mcp"], render: asOpencode };
const copilotCli: HostDeclaration = {
  ...json,
  host: "copilot",
  title: "Copilot CLI",
  render: asTyped,
  query: { program: "copilot", words: ["mcp", "list", "--json"], since: "1.0.102" },
};
// Not asked: without an account `amp` starts a login.
const amp: HostDeclaration = { ...json, host: "amp", title: "Amp", path: ["amp.mcpServers"], render: asPlain };
const cline: HostDeclaration = {
  ...json,
  host: "cline",
  title: "Cline",
  render: withHttpType("streamableHttp"),
  query: { program: "cline", words: ["config", "mcp", "--json"], since: "3.0.65" },
};
const continueCli: HostDeclaration = {
  host: "continue",
  title: "Continue",
  format: "yaml",
  path: ["mcpServers"],
  render: withHttpType("streamable-http"),
};
const claudeDesktop: HostDeclaration = {
  ...json,
  host: "claude-desktop",
  title: "Claude Desktop",
  render: asPlain,
  stdioOnly: true,
  ownPath: true,
};

function trust(program: string): string {
  return `run "${program}" in the project and answer that you trust the folder`;
}

/** opencode reads both; it writes the second itself. */
function jsonOrJsonc(folder: string): string {
  return existsSync(join(folder, "opencode.jsonc")) ? "opencode.jsonc" : "opencode.json";
}

function folderFrom(configured: string | undefined, otherwise: string): string {
  return configured && isAbsolute(configured) ? configured : otherwise;
}
