/** Real hosts from npm, each in a folder of its own, installed once. */
import { join } from "node:path";
import { installPeers, modulesOf, type Peers } from "../install-peers.ts";

/** Versions that were tried: a new one may print other words. */
const packages = {
  claude: "@anthropic-ai/claude-code@2.1.325",
  codex: "@openai/codex@0.166.0",
  gemini: "@google/gemini-cli@0.61.0",
  qwen: "@qwen-code/qwen-code@0.24.4",
  opencode: "opencode-ai@1.18.33",
  copilot: "@github/copilot@1.0.102",
  amp: "@sourcegraph/amp@0.0.1790142911-g7618fb",
  cline: "cline@3.0.65",
  cn: "@continuedev/cli@1.5.47",
} as const;

export type HostProgram = keyof typeof packages;

function peersOf(name: HostProgram): Peers {
  return { folder: `host-${name}`, packages: [packages[name]] };
}

export function programOf(name: HostProgram): string {
  return join(modulesOf(peersOf(name)), ".bin", name);
}

/** Undefined if the host is there; otherwise why not. In CI it must be there. */
export const installHost = (name: HostProgram) => installPeers(peersOf(name));

/** In CI those that `npm run test:live` installs anyway: the others take minutes. */
const chosen = (process.env["PRESSMARK_HOSTS"] ?? (process.env["CI"] ? "claude,codex" : undefined))?.split(",");

export function isToRun(name: HostProgram): boolean {
  return chosen?.includes(name) ?? true;
}
