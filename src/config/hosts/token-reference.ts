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
type Said = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

const references: Readonly<Partial<Record<HostName, (variable: string) => Said>>> = {
  "claude-code": (variable) => bearer(`\${${variable}}`),
  vscode: () => bearer(`\${input:${askedInput.id}}`),
  codex: (variable) => ({ bearer_token_env_var: variable }),
  cursor: (variable) => bearer(`\${env:${variable}}`),
};

/** Undefined for a host without references. */
export function tokenReference(host: HostName, variable: string): Said | undefined {
  return references[host]?.(variable);
}

export function bearer(token: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { Authorization: `Bearer ${token}` } };
}

/** Useless if the host starts the server itself, and some hosts reject them there. */
export const tokenKeys: readonly string[] = ["headers", "bearer_token_env_var"];
