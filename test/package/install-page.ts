/** Runs the lines of docs/install.md, and what they have installed. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { packedFile } from "./project.ts";

const page = readFileSync(new URL("../../docs/install.md", import.meta.url), "utf8");
export const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

/** The blocks of lines that the page shows, in order. The first one is what .ci/run does: install, build; and `packedFile` packs. */
const [build, global, local, removeGlobal, removeLocal, removeFolders, ...more] = Array.from(
  page.matchAll(/^```sh\n(.*?)^```$/gms),
  ([, lines]) => lines!,
);
export const installLines = { build, global, local, removeGlobal, removeLocal, removeFolders, more };

interface RpcRequest {
  readonly method: string;
  readonly params?: object;
  /** Repeats the request until its result is this one. */
  readonly until?: (result: unknown) => boolean;
}

export interface InstallFolder extends AsyncDisposable {
  readonly folder: string;
  /** The user's home folder. */
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
  /** Runs lines in a shell that stops at the first failure; returns what they print. Throws if one fails. */
  run(lines: string | undefined): Promise<string>;
  /** Starts the installed command over stdio; returns the results of these requests in order. */
  request(command: string, requests: readonly RpcRequest[]): Promise<readonly unknown[]>;
}

/** An empty folder and an empty home, with the packed file, for a user of this Node. */
export function createInstallFolder(node = process.execPath): InstallFolder {
  const base = mkdtempSync(join(tmpdir(), "pressmark-install-"));
  const [folder, home, prefix] = ["folder", "home", "prefix"].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  for (const each of [folder, home, prefix]) mkdirSync(each);
  copyFileSync(packedFile(), join(folder, `pressmark-${version}.tgz`));
  writeFileSync(join(folder, "kettle.md"), "# Kettle\n\nIt boils at a hundred degrees.\n");
  // npm of the machine, run by this Node, with the machine's settings and cache.
  const ofNpm = {
    npm_config_prefix: prefix,
    npm_config_userconfig: process.env["npm_config_userconfig"] ?? join(homedir(), ".npmrc"),
    npm_config_cache: process.env["npm_config_cache"] ?? join(homedir(), ".npm"),
    npm_config_prefer_offline: "true",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
  };
  const path = [dirname(node), join(prefix, "bin"), process.env["PATH"] ?? ""].join(delimiter);
  // npm's global settings are below the prefix, and those of the machine may name the certificate of the registry.
  const authorities = process.env["NODE_EXTRA_CA_CERTS"];
  const env = { PATH: path, HOME: home, ...ofNpm, ...(authorities && { NODE_EXTRA_CA_CERTS: authorities }) };
  return {
    folder,
    home,
    env,
    async run(lines) {
      if (lines === undefined) throw new Error("docs/install.md has no such lines");
      const { stdout } = await promisify(execFile)("sh", ["-ec", lines], { cwd: folder, env });
      return stdout;
    },
    async request(command, requests) {
      const child = spawn("sh", ["-c", `exec ${command}`], { cwd: folder, env, stdio: ["pipe", "pipe", "pipe"] });
      const exited = once(child, "exit");
      let errors = "";
      child.stderr.on("data", (chunk) => (errors += String(chunk)));
      const results: unknown[] = [];
      const answers = createInterface(child.stdout)[Symbol.asyncIterator]();
      let id = 0;
      async function ask(request: object): Promise<unknown> {
        id += 1;
        child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...request })}\n`);
        for (;;) {
          const { value, done } = (await answers.next()) as { readonly value?: string; readonly done?: boolean };
          if (done) throw new Error(`${command} ended: ${errors}`);
          const message = JSON.parse(value!) as { readonly id?: number; readonly result?: unknown };
          if (message.id === id) return message.result ?? message;
        }
      }
      for (const { until = () => true, ...request } of requests) {
        let result = await ask(request);
        while (!until(result)) result = await ask(request);
        results.push(result);
      }
      child.stdin.end();
      await exited;
      return results;
    },
    async [Symbol.asyncDispose]() {
      rmSync(base, { recursive: true, force: true });
    },
  };
}
