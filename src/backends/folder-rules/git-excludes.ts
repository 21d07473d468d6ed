/** Locates git's exclude files of a repository and of a user, without running git. */
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Disk } from "../disk/disk.ts";
import { settled } from "../disk/steps.ts";
import type { Steps } from "../disk/steps.ts";

/** Where a user's settings are read from. */
export interface Person {
  readonly home: string;
  /** `$XDG_CONFIG_HOME`. */
  readonly configHome?: string;
  /** `$GIT_CONFIG_GLOBAL`. */
  readonly gitConfig?: string;
}

interface Repository {
  /** The exclude file of this checkout, which is not under version control. */
  readonly exclude: string;
  readonly config: string;
}

/** The person who runs the server, whose git settings count. */
export function personOf(env: Readonly<Record<string, string | undefined>> = process.env, home = homedir()): Person {
  const { XDG_CONFIG_HOME: configHome, GIT_CONFIG_GLOBAL: gitConfig } = env;
  return { home, configHome: configHome || undefined, gitConfig };
}

const maxPointerBytes = 8192;
const maxConfigBytes = 1024 * 1024;

/** The repository whose checkout is this folder. `.git` may be a folder, or a file that points to one (worktrees, submodules). */
export function* repositoryAt(folder: string, disk: Disk): Steps<Repository | undefined> {
  let own = join(folder, ".git");
  const pointer = yield* settled(disk.content(own, maxPointerBytes));
  if (pointer) {
    const line = pointer.bytes.toString("utf8");
    if (!line.startsWith("gitdir: ")) return undefined;
    own = resolve(folder, line.slice("gitdir: ".length).trimEnd());
  }
  if (!(yield* settled(disk.lstat(join(own, "HEAD"))))) return undefined;
  const common = yield* settled(disk.content(join(own, "commondir"), maxPointerBytes));
  const shared = common ? resolve(own, common.bytes.toString("utf8").trimEnd()) : own;
  return { exclude: join(shared, "info", "exclude"), config: join(shared, "config") };
}

/** The user's global exclude file, or undefined if it is disabled. */
export function* globalExcludes(
  { home, configHome = join(home, ".config"), gitConfig }: Person,
  repository: { readonly folder: string; readonly config: string } | undefined,
  disk: Disk,
): Steps<string | undefined> {
  const configs = gitConfig === undefined ? [join(configHome, "git", "config"), join(home, ".gitconfig")] : [gitConfig];
  if (repository) configs.push(repository.config);
  let value: string | undefined;
  for (const config of configs) {
    const content = isAbsolute(config) ? yield* settled(disk.content(config, maxConfigBytes, true)) : undefined;
    value = (content && excludesFileIn(content.bytes.toString("utf8"))) ?? value;
  }
  if (value === undefined) return join(configHome, "git", "ignore");
  if (value === "") return undefined;
  if (value.startsWith("~/")) return join(home, value.slice(2));
  if (isAbsolute(value)) return value;
  return repository && !value.startsWith("~") ? resolve(repository.folder, value) : undefined;
}

/** All folders above this one, nearest first. */
export function* foldersAbove(folder: string): Generator<string> {
  for (let above = dirname(folder); above !== folder; above = dirname(folder)) yield (folder = above);
}

/** The last `core.excludesFile` in the text of a git config. */
export function excludesFileIn(config: string): string | undefined {
  let isCore = false;
  let value: string | undefined;
  const lines = config.replace(/^\ufeff/, "").split("\n");
  for (let index = 0; index < lines.length; index += 1) {
    let line = (lines[index] as string).trim();
    if (line.startsWith("[")) {
      const end = line.indexOf("]");
      isCore = line.slice(1, Math.max(1, end)).trim().toLowerCase() === "core";
      // A setting may follow the heading on the same line.
      line = line.slice(end + 1).trim();
    }
    const equals = line.indexOf("=");
    if (!isCore || equals < 0 || line.slice(0, equals).trim().toLowerCase() !== "excludesfile") continue;
    const pieces = [line.slice(equals + 1)];
    while (isContinued(pieces.at(-1) as string) && index + 1 < lines.length)
      pieces.push((pieces.pop() as string).slice(0, -1), lines[(index += 1)] as string);
    value = unquote(pieces.join(""));
  }
  return value;
}

/** Whether the line ends in a backslash that continues it. */
function isContinued(value: string): boolean {
  let count = 0;
  while (value[value.length - 1 - count] === "\\") count += 1;
  return count % 2 === 1;
}

/** Quotes protect spaces and comment characters; a backslash protects the next character. */
function unquote(value: string): string {
  let text = "";
  /** Length of the text without trailing spaces. */
  let length = 0;
  let isQuoted = false;
  const trimmed = value.trimStart();
  for (let at = 0; at < trimmed.length; at += 1) {
    const char = trimmed[at] as string;
    if (char === '"') {
      isQuoted = !isQuoted;
      continue;
    }
    if (!isQuoted && (char === "#" || char === ";")) break;
    const escaped = char === "\\" ? trimmed[(at += 1)] : undefined;
    text += escaped === undefined ? char : (escapes.get(escaped) ?? escaped);
    if (isQuoted || escaped !== undefined || !/\s/.test(char)) length = text.length;
  }
  return text.slice(0, length);
}

const escapes: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["t", "\t"],
  ["b", "\b"],
]);
