/** Runs real hosts, each with settings of its own, also at a terminal. */
import { execFile, spawn, spawnSync } from "node:child_process";
import { type HostProgram, programOf } from "../interop/hosts/install.ts";

export function hasScript(): boolean {
  return spawnSync("script", ["--version"], { stdio: "ignore" }).error === undefined;
}

export interface HostOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Everything that it prints. */
export function runHost(name: HostProgram, words: readonly string[], options: HostOptions): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile(programOf(name), words, { ...options, timeout: 60_000 }, (_, out, err) =>
      resolve(out + err),
    );
    child.stdin?.end();
  });
}

/** Runs it at a terminal, and calls `shown` with the first URL of an authorization server that it prints. */
export function runHostAtTerminal(
  name: HostProgram,
  words: readonly string[],
  options: HostOptions,
  shown: (url: string) => void,
): Promise<string> {
  const command = [programOf(name), ...words].join(" ");
  // Wide, so that the URL is not wrapped.
  const child = spawn("script", ["-qec", `stty cols 4000; ${command}`, "/dev/null"], options);
  let printed = "";
  let isShown = false;
  const ended = new Promise<string>((resolve) => child.once("exit", () => resolve(printed)));
  const late = setTimeout(() => child.kill("SIGKILL"), 60_000);
  void ended.then(() => clearTimeout(late));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    // oxlint-disable-next-line no-control-regex -- the terminal's own
    const url = /https?:\/\/[^\s\u001B\u0007]+response_type=code[^\s\u001B\u0007]*(?=[\s\u001B\u0007])/.exec(
      printed,
    )?.[0];
    if (url === undefined || isShown) return;
    isShown = true;
    shown(url);
  });
  return ended;
}
