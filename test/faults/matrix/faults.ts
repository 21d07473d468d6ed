/** What is done to the product: each fault is injected at a random moment and lifted again. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type ServerProcess, type Stage, type StartOptions, until } from "../stage.ts";
import type { Part, PartDefinition } from "./part.ts";
import { killAll } from "./parts/gateway.ts";

/** What a fault may reach. */
export interface Scene {
  readonly stage: Stage;
  readonly definition: PartDefinition;
  readonly part: Part;
  readonly random: () => number;
  /** The server of now. */
  readonly server: ServerProcess;
  /** Ends the server in good order and starts another, before which `between` is called. */
  restart(between: () => void): Promise<void>;
}

export interface Fault {
  readonly name: string;
  /** Why it cannot be injected on this machine. */
  readonly missing?: string;
  /** Called before anything is opened; gives how the server is started. */
  prepare?(stage: Stage, definition: PartDefinition): StartOptions;
  inject(scene: Scene): Promise<void>;
  lift(scene: Scene): Promise<void>;
  /** Whether a fault of this kind damages files: the part is then repaired as a person would. */
  readonly damagesFiles?: boolean;
}

const isLinux = process.platform === "linux";
const notLinux = isLinux ? undefined : "needs Linux (prlimit, /proc)";

function why(reason: string, attempt: () => void): string | undefined {
  if (!isLinux) return reason;
  try {
    attempt();
    return undefined;
  } catch {
    return reason;
  }
}

const run = (command: string, ...words: readonly string[]) => execFileSync(command, words, { stdio: "pipe" });

const noMount = why("needs root that may mount a tmpfs", () => {
  const folder = mkdtempSync(join(tmpdir(), "pressmark-mount-"));
  try {
    run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder);
    run("umount", folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const inOwnNamespace = ["unshare", "--user", "--map-root-user"];
const noNamespace = why("needs user namespaces, which keep the limit from other processes", () => {
  run(inOwnNamespace[0]!, ...inOwnNamespace.slice(1), "sh", "-c", "echo 0 > /proc/sys/user/max_inotify_watches");
});

const diskOf = (stage: Stage, { folder }: PartDefinition) => join(stage.root, folder!);

/** Makes the folder of the part a disk of its own. */
function mountDisk(stage: Stage, definition: PartDefinition): StartOptions {
  const folder = diskOf(stage, definition);
  mkdirSync(folder, { recursive: true });
  run("mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder);
  stage.cleanUp(() => void run("umount", "--lazy", folder));
  return {};
}

function pick<T>(random: () => number, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

/** The server, or what it depends on. */
function victimOf({ part, random }: Scene): "server" | "upstream" {
  return part.upstream && random() < 0.7 ? "upstream" : "server";
}

const kill: Fault = {
  name: "kill",
  async inject(scene) {
    if (victimOf(scene) === "upstream") await scene.part.upstream!.kill();
    else await scene.server.end("SIGKILL");
  },
  async lift({ part }) {
    await part.upstream?.revive();
  },
};

const paused = new WeakMap<Stage, readonly number[]>();

const pause: Fault = {
  name: "pause",
  missing: notLinux,
  async inject(scene) {
    const pids = victimOf(scene) === "upstream" ? scene.part.upstream!.pids() : [scene.server.pid];
    paused.set(scene.stage, pids);
    killAll(pids, "SIGSTOP");
    await until("all threads to stand still", async () => {
      const running = pids.filter((pid) => existsSync(`/proc/${pid}`) && !isPaused(pid));
      return { holds: running.length === 0, seen: running };
    });
  },
  async lift({ stage }) {
    killAll(paused.get(stage) ?? [], "SIGCONT");
  },
};

/** Whether the process stands still, or has ended. */
export function isPaused(pid: number): boolean {
  try {
    return /^State:\s+[TZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

const diskFull: Fault = {
  name: "disk full",
  missing: noMount,
  prepare: mountDisk,
  async inject({ stage, definition }) {
    const file = join(diskOf(stage, definition), "filling");
    // The server may be writing, too: whoever comes last finds no room.
    for (let bytes = 1024 ** 2; bytes >= 4096;)
      try {
        writeFileSync(file, Buffer.alloc(bytes), { flag: "a" });
      } catch {
        bytes /= 4;
      }
  },
  async lift({ stage, definition }) {
    rmSync(join(diskOf(stage, definition), "filling"), { force: true });
  },
};

const readOnly: Fault = {
  name: "read-only",
  missing: noMount,
  prepare: mountDisk,
  async inject({ stage, definition, restart }) {
    const remount = () => run("mount", "-o", "remount,ro", diskOf(stage, definition));
    try {
      remount();
    } catch {
      // The system refuses while a file is open for writing: it is then found so at the next start.
      await restart(remount);
    }
  },
  async lift({ stage, definition }) {
    run("mount", "-o", "remount,rw", diskOf(stage, definition));
  },
};

const removed: Fault = {
  name: "removed",
  damagesFiles: true,
  async inject({ part, random, server }) {
    const file = pick(random, part.files!());
    if (file !== undefined) rmSync(file, { recursive: true, force: true });
    await part.useFiles?.(server).catch(() => undefined);
  },
  lift: async () => undefined,
};

const garbled: Fault = {
  name: "garbled",
  damagesFiles: true,
  async inject({ part, random, server }) {
    const files = part.files!().filter((each) => existsSync(each) && statSync(each).isFile());
    const file = pick(random, files);
    if (file !== undefined) {
      const { size } = statSync(file);
      // From the start, or from somewhere in the middle; in place, so that whoever has it open sees it.
      const from = random() < 0.5 ? 0 : Math.floor(random() * size);
      const bytes = Buffer.from(Array.from({ length: Math.max(16, size - from) }, () => Math.floor(random() * 256)));
      const whole = Buffer.concat([readFileSync(file).subarray(0, from), bytes]);
      writeFileSync(file, whole, { flag: "r+" });
    }
    await part.useFiles?.(server).catch(() => undefined);
  },
  lift: async () => undefined,
};

const clockFile = (stage: Stage) => join(stage.root, "clock");
const hourMs = 3_600_000;

/** The wall clock of the server is off by what a file says. */
function clock(name: string, sign: number): Fault {
  return {
    name,
    prepare(stage) {
      writeFileSync(clockFile(stage), "0");
      const preload = pathToFileURL(join(import.meta.dirname, "../wall-clock.mjs")).href;
      return { env: { TEST_WALL_CLOCK_FILE: clockFile(stage), NODE_OPTIONS: `--import=${preload}` } };
    },
    async inject({ stage, random }) {
      writeFileSync(clockFile(stage), String(sign * Math.ceil(random() * 30 * 24) * hourMs));
    },
    async lift({ stage }) {
      writeFileSync(clockFile(stage), "0");
    },
  };
}

const descriptors: Fault = {
  name: "few descriptors",
  missing: notLinux,
  async inject({ server, random }) {
    server.limitFiles(server.lowestFreeDescriptor() + 1 + Math.floor(random() * 4));
  },
  async lift({ server }) {
    if (server.isAlive) server.limitFiles(1024);
  },
};

const memory: Fault = {
  name: "little memory",
  missing: notLinux,
  /** What it has is all it gets, and a little more. */
  async inject({ server, random }) {
    const kib = Number(/^VmSize:\s+(\d+)/m.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))![1]);
    run("prlimit", "--pid", String(server.pid), `--as=${(kib + Math.floor(random() * 8192)) * 1024}:`);
  },
  async lift({ server }) {
    if (server.isAlive) run("prlimit", "--pid", String(server.pid), "--as=unlimited:");
  },
};

const inotify: Fault = {
  name: "inotify exhausted",
  missing: noNamespace,
  prepare: () => ({ wrapper: inOwnNamespace }),
  inject: async ({ server }) => limitWatches(server, 0),
  lift: async ({ server }) => limitWatches(server, 10_000),
};

function limitWatches({ pid, isAlive }: ServerProcess, count: number): void {
  if (!isAlive) return;
  const write = ["watches", "instances"].map((what) => `echo ${count} > /proc/sys/user/max_inotify_${what}`);
  run("nsenter", "--user", "--target", String(pid), "sh", "-c", write.join("; "));
}

export const faults = [
  kill,
  pause,
  diskFull,
  readOnly,
  removed,
  garbled,
  clock("clock back", -1),
  clock("clock forward", 1),
  descriptors,
  memory,
  inotify,
] as const satisfies readonly Fault[];
