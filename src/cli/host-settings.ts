/** What to paste where, so that a host finds the endpoint. */

export function hostSettings(url: string): string {
  const rows = [
    ["Claude Code", `claude mcp add --transport http pressmark ${url}`],
    ["Codex", `codex mcp add pressmark --url ${url}`],
    ["VS Code", `.vscode/mcp.json    ${JSON.stringify({ servers: { pressmark: { type: "http", url } } })}`],
    ["Cursor", `.cursor/mcp.json    ${JSON.stringify({ mcpServers: { pressmark: { url } } })}`],
    ["others", JSON.stringify({ mcpServers: { pressmark: { type: "http", url } } })],
    ["Inspector", `npx @modelcontextprotocol/inspector --transport http --server-url ${url}`],
  ] as const;
  return `Tell your host:\n${rows.map(([host, setting]) => `  ${host.padEnd(11)}  ${setting}\n`).join("")}`;
}
