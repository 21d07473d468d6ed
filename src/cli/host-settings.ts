/** What to paste where, so that a host finds the endpoint. */

export function hostSettings(url: string): string {
  const json = (value: unknown): string => JSON.stringify(value);
  const rows = [
    ["Claude Code", `claude mcp add --transport http pressmark ${url}`],
    ["Codex", `codex mcp add pressmark --url ${url}`],
    ["VS Code", `.vscode/mcp.json    ${json({ servers: { pressmark: { type: "http", url } } })}`],
    ["Cursor", `.cursor/mcp.json    ${json({ mcpServers: { pressmark: { url } } })}`],
    ["others", json({ mcpServers: { pressmark: { type: "http", url } } })],
    ["Inspector", `npx @modelcontextprotocol/inspector ${url}`],
  ] as const;
  return `Tell your host:\n${rows.map(([host, setting]) => `  ${host.padEnd(11)}  ${setting}\n`).join("")}`;
}
