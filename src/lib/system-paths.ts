/** The folders for state and cache, by the conventions of each system. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

interface SystemPaths {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function stateFolder({ platform, home, env }: SystemPaths): string {
  if (platform === "darwin") return join(home, "Library", "Application Support", "pressmark");
  if (platform === "win32") return join(env["LOCALAPPDATA"] || join(home, "AppData", "Local"), "pressmark");
  const configured = env["XDG_STATE_HOME"];
  // The XDG base directory specification says to ignore a relative path.
  const base = configured && isAbsolute(configured) ? configured : join(home, ".local", "state");
  return join(base, "pressmark");
}

/** The folder for data that can be created again. */
export function cacheFolder({ platform, home, env }: SystemPaths): string {
  if (platform === "darwin") return join(home, "Library", "Caches", "pressmark");
  if (platform === "win32") return join(env["LOCALAPPDATA"] || join(home, "AppData", "Local"), "pressmark", "Cache");
  const configured = env["XDG_CACHE_HOME"];
  return join(configured && isAbsolute(configured) ? configured : join(home, ".cache"), "pressmark");
}

/** The user's home folder, from the environment. */
export function homeFolder(env: SystemPaths["env"]): string {
  const given = process.platform === "win32" ? env["USERPROFILE"] : env["HOME"];
  return given && isAbsolute(given) ? given : homedir();
}

/** The paths of the user of this environment. */
export function systemPathsOf(env: SystemPaths["env"]): SystemPaths {
  return { platform: process.platform, home: homeFolder(env), env };
}
