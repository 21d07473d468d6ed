/** Where Pressmark keeps what must outlive it, and what can be made again, by the custom of each system. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

export interface SystemPaths {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function stateFolder({ platform, home, env }: SystemPaths): string {
  if (platform === "darwin") return join(home, "Library", "Application Support", "pressmark");
  if (platform === "win32") return join(env["LOCALAPPDATA"] || join(home, "AppData", "Local"), "pressmark");
  const configured = env["XDG_STATE_HOME"];
  // A relative path there is to be ignored, says the XDG base directory specification.
  const base = configured && isAbsolute(configured) ? configured : join(home, ".local", "state");
  return join(base, "pressmark");
}

/** Where what can be made again is kept. */
export function cacheFolder({ platform, home, env }: SystemPaths): string {
  if (platform === "darwin") return join(home, "Library", "Caches", "pressmark");
  if (platform === "win32") return join(env["LOCALAPPDATA"] || join(home, "AppData", "Local"), "pressmark", "Cache");
  const configured = env["XDG_CACHE_HOME"];
  return join(configured && isAbsolute(configured) ? configured : join(home, ".cache"), "pressmark");
}

/** The person's own folder, as their environment says it. */
export function homeFolder(env: SystemPaths["env"]): string {
  const said = process.platform === "win32" ? env["USERPROFILE"] : env["HOME"];
  return said && isAbsolute(said) ? said : homedir();
}

/** Those of the person whose environment this is. */
export function systemPathsOf(env: SystemPaths["env"]): SystemPaths {
  return { platform: process.platform, home: homeFolder(env), env };
}
