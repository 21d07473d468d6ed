/** How a host reaches Pressmark, and whether an existing entry in its settings works. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { quote } from "../../errors.ts";
import type { HostConnection, HostFile } from "./hosts.ts";
import type { HostEntry } from "./settings.ts";

export interface HostContext {
  /** Folder to serve. */
  readonly project: string;
  /** URL of `pressmark serve`, running or not. */
  readonly url: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `bin/pressmark.js` of this package. */
  readonly program: string;
}

/** Project settings are shared, so they must be valid on other machines. */
export function stdioConnection(
  { scope, projectFolder }: HostFile,
  { project, env, program }: HostContext,
): HostConnection {
  const folder = scope === "user" ? [project] : projectFolder === undefined ? [] : [projectFolder];
  const words = ["stdio", ...folder];
  if (findProgram("pressmark", env)) return { kind: "stdio", command: "pressmark", args: words };
  if (existsSync(join(project, "node_modules", "pressmark")))
    return { kind: "stdio", command: "npx", args: ["pressmark", ...words] };
  return { kind: "stdio", command: "node", args: [program, ...words] };
}

/** What is wrong with an entry; undefined if it works. */
export function wrongWith(entry: HostEntry, { url, env }: HostContext): string | undefined {
  const entryUrl = entry["url"] ?? entry["serverUrl"];
  if (typeof entryUrl === "string") {
    if (!isLocal(entryUrl)) return undefined;
    return sameAddress(entryUrl, url)
      ? undefined
      : `points to ${quote(entryUrl)}, but pressmark serve listens at ${url}`;
  }
  const { command, args } = entry;
  if (typeof command !== "string") return "has neither a url nor a command";
  if (!findProgram(command, env)) return `starts ${quote(command)}, which does not exist`;
  const words = Array.isArray(args) ? args.filter((each) => typeof each === "string") : [];
  const missing = words.find((word) => isAbsolute(word) && !existsSync(word));
  return missing === undefined ? undefined : `names ${quote(missing)}, which does not exist`;
}

/** Path of an executable, looked up as a shell does. */
export function findProgram(name: string, env: Readonly<Record<string, string | undefined>>): string | undefined {
  if (name.includes("/") || name.includes("\\")) return isProgram(name) ? name : undefined;
  const endings = process.platform === "win32" ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD").split(";")] : [""];
  for (const folder of (env["PATH"] ?? "").split(delimiter))
    for (const ending of endings) {
      const path = join(folder, name + ending);
      if (folder !== "" && isProgram(path)) return path;
    }
  return undefined;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isLocal(url: string): boolean {
  const host = URL.parse(url)?.hostname;
  return host === "localhost" || host === "127.0.0.1" || host === "[::1]";
}

/** Ignores the path: the older transport has its own. */
function sameAddress(entryUrl: string, url: string): boolean {
  const [theirs, ours] = [URL.parse(entryUrl), URL.parse(url)];
  if (theirs === null || ours === null || theirs.port !== ours.port) return false;
  return [ours.pathname, "/sse"].includes(theirs.pathname.replace(/\/$/, ""));
}
