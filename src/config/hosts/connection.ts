/** How a host reaches Pressmark, and whether an existing entry in its settings works. */
import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { quote } from "../../errors.ts";
import { programFile } from "../../lib/package-folder.ts";
import { realPath } from "../../lib/real-path.ts";
import { maskUrls } from "../mask-urls.ts";
import { connectionKeys, connectionOf, type HostConnection } from "./entry-formats.ts";
import { type HostFile, type HostScope, workspaceFolder } from "./hosts.ts";
import type { HostEntry } from "./settings.ts";
import { tokenKeys } from "./token-reference.ts";

export interface HostContext {
  /** Folder to serve. */
  readonly project: string;
  /** URL of `pressmark serve`, running or not. */
  readonly url: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `bin/pressmark.js` of this package, or the single executable. */
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
  if (scope === "user") return commandOfUser(words, { env, program }, ownPath);
  if (findPressmark(env) && !ownPath) return { kind: "stdio", command: "pressmark", args: words };
  // Not installed there, npx would download whatever has that name.
  if (existsSync(join(project, "node_modules", "pressmark")))
    return { kind: "stdio", command: "npx", args: ["--no", "pressmark", ...words] };
  return { kind: "stdio", command: "pressmark", args: words };
}

/** Starts Pressmark with these words, for one user of this machine. A host with a PATH of its own may not find the command. */
export function commandOfUser(
  words: readonly string[],
  { env, program }: Pick<HostContext, "env" | "program">,
  ownPath = false,
): HostConnection & { readonly kind: "stdio" } {
  if (findPressmark(env) && !ownPath) return { kind: "stdio", command: "pressmark", args: words };
  // The single executable needs no Node.
  if (program === process.execPath) return { kind: "stdio", command: program, args: words };
  return { kind: "stdio", command: process.execPath, args: [program, ...words] };
}

/** How to make the command `pressmark` work; undefined if the connection does not need it, or it works. */
export function installStep(connection: HostConnection, { env, program }: HostContext): string | undefined {
  if (connection.kind !== "stdio" || connection.command !== "pressmark" || findPressmark(env)) return undefined;
  const found = findProgram("pressmark", env) === undefined ? "is not on the PATH" : "on the PATH is another program";
  const step =
    program === process.execPath
      ? `put a link to ${quote(program)} with that name into a folder of the PATH`
      : `install it with "npm install --global ${join(program, "..", "..")}"`;
  return `the command pressmark ${found}; ${step}`;
}

/** The problem of an entry. */
export interface EntryProblem {
  readonly says: string;
  /** Whether it may be intended. */
  readonly isDoubt?: boolean;
  /** Whether only a person can tell if it is harmless. It is a doubt, too. */
  readonly isForeign?: boolean;
}

/** Undefined if it works and is what `add` writes. The settings of a project may come from anyone. */
export function wrongWith(entry: HostEntry, scope: HostScope, here: HostContext): EntryProblem | undefined {
  const { urls, words } = connectionOf(entry);
  if (urls.length > 1) return { says: "has more than one url" };
  const [entryUrl] = urls;
  if (entryUrl !== undefined && words) return { says: "has both a url and a command" };
  if (entryUrl === undefined && !words) return { says: "has neither a url nor a command" };
  const wrong = words ? wrongCommand(words, scope, here) : wrongAddress(entryUrl!, scope, here);
  return wrong ?? (scope === "user" ? undefined : unknownKeys(entry));
}

/** Keys that `add` leaves in an entry but did not write, for example variables of the environment that make Node load a module. */
export function unknownKeys(entry: HostEntry): EntryProblem | undefined {
  // An object there could hold a command.
  const isNested = (key: string) => ["type", "transport"].includes(key) && typeof entry[key] !== "string";
  const other = Object.keys(entry).filter((key) => !harmlessKeys.includes(key) || isNested(key));
  if (other.length === 0) return undefined;
  return foreign(`also sets ${other.map(plainName).join(", ")}, which can change what it starts`);
}

const harmlessKeys = [...connectionKeys, ...tokenKeys, "enabled", "disabled", "timeout", "description"];

function plainName(key: string): string {
  return /^\w{1,40}$/.test(key) ? key : quote(key);
}

function foreign(says: string): EntryProblem {
  return { says, isDoubt: true, isForeign: true };
}

function wrongAddress(entryUrl: string, scope: HostScope, { url }: HostContext): EntryProblem | undefined {
  const address = URL.parse(entryUrl);
  if (!address) return foreign("connects to an address that cannot be read");
  // The config, too, may come from anyone, with the name of this server in its certificate.
  const isOwn = scope === "user" && address.host === URL.parse(url)?.host;
  // Without the rest, which may contain a secret.
  if (!isOwn && !isLocal(address)) return foreign(`connects to ${quote(address.host)}, which may be another machine`);
  if (sameAddress(entryUrl, url)) return undefined;
  return {
    says: `points to ${quote(maskUrls(entryUrl, { isAddress: true }))}, but pressmark serve listens at ${url}`,
    isDoubt: true,
  };
}

function wrongCommand(words: readonly string[], scope: HostScope, here: HostContext): EntryProblem | undefined {
  const { env } = here;
  const [command = "", ...rest] = words;
  const found = findProgram(command, env);
  if (found === undefined) return { says: `starts ${quote(command)}, which does not exist` };
  if (command === "pressmark" && !findPressmark(env))
    return { says: `starts ${quote(found)}, which is another program` };
  const args = argsOfPressmark(command, rest, scope, here);
  const missing = rest.find((word) => isAbsolute(word) && !existsSync(word));
  if (missing !== undefined && (args || scope === "user"))
    return { says: `names ${quote(missing)}, which does not exist` };
  // A user may start it by a script of their own.
  if (!args) return { says: `starts ${quote(command)}, which is not Pressmark`, isDoubt: scope === "user" };
  const isWritten = args[0] === "stdio" && args.slice(1).every((word) => projectWords.includes(word));
  return scope === "user" || isWritten
    ? undefined
    : foreign("starts Pressmark with words that pressmark add does not write");
}

/** Other words could name a config that runs code, or a folder outside the project. */
const projectWords = ["--project", "--no-tools", ".", workspaceFolder];

/** Undefined if the words start something else, or may. */
function argsOfPressmark(
  command: string,
  args: readonly string[],
  scope: HostScope,
  { program }: HostContext,
): readonly string[] | undefined {
  const isThis = (path: string | undefined) =>
    path !== undefined &&
    isAbsolute(path) &&
    (realPath(path) === realPath(program) || (scope === "user" && isPressmark(path)));
  if (command === "pressmark" || isThis(command)) return args;
  if (command === "npx" && args[0] === "--no" && args[1] === "pressmark") return args.slice(2);
  const isOtherNode = scope === "user" && /^node(?:\.exe)?$/.test(basename(command));
  const isNode = command === "node" || command === process.execPath || isOtherNode;
  return isNode && isThis(args[0]) ? args.slice(1) : undefined;
}

/** Path of an executable, as a host finds it: without the folders of packages, which npm and npx add to the PATH for themselves. */
export function findProgram(
  name: string,
  env: HostContext["env"],
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (name.includes("/") || name.includes("\\")) return isProgram(name) ? name : undefined;
  const endings = platform === "win32" ? [...(env["PATHEXT"] ?? ".EXE;.CMD").split(";"), ""] : [""];
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
  return isPressmark(found) ? found : undefined;
}

function isPressmark(path: string): boolean {
  try {
    const real = realpathSync(path);
    return (
      real === programFile() ||
      real.endsWith(join("bin", "pressmark.js")) ||
      (statSync(real).size <= maxScriptBytes && /[/\\]pressmark\.js\b/.test(readFileSync(real, "utf8")))
    );
  } catch {
    return false;
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

function isLocal({ hostname }: URL): boolean {
  return ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}

/** Ignores the path: the older transport has its own. */
function sameAddress(entryUrl: string, url: string): boolean {
  const [theirs, ours] = [URL.parse(entryUrl), URL.parse(url)];
  if (theirs === null || ours === null || theirs.port !== ours.port) return false;
  return [ours.pathname, "/sse"].includes(theirs.pathname.replace(/\/$/, ""));
}
