/** Reads a thousand files of a repository at a commit, or the first page of its log, and says what that took. */
import { execFile, execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import { basename } from "node:path";
import { promisify } from "node:util";
import { cpuMicros } from "../meter.ts";

const [what, how = "", root = ""] = process.argv.slice(2);

interface File {
  readonly path: string;
  readonly hash: string;
}

interface Reader {
  read(files: readonly File[], commit: string): Promise<readonly string[]>;
  close(): Promise<void>;
}

const caller = { id: "bench" };
/** Everyone who asks a server has a signal of their own. */
const call = () => ({ caller, signal: new AbortController().signal });

/** `git cat-file --batch` alone: all hashes are written at once, and its output is cut into texts. */
function byBatch(): Reader {
  const child = spawn("git", ["-C", root, "cat-file", "--batch"], { stdio: ["pipe", "pipe", "inherit"] });
  return {
    async read(files) {
      const texts: string[] = [];
      let rest: Buffer = Buffer.alloc(0);
      child.stdin.write(`${files.map(({ hash }) => hash).join("\n")}\n`);
      for await (const piece of child.stdout.iterator({ destroyOnReturn: false })) {
        rest = rest.length === 0 ? (piece as Buffer) : Buffer.concat([rest, piece as Buffer]);
        for (;;) {
          const end = rest.indexOf(10);
          if (end < 0) break;
          const size = Number(rest.toString("latin1", rest.lastIndexOf(32, end) + 1, end));
          if (rest.length < end + size + 2) break;
          texts.push(rest.toString("utf8", end + 1, end + 1 + size));
          rest = rest.subarray(end + size + 2);
        }
        if (texts.length === files.length) break;
      }
      return texts;
    },
    close: async () => void child.kill(),
  };
}

async function bySource(): Promise<Reader> {
  const { default: definition } = await import("../../src/sources/git.ts");
  const runtime = {
    env: process.env,
    now: Date.now,
    monotonicMs: () => performance.now(),
    wait: async () => {},
    log: () => {},
  };
  const source = await definition.open({ root }, runtime);
  return {
    read: (files, commit) =>
      Promise.all(
        files.map(async ({ path }) => {
          const [part] = await source.read({ path: `blob/${commit}/${path}` }, call());
          return (part!.body as { readonly text: string }).text;
        }),
      ),
    close: async () => await source.close?.(),
  };
}

async function byServer(): Promise<Reader & { log(): Promise<number> }> {
  const { openServer } = await import("pressmark");
  const pressmark = await openServer({ folders: [root], from: root, env: process.env, err: process.stderr });
  const text = async (path: string) => {
    const { contents } = await pressmark.resources.read(`git://${basename(root)}/${path}`, call());
    return (contents[0]!.body as { readonly text: string }).text;
  };
  return {
    read: (files, commit) => Promise.all(files.map(({ path }) => text(`blob/${commit}/${path}`))),
    log: async () => (JSON.parse(await text("log")) as { commits: unknown[] }).commits.length,
    close: () => pressmark.close(),
  };
}

async function byIsomorphicGit(): Promise<Reader> {
  const { readBlob } = await import("isomorphic-git");
  const cache = {};
  return {
    read: (files, oid) =>
      Promise.all(
        files.map(async ({ path: filepath }) => {
          const { blob } = await readBlob({ fs, dir: root, oid, filepath, cache });
          return Buffer.from(blob).toString();
        }),
      ),
    close: async () => {},
  };
}

/** Four at a time, as many as keep two processors busy. */
function byProcess(): Reader {
  const run = promisify(execFile);
  return {
    async read(files, commit) {
      const texts: string[] = [];
      let next = 0;
      const work = async () => {
        for (let file = files[next++]; file; file = files[next++])
          texts.push((await run("git", ["-C", root, "show", `${commit}:${file.path}`])).stdout);
      };
      await Promise.all([work(), work(), work(), work()]);
      return texts;
    },
    close: async () => {},
  };
}

const readers: Readonly<Record<string, () => Reader | Promise<Reader>>> = {
  "cat-file --batch": byBatch,
  pressmark: bySource,
  "pressmark, the house": byServer,
  "isomorphic-git": byIsomorphicGit,
  "a process each": byProcess,
};

function git(...args: readonly string[]): string {
  return execFileSync("git", ["-C", root, ...args], { maxBuffer: 1e8 }).toString();
}

/** Each turn reads another thousand files at another commit: what was read before may be remembered. */
async function blobs(): Promise<{ wallMs: number; cpuMs: number }[]> {
  const slow = how === "isomorphic-git" ? 1 : how === "a process each" ? 10 : 0;
  const turns = slow > 0 ? 2 : 60;
  const commits = git("rev-list", `--max-count=${turns}`, "main").trim().split("\n");
  const files = git("ls-tree", "-r", "-z", "main")
    .split("\0")
    .flatMap((line) => {
      const [facts = "", path] = line.split("\t");
      return path === undefined ? [] : [{ path, hash: facts.split(" ")[2]! }];
    });
  const reader = await readers[how]!();
  const taken = [];
  for (const [turn, commit] of commits.entries()) {
    const from = (turn % 3) * 1000;
    // A tenth stands for all where each is as slow as the next.
    const asked = files.slice(from, from + 1000 / Math.max(1, slow));
    const cpu = cpuMicros(process.pid);
    const begun = performance.now();
    const texts = await reader.read(asked, commit);
    const share = 1000 / asked.length;
    const wallMs = (performance.now() - begun) * share;
    const cpuMs = how === "a process each" ? Number.NaN : (cpuMicros(process.pid) - cpu) / 1000;
    if (texts.length !== asked.length || texts.some((text) => !text.startsWith("line of file")))
      throw new Error(`${how} gave something else`);
    // The first half starts what goes on, and counts for nothing.
    if (turn >= turns / 2) taken.push({ wallMs, cpuMs });
  }
  await reader.close();
  return taken;
}

async function log(): Promise<{ wallMs: number; cpuMs: number }[]> {
  const pressmark = await byServer();
  const taken = [];
  for (let page = 0; page < 20; page++) {
    const begun = performance.now();
    if ((await pressmark.log()) !== 50) throw new Error("the page has another length");
    if (page >= 10) taken.push({ wallMs: performance.now() - begun, cpuMs: Number.NaN });
  }
  await pressmark.close();
  return taken;
}

console.log(JSON.stringify(what === "log" ? await log() : await blobs()));
