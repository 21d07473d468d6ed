/** Token references in the format of each host, so that settings do not contain the token. */
import type { HostName } from "./hosts.ts";

/** VS Code prompts for this once and stores it as a secret. It does not resolve environment variables in headers. */
export const askedInput = {
  type: "promptString",
  id: "pressmark-token",
  description: "Pressmark's token",
  password: true,
} as const;

/** Keys of an entry besides its connection. */
type TokenKeys = Readonly<Record<string, string | object>>;

const references: Readonly<Partial<Record<HostName, (variable: string) => TokenKeys>>> = {
  "claude-code": (variable) => bearer(`\${${variable}}`),
  vscode: () => bearer(`\${input:${askedInput.id}}`),
  codex: (variable) => ({ bearer_token_env_var: variable }),
  cursor: (variable) => bearer(`\${env:${variable}}`),
  gemini: (variable) => bearer(`\${${variable}}`),
  qwen: (variable) => bearer(`\${${variable}}`),
  opencode: (variable) => bearer(`{env:${variable}}`),
  copilot: (variable) => bearer(`\${${variable}}`),
  amp: (variable) => bearer(`\${${variable}}`),
  continue: (variable) => ({ requestOptions: bearer(`\${{ secrets.${variable} }}`) }),
};

/** Undefined for a host without references. */
export function tokenReference(host: HostName, variable: string): TokenKeys | undefined {
  return references[host]?.(variable);
}

export function bearer(token: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { Authorization: `Bearer ${token}` } };
}

/** Useless if the host starts the server itself, and some hosts reject them there. */
export const tokenKeys: readonly string[] = ["headers", "requestOptions", "bearer_token_env_var"];
