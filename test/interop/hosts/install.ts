/** Real hosts from npm, each in a folder of its own, installed once. */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

export function programOf(name: HostProgram): string {
  const version = packages[name].slice(packages[name].lastIndexOf("@") + 1);
  return join(tmpdir(), "pressmark-hosts", `${name}-${version}`, "node_modules", ".bin", name);
}

/** Undefined if the host is there; otherwise why not. In CI it must be there. */
export function installHost(name: HostProgram): string | undefined {
  if (existsSync(programOf(name))) return undefined;
  const folder = join(programOf(name), "..", "..", "..");
  const { status, stderr } = spawnSync(
    "npm",
    ["install", "--prefix", folder, "--no-audit", "--no-fund", packages[name]],
    {
      stdio: ["ignore", "ignore", "pipe"],
      timeout: 300_000,
    },
  );
  if (status === 0 && existsSync(programOf(name))) return undefined;
  const reason = `npm cannot install ${packages[name]}`;
  if (process.env["CI"]) throw new Error(`${reason}: ${stderr.toString().slice(-1000)}`);
  return reason;
}
