/** How a host is to reach Pressmark from here, and whether what its settings say would. */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { quote } from "../../errors.ts";
import type { HostConnection, HostFile } from "./hosts.ts";
import type { HostEntry } from "./settings.ts";

export interface HostContext {
  /** The folder that is served. */
  readonly project: string;
  /** Where `pressmark serve` answers, or would. */
  readonly url: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `bin/pressmark.js` of this package. */
  readonly program: string;
}

/** The settings of a project are shared: what they say must be true on other machines. */
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

/** What is wrong with an entry, as a sentence; undefined where it leads here. */
export function wrongWith(entry: HostEntry, { url, env }: HostContext): string | undefined {
  const said = entry["url"] ?? entry["serverUrl"];
  if (typeof said === "string") {
    if (!isLocal(said)) return undefined;
    return sameAddress(said, url) ? undefined : `points to ${quote(said)}, and pressmark serve answers at ${url}`;
  }
  const { command, args } = entry;
  if (typeof command !== "string") return "says neither a url nor a command";
  if (!findProgram(command, env)) return `starts ${quote(command)}, which is not there`;
  const words = Array.isArray(args) ? args.filter((each) => typeof each === "string") : [];
  const missing = words.find((word) => isAbsolute(word) && !existsSync(word));
  return missing === undefined ? undefined : `names ${quote(missing)}, which is not there`;
}

/** The path of a program that could be started, as a shell would find it. */
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

/** The older transport has a path of its own. */
function sameAddress(said: string, url: string): boolean {
  const [theirs, ours] = [URL.parse(said), URL.parse(url)];
  if (theirs === null || ours === null || theirs.port !== ours.port) return false;
  return [ours.pathname, "/sse"].includes(theirs.pathname.replace(/\/$/, ""));
}
