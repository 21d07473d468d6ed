/** Settings to paste into hosts; the token is a reference wherever the host supports one. */
import type { HostName } from "./hosts.ts";
import { askedInput, tokenReference } from "./token-reference.ts";

export interface HostPaste {
  /** Name of the host for people. */
  readonly host: string;
  /** A command to run, or a text for the host's settings. */
  readonly kind: "command" | "settings";
  /** The settings file, if known. */
  readonly file?: string;
  readonly text: string;
}

export interface PasteOptions {
  readonly url: string;
  /** Environment variable with the token, if callers must send one. Its value is never shown. */
  readonly tokenVariable?: string;
}

export function settingsToPaste({ url, tokenVariable: variable }: PasteOptions): readonly HostPaste[] {
  const http = { type: "http", url };
  const tokenFor = (host: HostName) => variable !== undefined && tokenReference(host, variable);
  const withToken = (text: string) => (variable === undefined ? "" : text);
  return [
    variable === undefined
      ? { host: "Claude Code", kind: "command", text: `claude mcp add --transport http pressmark ${url}` }
      : {
          host: "Claude Code",
          kind: "settings",
          file: ".mcp.json",
          text: servers({ ...http, ...tokenFor("claude-code") }),
        },
    {
      host: "Codex",
      kind: "command",
      text: `codex mcp add pressmark --url ${url}${withToken(` --bearer-token-env-var ${variable}`)}`,
    },
    {
      host: "VS Code",
      kind: "settings",
      file: ".vscode/mcp.json",
      text: JSON.stringify({
        inputs: variable === undefined ? undefined : [askedInput],
        servers: { pressmark: { ...http, ...tokenFor("vscode") } },
      }),
    },
    { host: "Cursor", kind: "settings", file: ".cursor/mcp.json", text: servers({ url, ...tokenFor("cursor") }) },
    {
      host: "Gemini CLI",
      kind: "settings",
      file: ".gemini/settings.json",
      text: servers({ httpUrl: url, ...tokenFor("gemini") }),
    },
    {
      host: "Qwen Code",
      kind: "settings",
      file: ".qwen/settings.json",
      text: servers({ httpUrl: url, ...tokenFor("qwen") }),
    },
    { host: "Copilot CLI", kind: "settings", file: ".mcp.json", text: servers({ ...http, ...tokenFor("copilot") }) },
    {
      host: "opencode",
      kind: "settings",
      file: "opencode.json",
      text: JSON.stringify({ mcp: { pressmark: { type: "remote", url, ...tokenFor("opencode") } } }),
    },
    {
      host: "Inspector",
      kind: "command",
      text: `npx @modelcontextprotocol/inspector --transport http --server-url ${url}${withToken(` --header "Authorization: Bearer $${variable}"`)}`,
    },
  ];
}

function servers(entry: object): string {
  return JSON.stringify({ mcpServers: { pressmark: entry } });
}
