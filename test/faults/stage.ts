/** A folder to serve, a cache and a state folder of its own, and the built program as a process that faults are injected into. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { connect, type RemoteServer } from "../../src/client/connect.ts";
import { walkPages } from "../../src/client/walk-pages.ts";
import type { Call, SearchResult } from "../../src/resources.ts";

const program = join(import.meta.dirname, "../../bin/pressmark.js");

export interface MountStatus {
  readonly name: string;
  readonly state: string;
  readonly documents: number;
  readonly pending: number;
  readonly unread: number;
  readonly ready: number;
  readonly lastError?: string;
}

/** `pressmark://index/status`. */
export interface IndexStatus {
  readonly state: string;
  readonly problem?: { readonly reason: string; readonly message: string };
  readonly mounts: readonly MountStatus[];
}

export interface StartOptions {
  /** What is served; the stage's own folder unless said. */
  readonly folders?: readonly string[];
  readonly config?: string;
  /** How many files the process may have open. */
  readonly descriptors?: number;
  /** Runs as this user and group. */
  readonly user?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Words before the command, as `unshare --user`; the process stays the one that is started. */
  readonly wrapper?: readonly string[];
  /** Any free port by default. */
  readonly port?: number;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** From the signal to the end. */
  readonly ms: number;
}

export interface ServerProcess {
  readonly pid: number;
  readonly url: string;
  readonly pressmark: RemoteServer;
  /** What it wrote to standard error. */
  readonly log: string;
  readonly isAlive: boolean;
  search(text: string, limit?: number): Promise<SearchResult & { readonly names: readonly string[] }>;
  /** What the tool tells a model in words. */
  searchInWords(text: string): Promise<string>;
  indexStatus(): Promise<IndexStatus>;
  /** `pressmark://status`, which only the owner may read. */
  status(): Promise<Record<string, unknown>>;
  read(uri: string): Promise<unknown>;
  /** The number of the next file that it opens. */
  lowestFreeDescriptor(): number;
  /** From here on it opens no file with this number or a higher one. */
  limitFiles(descriptors: number): void;
  /** All that is listed, as paths below the stage's folder. */
  list(): Promise<readonly string[]>;
  end(signal: NodeJS.Signals): Promise<Ended>;
}

export interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Stage {
  /** Everything of the stage lies here. */
  readonly root: string;
  /** The folder that is served. */
  readonly folder: string;
  readonly cache: string;
  /** The one index in the cache; throws where there is none, or more than one. */
  readonly indexFolder: string;
  write(path: string, content: string | Uint8Array): void;
  /** All files below the served folder, in order. */
  onDisk(): readonly string[];
  uri(path: string): string;
  serve(options?: StartOptions): Promise<ServerProcess>;
  /** Runs a command to its end. */
  run(words: readonly string[], options?: StartOptions): Promise<CommandResult>;
  /** Resolves when list == disk == search: each file is listed and indexed, and found by a word that every file holds. */
  untilTrue(server: ServerProcess, word: string): Promise<void>;
  /** Called at the end, before the folder is removed. */
  cleanUp(undo: () => void | Promise<void>): void;
  close(): Promise<void>;
}

export function createStage(): Stage {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-fault-")));
  const folder = join(root, "served");
  const cache = join(root, "cache");
  mkdirSync(folder);
  mkdirSync(cache);
  const undoing: (() => void | Promise<void>)[] = [];

  function environment({ env }: StartOptions): NodeJS.ProcessEnv {
    const { PATH } = process.env;
    return { PATH, HOME: root, XDG_CACHE_HOME: cache, XDG_STATE_HOME: join(root, "state"), NO_COLOR: "1", ...env };
  }

  function start(words: readonly string[], options: StartOptions): ChildProcess {
    const command = [process.execPath, program, ...words];
    const asUser =
      options.user === undefined
        ? []
        : ["setpriv", `--reuid=${options.user}`, `--regid=${options.user}`, "--clear-groups"];
    const limited = options.descriptors === undefined ? "" : `ulimit -n ${options.descriptors}; `;
    return spawn("sh", ["-c", `${limited}exec "$@"`, "sh", ...(options.wrapper ?? []), ...asUser, ...command], {
      cwd: folder,
      env: environment(options),
      stdio: ["ignore", "pipe", "pipe"],
    });
  }

  const stage: Stage = {
    root,
    folder,
    cache,
    get indexFolder() {
      const shelf = join(cache, "pressmark", "index");
      const [first, ...more] = readdirSync(shelf).filter((name) => /^[0-9a-f]{32}$/.test(name));
      if (first === undefined || more.length > 0) throw new Error(`expected one index in ${shelf}`);
      return join(shelf, first);
    },
    write(path, content) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    },
    onDisk: () =>
      readdirSync(folder, { recursive: true, encoding: "utf8" })
        .filter((path) => statSync(join(folder, path)).isFile())
        .sort(),
    uri: (path) => pathToFileURL(join(folder, path)).href,

    async serve(options = {}) {
      const what = options.config === undefined ? (options.folders ?? [folder]) : ["--config", options.config];
      const child = start(["serve", ...what, "--port", String(options.port ?? 0)], options);
      const server = await toServer(child, folder);
      undoing.push(async () => {
        await server.pressmark.close();
        if (server.isAlive) await server.end("SIGKILL");
      });
      return server;
    },

    async run(words, options = {}) {
      const child = start(words, options);
      const [out, err] = [collect(child.stdout!), collect(child.stderr!)];
      const [code] = (await once(child, "close")) as [number | null];
      return { code, out: await out, err: await err };
    },

    async untilTrue(server, word) {
      await until(
        `list == disk == search for ${word}`,
        async () => {
          const [disk, listed, answer] = [stage.onDisk(), await server.list(), await server.search(word)];
          const { state, problem, mounts } = await server.indexStatus();
          const documents = mounts.reduce((sum, mount) => sum + mount.documents, 0);
          const { names: found, ready, failures } = answer;
          const isListed = JSON.stringify(disk) === JSON.stringify(listed);
          // The tool gives no more than 50 at once.
          const isFound = found.length === Math.min(50, disk.length) && found.every((path) => disk.includes(path));
          const isComplete = state === "complete" && ready === 1 && documents === disk.length && failures === undefined;
          const counts = { disk: disk.length, listed: listed.length, found: found.length, documents };
          return {
            holds: isListed && isFound && isComplete,
            seen: { ...counts, ready, failures, state, problem, mounts },
          };
        },
        60_000,
      );
    },

    cleanUp: (undo) => void undoing.push(undo),

    async close() {
      for (const undo of undoing.toReversed()) await undo();
      rmSync(root, { recursive: true, force: true });
    },
  };
  return stage;
}

async function toServer(child: ChildProcess, folder: string): Promise<ServerProcess> {
  let log = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => (log += text));
  const url = await firstMatch(child, /serves at (\S+)/, () => log);
  const pressmark = await connect(url);
  const call: Call = { caller: { id: "fault" }, signal: new AbortController().signal };
  const isAlive = () => child.exitCode === null && child.signalCode === null;

  async function readJson<T>(uri: string): Promise<T> {
    const [content] = (await pressmark.read(uri, call)).contents;
    return JSON.parse(content && "text" in content.body ? content.body.text : "") as T;
  }

  return {
    pid: child.pid!,
    url,
    pressmark,
    get log() {
      return log;
    },
    get isAlive() {
      return isAlive();
    },
    async search(text, limit = 50) {
      const answer = await pressmark.search({ text, limit }, call);
      return { ...answer, names: answer.hits.map(({ resource }) => pathOf(resource.uri, folder)) };
    },
    async searchInWords(text) {
      return (await pressmark.useTool("search_resources", { query: text }, call)).texts.join("\n");
    },
    indexStatus: () => readJson("pressmark://index/status"),
    status: () => readJson("pressmark://status"),
    read: (uri) => pressmark.read(uri, call),
    lowestFreeDescriptor() {
      const open = new Set(readdirSync(`/proc/${child.pid}/fd`).map(Number));
      let lowest = 0;
      while (open.has(lowest)) lowest += 1;
      return lowest;
    },
    limitFiles: (descriptors) => void execFileSync("prlimit", ["--pid", String(child.pid), `--nofile=${descriptors}:`]),
    async list() {
      const paths: string[] = [];
      for await (const { uri } of walkPages((ask) => pressmark.list(ask, call))) paths.push(pathOf(uri, folder));
      return paths.sort();
    },
    async end(signal) {
      const begun = performance.now();
      if (isAlive()) {
        const exited = once(child, "exit");
        child.kill(signal);
        await exited;
      }
      return { code: child.exitCode, signal: child.signalCode, ms: performance.now() - begun };
    },
  };
}

function pathOf(uri: string, folder: string): string {
  return fileURLToPath(uri).slice(folder.length + 1);
}

/** Asks again and again, and says what it waited for and what it saw last. */
export async function until<T>(
  what: string,
  ask: () => Promise<{ readonly holds: boolean; readonly seen: T }>,
  withinMs = 30_000,
): Promise<T> {
  const untilMs = performance.now() + withinMs;
  for (;;) {
    const { holds, seen } = await ask();
    if (holds) return seen;
    if (performance.now() > untilMs) throw new Error(`waited for ${what}, saw ${JSON.stringify(seen)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function collect(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return text;
}

function firstMatch(child: ChildProcess, pattern: RegExp, log: () => string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let said = "";
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    said += text;
    const found = pattern.exec(said)?.[1];
    if (found !== undefined) resolve(found);
  });
  child.once("error", reject);
  child.once("exit", (code) => reject(new Error(`the command ended with ${code}: ${said}${log()}`)));
  return promise;
}
