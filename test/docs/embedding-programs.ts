/** The programs of docs/embedding.md, started in any folder where their packages can be found. */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";

const page = new URL("../../docs/embedding.md", import.meta.url);

/** By file name: each is a block of code whose first line is a comment with it. */
export function readPrograms(markdown = readFileSync(page, "utf8")): ReadonlyMap<string, string> {
  const blocks = markdown.matchAll(/^```js\n(\/\/ (\S+\.js)\n.*?)^```$/gms);
  return new Map(Array.from(blocks, ([, text = "", name = ""]) => [name, text]));
}

export interface RunningProgram extends AsyncDisposable {
  /** The endpoint, as the program prints it. */
  readonly url: URL;
  /** What clients must send. */
  readonly key: string;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
}

/** Writes a program to the folder as it is, and starts it on a free port. */
export async function startProgram(folder: string, name: string): Promise<RunningProgram> {
  const text = readPrograms().get(name);
  if (text === undefined) throw new Error(`docs/embedding.md has no program ${name}`);
  const file = join(folder, name);
  await writeFile(file, text);
  const key = randomBytes(16).toString("hex");
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    env: { ...process.env, NOTES_KEY: key, PORT: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit") as Promise<[number | null]>;
  const url = await firstLine(child, name);

  return {
    url: new URL(url),
    key,
    async stop() {
      child.kill("SIGTERM");
      return (await exited)[0];
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function firstLine({ stdout, stderr }: ChildProcess, name: string): Promise<string> {
  if (!stdout || !stderr) throw new Error(`${name} has no output`);
  let errors = "";
  stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  for await (const line of createInterface(stdout)) return line;
  throw new Error(`${name} ended before it printed its URL: ${errors}`);
}
