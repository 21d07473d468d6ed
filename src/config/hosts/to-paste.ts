/** Settings to paste into hosts; the token is a reference wherever the host supports one. */
import { askedInput, bearer, tokenReference } from "./token-reference.ts";

export interface Paste {
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

export function settingsToPaste({ url, tokenVariable: variable }: PasteOptions): readonly Paste[] {
  if (variable === undefined)
    return [
      { host: "Claude Code", kind: "command", text: `claude mcp add --transport http pressmark ${url}` },
      { host: "Codex", kind: "command", text: `codex mcp add pressmark --url ${url}` },
      {
        host: "VS Code",
        kind: "settings",
        file: ".vscode/mcp.json",
        text: JSON.stringify({ servers: { pressmark: { type: "http", url } } }),
      },
      { host: "Cursor", kind: "settings", file: ".cursor/mcp.json", text: servers({ url }) },
      { host: "others", kind: "settings", text: servers({ type: "http", url }) },
      {
        host: "Inspector",
        kind: "command",
        text: `npx @modelcontextprotocol/inspector --transport http --server-url ${url}`,
      },
    ];
  return [
    {
      host: "Claude Code",
      kind: "settings",
      file: ".mcp.json",
      text: servers({ type: "http", url, ...tokenReference("claude-code", variable) }),
    },
    { host: "Codex", kind: "command", text: `codex mcp add pressmark --url ${url} --bearer-token-env-var ${variable}` },
    {
      host: "VS Code",
      kind: "settings",
      file: ".vscode/mcp.json",
      text: JSON.stringify({
        inputs: [askedInput],
        servers: { pressmark: { type: "http", url, ...tokenReference("vscode", variable) } },
      }),
    },
    {
      host: "Cursor",
      kind: "settings",
      file: ".cursor/mcp.json",
      text: servers({ url, ...tokenReference("cursor", variable) }),
    },
    { host: "others", kind: "settings", text: servers({ type: "http", url, ...bearer("<token>") }) },
    {
      host: "Inspector",
      kind: "command",
      text: `npx @modelcontextprotocol/inspector --transport http --server-url ${url} --header "Authorization: Bearer $${variable}"`,
    },
  ];
}

function servers(entry: object): string {
  return JSON.stringify({ mcpServers: { pressmark: entry } });
}
