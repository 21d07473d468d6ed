/** How each host is told of a token without being told the token: by reference, as it spells one. */
import type { HostName } from "./hosts.ts";

/** What VS Code asks a person for, once, and keeps among its secrets. It resolves no variables of the environment in headers. */
export const askedInput = {
  type: "promptString",
  id: "pressmark-token",
  description: "Pressmark's token",
  password: true,
} as const;

/** The keys of an entry, beside how the server is reached. */
type Said = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

const references: Readonly<Partial<Record<HostName, (variable: string) => Said>>> = {
  "claude-code": (variable) => bearer(`\${${variable}}`),
  vscode: () => bearer(`\${input:${askedInput.id}}`),
  codex: (variable) => ({ bearer_token_env_var: variable }),
  cursor: (variable) => bearer(`\${env:${variable}}`),
};

/** Undefined for a host that knows no references. */
export function tokenReference(host: HostName, variable: string): Said | undefined {
  return references[host]?.(variable);
}

export function bearer(token: string): { readonly headers: Readonly<Record<string, string>> } {
  return { headers: { Authorization: `Bearer ${token}` } };
}

/** Of no use where the host starts the server itself, and not understood there by all. */
export const tokenKeys: readonly string[] = ["headers", "bearer_token_env_var"];
