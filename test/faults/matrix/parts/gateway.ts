/** Another MCP server behind this one: a second Pressmark over HTTP, or as a program that the first one starts. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { once } from "node:events";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ServerProcess, Stage } from "../../stage.ts";
import { listNames, type Part, type PartDefinition, readText, searchNames } from "../part.ts";

const program = join(import.meta.dirname, "../../../../bin/pressmark.js");

/** Process ids of the children of a process, theirs included. */
export function descendantsOf(pid: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]));
    } catch {
      // It ended meanwhile.
    }
  }
  const below = (parent: number): number[] =>
    [...parents].flatMap(([child, its]) => (its === parent ? [child, ...below(child)] : []));
  return below(pid);
}

export function killAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It ended meanwhile.
    }
  }
}

const nameOf = (uri: string) => (uri.startsWith("mcp://far/file:") ? basename(decodeURI(uri)) : undefined);

/** What both kinds share: files of a folder that the other server serves. */
function filesBehind(
  stage: Stage,
  folder: string,
): Pick<Part, "put" | "remove" | "list" | "search" | "read" | "watches"> {
  mkdirSync(folder, { recursive: true });
  const uriOf = (name: string) =>
    `mcp://far/${pathToFileURL(join(folder, name)).href.replace("file:///", "file:%2F%2F/")}`;
  return {
    async put(name, text) {
      writeFileSync(join(folder, name), text);
    },
    async remove(name) {
      rmSync(join(folder, name), { force: true });
    },
    list: (server) => listNames(server, nameOf),
    search: (server) => searchNames(server, nameOf),
    read: (server, name) => readText(server, uriOf(name)),
    watches: (name) => ({ uris: [uriOf(name)] }),
  };
}

function writeConfig(stage: Stage, mount: object): string {
  const config = join(stage.root, "pressmark.config.json");
  writeFileSync(config, JSON.stringify({ mounts: { far: { source: "mcp", timeoutMs: 3000, ...mount } } }));
  return config;
}

const stateOf = (stage: Stage) => ({
  XDG_CACHE_HOME: join(stage.root, "far-cache"),
  XDG_STATE_HOME: join(stage.root, "far-state"),
});

export const gatewayProgram: PartDefinition = {
  name: "gateway (program)",
  isSlowToPause: true,

  async open(stage) {
    const folder = join(stage.root, "far");
    const script = join(stage.root, "program", "start.mjs");
    mkdirSync(join(stage.root, "program"));
    writeFileSync(`${script}.copy`, `process.argv.splice(2, 0, "stdio");\nawait import(${JSON.stringify(program)});\n`);
    copyFileSync(`${script}.copy`, script);
    const mount = { command: process.execPath, args: [script, folder], env: stateOf(stage) };
    const config = writeConfig(stage, mount);
    let server: ServerProcess;
    const children = () => descendantsOf(server.pid);
    return {
      ...filesBehind(stage, folder),
      start: async (options) => (server = await stage.serve({ ...options, config })),
      files: () => [script],
      /** It is started again, and then its file counts. */
      useFiles: async () => killAll(children(), "SIGKILL"),
      async repair() {
        copyFileSync(`${script}.copy`, script);
      },
      upstream: {
        pids: children,
        kill: async () => killAll(children(), "SIGKILL"),
        revive: async () => undefined,
      },
    };
  },
};

export const gatewayHttp: PartDefinition = {
  name: "gateway (HTTP)",
  isSlowToPause: true,

  async open(stage) {
    const folder = join(stage.root, "far");
    const files = filesBehind(stage, folder);
    const startFar = (port: number) => stage.serve({ folders: [folder], port, env: stateOf(stage) });
    let far = await startFar(0);
    const port = Number(new URL(far.url).port);
    const config = writeConfig(stage, { url: far.url });
    let garbling: Server | undefined;
    const stopGarbling = async () => {
      if (!garbling) return;
      const closed = once(garbling, "close");
      garbling.close();
      garbling = undefined;
      await closed;
    };
    return {
      ...files,
      start: (options) => stage.serve({ ...options, config }),
      files: () => [],
      /** Something else answers at its address, and not in its language. */
      async useFiles() {
        await far.end("SIGKILL");
        garbling = createServer((socket) => {
          socket.on("error", () => undefined);
          socket.once("data", () => socket.end(`HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"garbled`));
        });
        garbling.listen(port, "127.0.0.1");
        await once(garbling, "listening");
      },
      async repair() {
        await stopGarbling();
        if (!far.isAlive) far = await startFar(port);
      },
      upstream: {
        pids: () => [far.pid],
        kill: async () => void (await far.end("SIGKILL")),
        async revive() {
          if (!far.isAlive) far = await startFar(port);
        },
      },
      close: stopGarbling,
    };
  },
};
