/** The names by which hosts introduce themselves to a server. */

const names: Readonly<Record<string, RegExp>> = {
  "Claude Code": /^claude-code/i,
  Codex: /^codex/i,
  "VS Code": /^visual studio code/i,
  Cursor: /^cursor/i,
  "Gemini CLI": /^gemini-cli/i,
  "Qwen Code": /^qwen/i,
  "Copilot CLI": /copilot/i,
  opencode: /^opencode/i,
  "Claude Desktop": /^claude-(?:ai|desktop)/i,
  Inspector: /inspector/i,
};

/** Whether a client with this name is the host. Anyone may use any name. */
export function isClientOf(host: string, client: string): boolean {
  return names[host]?.test(client) ?? false;
}
