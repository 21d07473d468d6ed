/** How a host reaches Pressmark, and whether an existing entry in its settings works. */
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { quote } from "../../errors.ts";
import { connectionOf, type HostConnection } from "./entry-formats.ts";
import type { HostFile } from "./hosts.ts";
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

/**
 * Settings of a project are shared, so they contain no path of this machine. A host without a placeholder for the project folder
 * starts the command where it was started itself, perhaps in a subfolder: `--project` then finds the project.
 */
export function stdioConnection(
  { scope, projectFolder, ownPath }: HostFile,
  { project, env, program }: HostContext,
): HostConnection {
  const words = ["stdio", scope === "user" ? project : (projectFolder ?? "--project")];
  if (findPressmark(env) && !ownPath) return { kind: "stdio", command: "pressmark", args: words };
  if (scope === "user") return { kind: "stdio", command: process.execPath, args: [program, ...words] };
  // Not installed there, npx would download whatever has that name.
  if (existsSync(join(project, "node_modules", "pressmark")))
    return { kind: "stdio", command: "npx", args: ["--no", "pressmark", ...words] };
  return { kind: "stdio", command: "pressmark", args: words };
}

/** How to make the command `pressmark` work; undefined if the connection does not need it, or it works. */
export function installStep(connection: HostConnection, { env, program }: HostContext): string | undefined {
  if (connection.kind !== "stdio" || connection.command !== "pressmark" || findPressmark(env)) return undefined;
  const found = findProgram("pressmark", env) === undefined ? "is not on the PATH" : "on the PATH is another program";
  return `the command pressmark ${found}; install it with "npm install --global ${join(program, "..", "..")}"`;
}

/** What is wrong with an entry. */
export interface EntryProblem {
  readonly says: string;
  /** Whether it may be intended. */
  readonly isDoubt?: boolean;
}

/** Undefined if it works. */
export function wrongWith(entry: HostEntry, { url, env }: HostContext): EntryProblem | undefined {
  const { url: entryUrl, words } = connectionOf(entry);
  if (entryUrl !== undefined) {
    if (!isLocal(entryUrl) || sameAddress(entryUrl, url)) return undefined;
    return { says: `points to ${quote(entryUrl)}, but pressmark serve listens at ${url}`, isDoubt: true };
  }
  if (!words) return { says: "has neither a url nor a command" };
  const [command, ...args] = words;
  if (!findProgram(command!, env)) return { says: `starts ${quote(command!)}, which does not exist` };
  if (command === "pressmark" && !findPressmark(env))
    return { says: `starts ${quote(findProgram(command, env)!)}, which is another program` };
  const missing = args.find((word) => isAbsolute(word) && !existsSync(word));
  return missing === undefined ? undefined : { says: `names ${quote(missing)}, which does not exist` };
}

/** Path of an executable, as a host finds it: without the folders of packages, which npm and npx add to the PATH for themselves. */
export function findProgram(name: string, env: HostContext["env"]): string | undefined {
  if (name.includes("/") || name.includes("\\")) return isProgram(name) ? name : undefined;
  const endings = process.platform === "win32" ? ["", ...(env["PATHEXT"] ?? ".EXE;.CMD").split(";")] : [""];
  for (const folder of (env["PATH"] ?? "").split(delimiter))
    for (const ending of endings) {
      const path = join(folder, name + ending);
      if (isAbsolute(folder) && !isPackageFolder(folder) && isProgram(path)) return path;
    }
  return undefined;
}

function isPackageFolder(folder: string): boolean {
  return basename(folder) === ".bin" && basename(dirname(folder)) === "node_modules";
}

const maxScriptBytes = 16_384;

/** The command `pressmark`, if it is this program: a link to it, or a script of a package manager that starts it. */
function findPressmark(env: HostContext["env"]): string | undefined {
  const found = findProgram("pressmark", env);
  if (found === undefined) return undefined;
  try {
    const real = realpathSync(found);
    const isOurs =
      real.endsWith(join("bin", "pressmark.js")) ||
      (statSync(real).size <= maxScriptBytes && /[/\\]pressmark\.js\b/.test(readFileSync(real, "utf8")));
    return isOurs ? found : undefined;
  } catch {
    return undefined;
  }
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
