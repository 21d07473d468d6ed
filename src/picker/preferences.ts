/** Choices of the person that this browser remembers, if it lets the page store anything. */
import { defaultServerName } from "../lib/host-uses.ts";

type Preference = "lastUse" | "serverName";

export function preference(name: Preference): string | undefined {
  try {
    return localStorage.getItem(`pressmark.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function remember(name: Preference, value: string): void {
  try {
    localStorage.setItem(`pressmark.${name}`, value);
  } catch {
    // Not remembered.
  }
}

/** As hosts call this server in their settings. */
export function serverName(): string {
  return preference("serverName") ?? defaultServerName;
}
