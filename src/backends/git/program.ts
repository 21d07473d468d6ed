/** Runs the git program with a clean environment and with limits on time and output. */
import type { ChildProcess, ChildProcessWithoutNullStreams } from "node:child_process";
import { cancelled, lastingFailure, ResourceError, unavailable } from "../../errors.ts";
import { costAccount } from "../../lib/cost-account.ts";
import { createSlots } from "../../lib/create-slots.ts";
import { findProgram, usablePath } from "../../lib/find-program.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import type { Runtime } from "../../runtime.ts";

interface RunOptions {
  /** The git folder: the mirror, never that of the repository. */
  readonly gitDir: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Further output is discarded. */
  readonly maxBytes?: number;
  readonly timeoutMs?: number;
  /** For the error message: what to request instead if it takes too long. */
  readonly less?: string;
  /** Receives the output in chunks; return false to stop. */
  readonly take?: (piece: Buffer) => boolean;
}

interface Output {
  readonly bytes: Buffer;
  /** Whether there was more than `maxBytes`. */
  readonly isCut: boolean;
}

export interface GitProgram {
  /** Throws a GitFailure if git reports a failure. */
  run(args: readonly string[], options: RunOptions): Promise<Output>;
  /** Starts a long-running process with pipes for input and output. */
  start(args: readonly string[], gitDir: string): ChildProcess;
  /** Throws if git is missing or too old. */
  check(gitDir: string, signal: AbortSignal): Promise<void>;
  /** Ends all short runs, and waits for them. Long-running processes are ended by their owners. */
  close(): Promise<void>;
}

export class GitFailure extends Error {
  override readonly name = "GitFailure";
}

const neededVersion = "2.30";
const defaultTimeoutMs = 20_000;
const defaultMaxBytes = 16 * 1024 * 1024;
const maxStderrBytes = 4096;
/** Limit of concurrent short runs; more would only slow each other down. */
const maxAtOnce = 4;

/** Git is never taken from the folders in `avoid`: a served folder must not provide the git that reads it. */
export function createProgram(avoid: readonly string[], environment: Runtime["env"]): GitProgram {
  const slot = createSlots(maxAtOnce);
  const closing = new AbortController();
  const running = new Set<Promise<unknown>>();
  let checked: Promise<void> | undefined;

  function start(args: readonly string[], gitDir: string, { cwd = gitDir, env = {} }: Partial<RunOptions> = {}) {
    const path = usablePath(environment["PATH"] ?? "", avoid);
    // Loaded late: the module takes milliseconds to load.
    const { spawn } = process.getBuiltinModule("node:child_process");
    return spawn(findGit(path), ["--no-pager", "--no-optional-locks", "--no-replace-objects", ...args], {
      cwd,
      env: { ...safeEnvironment(gitDir, path, environment["SystemRoot"]), ...env },
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    });
  }

  async function run(args: readonly string[], options: RunOptions): Promise<Output> {
    const signal = AbortSignal.any([options.signal, closing.signal]);
    const leave = await slot(signal).catch(() => {
      throw cancelled(signal.reason);
    });
    const account = costAccount();
    const startMs = account && monotonicMs();
    const work = (async () => finish(start(args, options.gitDir, options), { ...options, signal }))();
    running.add(work);
    try {
      return await work;
    } finally {
      running.delete(work);
      leave();
      if (startMs !== undefined) account?.charge("processMs", monotonicMs() - startMs);
    }
  }

  async function checkOnce(gitDir: string, signal: AbortSignal): Promise<void> {
    const { bytes } = await run(["--version"], { gitDir, signal });
    const [, major = "0", minor = "0"] = /(?<!\d)(\d{1,9})\.(\d{1,9})/.exec(bytes.toString("latin1")) ?? [];
    const [least = 0, leastMinor = 0] = neededVersion.split(".").map(Number);
    if (Number(major) > least || (Number(major) === least && Number(minor) >= leastMinor)) return;
    throw lastingFailure(`git ${major}.${minor} is too old to be used safely; install git ${neededVersion} or newer`);
  }

  return {
    run,
    start(args, gitDir) {
      if (closing.signal.aborted) throw cancelled(closing.signal.reason);
      const child = start(args, gitDir);
      child.stderr.resume();
      return child;
    },
    check(gitDir, signal) {
      checked ??= checkOnce(gitDir, signal).catch((cause: unknown) => {
        checked = undefined;
        throw cause;
      });
      return checked;
    },
    async close() {
      closing.abort();
      await Promise.allSettled(running);
    },
  };
}

function finish(child: ChildProcessWithoutNullStreams, options: RunOptions): Promise<Output> {
  const { signal, maxBytes = defaultMaxBytes, timeoutMs = defaultTimeoutMs, take } = options;
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    let length = 0;
    let errorText = "";
    /** Why it was stopped, if it was. */
    let stopped: "enough" | "cut" | "late" | "cancelled" | "refused" | undefined;
    let refusal: unknown;
    const stop = (why: typeof stopped): void => {
      stopped ??= why;
      child.kill("SIGKILL");
    };
    const timer = setTimeout(stop, timeoutMs, "late");
    const cancel = (): void => stop("cancelled");
    signal.addEventListener("abort", cancel, { once: true });
    if (signal.aborted) cancel();
    child.stdin.on("error", () => undefined).end();
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      if (errorText.length < maxStderrBytes) errorText += piece;
    });
    child.stdout.on("data", (piece: Buffer) => {
      if (stopped) return;
      if (take) {
        try {
          if (!take(piece)) stop("enough");
        } catch (cause) {
          refusal = cause;
          stop("refused");
        }
        return;
      }
      const free = maxBytes - length;
      pieces.push(piece.length > free ? piece.subarray(0, free) : piece);
      length += Math.min(piece.length, free);
      if (piece.length > free) stop("cut");
    });
    const settle = (cause: unknown, code: number | null): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", cancel);
      if (stopped === "cancelled") reject(cancelled(signal.reason));
      else if (stopped === "refused") reject(refusal);
      else if (stopped === "late") reject(tooSlow(timeoutMs, options.less));
      else if (cause) reject(isMissing(cause) ? missingGit(cause) : unwell(cause));
      else if (code === 0 || stopped) resolve({ bytes: Buffer.concat(pieces, length), isCut: stopped === "cut" });
      else reject(new GitFailure(errorText.slice(0, maxStderrBytes)));
    };
    child.once("error", (cause) => settle(cause, null));
    child.once("close", (code) => settle(undefined, code));
  });
}

/** Only the variables listed here: settings of the user, the machine or the caller must not affect git. */
function safeEnvironment(gitDir: string, path: string, systemRoot: string | undefined): Record<string, string> {
  return {
    PATH: path,
    ...(systemRoot !== undefined && { SystemRoot: systemRoot }),
    HOME: gitDir,
    XDG_CONFIG_HOME: gitDir,
    LC_ALL: "C",
    GIT_DIR: gitDir,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: process.platform === "win32" ? "NUL" : "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_LITERAL_PATHSPECS: "1",
    // No transport has this name, so none is allowed.
    GIT_ALLOW_PROTOCOL: "none",
    GIT_PAGER: "cat",
  };
}

function findGit(path: string): string {
  const file = findProgram("git", path);
  if (file === undefined) throw missingGit();
  return file;
}

export function isMissing(cause: unknown): boolean {
  return (cause as NodeJS.ErrnoException).code === "ENOENT";
}

export function missingGit(cause?: unknown): ResourceError {
  return lastingFailure(`git is not installed, or not in PATH; install git ${neededVersion} or newer`, cause);
}

function unwell(cause: unknown): ResourceError {
  return unavailable("git could not be started; try again", cause);
}

function tooSlow(timeoutMs: number, less = "a part of it"): ResourceError {
  return new ResourceError("too-large", `git took longer than ${timeoutMs / 1000} seconds; request ${less}`, {
    details: { reason: "too-slow" },
  });
}
