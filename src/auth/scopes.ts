/** Which scopes an operation needs, and whether a token has them. */
import type { ScopeSettings } from "../config/auth.ts";

export interface Scopes {
  readonly read: readonly string[];
  /** All scopes of an operation that changes something. */
  readonly write: readonly string[];
  /** The scopes of a token with those that they include. */
  expand(scopes: readonly string[]): readonly string[];
}

export function createScopes({ read = [], write = [], includes = {} }: ScopeSettings = {}): Scopes {
  return {
    read,
    write: [...new Set([...read, ...write])],
    expand(scopes) {
      const all = new Set(scopes);
      // A set also yields what is added while it is iterated.
      for (const scope of all)
        for (const included of Object.hasOwn(includes, scope) ? includes[scope]! : []) all.add(included);
      return [...all].sort();
    },
  };
}
