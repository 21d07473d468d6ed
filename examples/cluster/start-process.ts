/** Processes of the cluster: where each runs, when it is ready, and how it ends. */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type AddressInfo } from "node:net";

/** Where a process runs. */
export interface Host {
  readonly address: string;
  /** Words before the command, for example `ip netns exec NAME`. */
  readonly enter: readonly string[];
}

export const loopback: Host = { address: "127.0.0.1", enter: [] };

export interface StartedProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  /** The last lines that it has written. */
  readonly output: string;
  readonly isRunning: boolean;
  /** Sends the signal and resolves when the process has ended; SIGKILL follows after 10 seconds. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

export interface ProcessOptions {
  readonly host: Host;
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** What it writes once it is ready. */
  readonly ready: RegExp;
}

const limitMs = 60_000;

/** Resolves when the process is ready. */
export async function startProcess(
  command: readonly string[],
  { host, env, cwd, ready }: ProcessOptions,
): Promise<StartedProcess> {
  const [program, ...args] = [...host.enter, ...command];
  // A group of its own: Ctrl-C reaches this program alone, which then ends the others in order.
  const child = spawn(program!, args, { stdio: ["ignore", "pipe", "pipe"], env, cwd, detached: true });
  let output = "";
  const ended = new Promise<void>((resolve) => {
    child.once("error", () => resolve());
    child.once("exit", () => resolve());
  });
  const isRunning = (): boolean => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  const started: StartedProcess = {
    child,
    get pid() {
      return child.pid ?? 0;
    },
    get output() {
      return output;
    },
    get isRunning() {
      return isRunning();
    },
    async end(signal = "SIGTERM") {
      if (!isRunning()) return;
      // The group: workers of a killed proxy would continue without it.
      if (signal === "SIGKILL") process.kill(-child.pid!, signal);
      else child.kill(signal);
      // A paused process receives the signal only when it continues.
      child.kill("SIGCONT");
      const force = setTimeout(() => child.kill("SIGKILL"), 10_000);
      await ended;
      clearTimeout(force);
    },
  };
  const isReady = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(-20_000);
        if (ready.test(output)) resolve();
      });
    }
  });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`it is not ready after ${limitMs / 1000} s`)), limitMs);
  try {
    await Promise.race([
      isReady,
      late.promise,
      ended.then(() => {
        throw new Error("it ended");
      }),
    ]);
  } catch (cause) {
    await started.end("SIGKILL");
    throw new Error(`${command.slice(0, 4).join(" ")} did not start: ${output.slice(-2000)}`, { cause });
  } finally {
    clearTimeout(timer);
  }
  return started;
}

/** A port of this machine that nothing uses at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
