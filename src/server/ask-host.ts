/** Asks an installed host what it makes of its entry for Pressmark. */
import type { ChildProcess } from "node:child_process";
import { realpathSync } from "node:fs";
import { sep } from "node:path";
import { findProgram } from "../config/hosts/connection.ts";
import type { HostFile } from "../config/hosts/hosts.ts";
import { serverName } from "../config/hosts/settings.ts";
import { homeFolder } from "../lib/system-paths.ts";

/** State of the entry in the host. "missing": the host does not list it. "too-old": the host was not asked, because it may start servers. */
export type HostAnswer =
  | "connected"
  | "listed"
  | "pending"
  | "disabled"
  | "signed-out"
  | "failed"
  | "missing"
  | "too-old";

interface AskOptions {
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number;
}

// Some hosts check the health of all their servers first.
const defaultTimeoutMs = 20_000;
const maxBytes = 1024 * 1024;

/** Undefined if the host cannot be asked: not installed, no such command, too slow, or an answer that is not understood. */
export async function askHost({ query }: HostFile, options: AskOptions): Promise<HostAnswer | undefined> {
  const program = query && findProgram(query.program, options.env);
  if (!query || program === undefined || isInside(program, options.project)) return undefined;
  const { project, env } = options;
  // Not in the project, whose settings an old version may follow.
  const version = await outputOf(program, ["--version"], { ...options, folder: homeFolder(env), stderr: "ignore" });
  if (version === undefined || !isSince(version, query.since)) return "too-old";
  const isJson = query.words.includes("--json");
  // Some print their list to standard error. JSON is on standard output alone.
  const stderr = isJson ? "ignore" : "pipe";
  const printed = await outputOf(program, query.words, { ...options, folder: project, stderr });
  if (printed === undefined) return undefined;
  return isJson ? answerInJson(printed) : answerInText(printed);
}

/** Whether the first version in this text is that one or newer. A preliminary release comes before its version. */
function isSince(printed: string, since: string): boolean {
  const found = /(?<![\d.])(\d{1,9})\.(\d{1,9})\.(\d{1,9})(-?)/.exec(printed);
  if (!found) return false;
  const least = since.split(".").map(Number);
  const at = least.findIndex((part, index) => Number(found[index + 1]) !== part);
  return at < 0 ? found[4] === "" : Number(found[at + 1]) > least[at]!;
}

/** Statuses as hosts write them, the first that matches. */
const statuses: readonly (readonly [RegExp, HostAnswer])[] = [
  [/pending/i, "pending"],
  [/disabled/i, "disabled"],
  [/needs authentication|not logged in/i, "signed-out"],
  [/disconnected|fail|error/i, "failed"],
  [/connected/i, "connected"],
];

/** Lines such as `✓ pressmark: pressmark stdio --project (stdio) - Connected`. */
export function answerInText(printed: string): HostAnswer | undefined {
  const lines = printed.split("\n").map((line) => line.replaceAll(terminalColors, ""));
  const line = lines.find((each) => new RegExp(`^\\W{0,8}${serverName}: `).test(each));
  if (line === undefined) return lines.some((each) => each.trim() !== "") ? "missing" : undefined;
  // The command comes first and may contain any word.
  const status = line.slice(line.lastIndexOf(" - ") + 3);
  return statuses.find(([words]) => words.test(status))?.[1] ?? "listed";
}

/** A list of servers with names, or an object with a server for each name. */
export function answerInJson(printed: string): HostAnswer | undefined {
  let value: unknown;
  try {
    value = JSON.parse(printed);
  } catch {
    return undefined;
  }
  const servers = (value as { mcpServers?: unknown } | null)?.mcpServers ?? value;
  if (typeof servers !== "object" || servers === null) return undefined;
  const server: unknown = Array.isArray(servers)
    ? servers.find((each: { name?: unknown } | null) => each?.name === serverName)
    : Object.entries(servers).find(([name]) => name === serverName)?.[1];
  if (typeof server !== "object" || server === null) return "missing";
  const { enabled, disabled, auth_status: auth } = server as Record<string, unknown>;
  if (enabled === false || disabled === true) return "disabled";
  return auth === "not_logged_in" ? "signed-out" : "listed";
}

// oxlint-disable-next-line no-control-regex -- the terminal's own
const terminalColors = /\u001B\[[0-9;]{0,20}m/g;

/** A project may bring a program of that name. */
function isInside(program: string, folder: string): boolean {
  try {
    return realpathSync(program).startsWith(realpathSync(folder) + sep);
  } catch {
    return true;
  }
}

interface RunOptions extends Omit<AskOptions, "project"> {
  readonly folder: string;
  readonly stderr: "ignore" | "pipe";
}

/** Output of the program; undefined if it does not start, or does not end in time. It is then ended, with the programs that it started. */
async function outputOf(
  program: string,
  words: readonly string[],
  { folder, stderr, env, signal, timeoutMs = defaultTimeoutMs }: RunOptions,
): Promise<string | undefined> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(program, words, {
        cwd: folder,
        env: { ...env, NO_COLOR: "1" },
        stdio: ["ignore", "pipe", stderr],
        // A process group of its own, so that its servers can be ended too.
        detached: process.platform !== "win32",
        windowsHide: true,
      });
    } catch {
      // For example EINVAL for a .cmd on Windows, or ETXTBSY during an update of the host.
      resolve(undefined);
      return;
    }
    const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
    const pieces: Buffer[] = [];
    let bytes = 0;
    const end = (printed?: string): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      resolve(printed);
    };
    const stop = (): void => {
      for (const stream of streams) stream.destroy();
      try {
        if (process.platform === "win32" || child.pid === undefined) child.kill("SIGKILL");
        else process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended.
      }
      end();
    };
    const timer = setTimeout(stop, timeoutMs);
    signal.addEventListener("abort", stop, { once: true });
    for (const stream of streams)
      stream.on("data", (piece: Buffer) => {
        bytes += piece.length;
        if (bytes > maxBytes) stop();
        else pieces.push(piece);
      });
    child.once("error", stop);
    child.once("close", () => end(Buffer.concat(pieces).toString("utf8")));
  });
}
