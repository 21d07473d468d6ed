/** Real repositories for tests, made by the real git without user settings. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import type { Source, Runtime } from "../../source.ts";
import git from "../git.ts";

export interface TestRepository {
  readonly folder: string;
  /** The output of git, without the final line feed. */
  git(...args: readonly string[]): string;
  /** The same in bytes, with input. */
  gitBytes(args: readonly string[], input?: string | Buffer): Buffer;
  write(path: string, content: string | Buffer): void;
  /** Commits all files, one second after the last commit. */
  commit(message: string, files?: Readonly<Record<string, string | Buffer>>): string;
  /** Opens it as a source. It is closed with `clear`. */
  open(options?: Partial<Parameters<typeof git.open>[0]>): Promise<Source>;
  /** Messages in the log. */
  readonly logged: readonly unknown[];
}

const scratch: string[] = [];
const opened: Source[] = [];

export const call = { caller: { id: "test" }, signal: new AbortController().signal };

/** Closes what was opened and removes what was created. */
export async function clear(): Promise<void> {
  await Promise.all(opened.splice(0).map((source) => source.close?.()));
  for (const folder of scratch.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function scratchFolder(): string {
  const folder = realpathSync.native(mkdtempSync(join(tmpdir(), "pressmark-test-git-")));
  scratch.push(folder);
  return folder;
}

export function testRepository(
  init: readonly string[] = [],
  folder: string = join(scratchFolder(), "project"),
): TestRepository {
  const logged: unknown[] = [];
  const runtime: Runtime = {
    env: process.env,
    now: Date.now,
    monotonicMs,
    wait: async (_ms, signal) => signal.throwIfAborted(),
    log: (...said) => void logged.push(said),
  };
  let seconds = 1_750_000_000;
  mkdirSync(folder, { recursive: true });
  const gitBytes = (args: readonly string[], input?: string | Buffer) =>
    execFileSync("git", ["-C", folder, ...args], {
      stdio: ["pipe", "pipe", "pipe"],
      ...(input !== undefined && { input }),
      env: {
        PATH: process.env["PATH"],
        HOME: "/nowhere",
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_AUTHOR_NAME: "Ada",
        GIT_AUTHOR_EMAIL: "ada@example.org",
        GIT_COMMITTER_NAME: "Ada",
        GIT_COMMITTER_EMAIL: "ada@example.org",
        GIT_AUTHOR_DATE: `${seconds} +0000`,
        GIT_COMMITTER_DATE: `${seconds} +0000`,
      },
    });
  const run = (...args: readonly string[]) => gitBytes(args).toString("utf8").trimEnd();
  run("init", "--quiet", "--initial-branch=main", ...init);
  const write = (path: string, content: string | Buffer): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  return {
    folder,
    logged,
    git: run,
    gitBytes,
    write,
    commit(message, files = {}) {
      for (const [path, content] of Object.entries(files)) write(path, content);
      seconds += 1;
      run("add", "--all");
      run("commit", "--quiet", "--allow-empty", "--message", message);
      return run("rev-parse", "HEAD");
    },
    async open({ root = folder, ...options } = {}) {
      const source = await git.open({ root, ...options }, runtime);
      opened.push(source);
      return source;
    },
  };
}

/** The text at an address. */
export async function readText(
  source: Source,
  path: string,
  query?: Readonly<Record<string, string>>,
): Promise<string> {
  const [part] = await source.read(query ? { path, query } : { path }, call);
  if (!part || !("text" in part.body)) throw new Error(`${path} is not text`);
  return part.body.text;
}

/** The JSON at an address. */
export async function readFacts<T = unknown>(
  source: Source,
  path: string,
  query?: Readonly<Record<string, string>>,
): Promise<T> {
  return JSON.parse(await readText(source, path, query)) as T;
}
