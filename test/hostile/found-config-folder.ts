/** A folder with a config that a person trusted, and what may become of both: whatever comes with it says "canary". */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { DatabaseSync } from "node:sqlite";

const entry = join(import.meta.dirname, "../../bin/pressmark.js");

export interface Ran {
  readonly out: string;
  readonly err: string;
}

export interface FoundFolder extends AsyncDisposable {
  readonly path: string;
  /** Makes these changes, and writes the config that comes of them. */
  change(changes: readonly Change[]): void;
  /** The command as a process; `input` is what it is told before its input ends. */
  run(words: readonly string[], input?: string): Promise<Ran>;
  /** The same for what goes on until it is stopped. */
  start(words: readonly string[]): Started;
  /** All that programs of the folder did, and all that was sent elsewhere. */
  deeds(): string;
}

export interface Started {
  /** Resolves once it has said this, on either stream. */
  until(text: string): Promise<void>;
  readonly said: string;
  stop(): Promise<void>;
}

type Config = Record<string, Record<string, unknown>>;

/** What a stranger does to a config, or to what it names, after it was trusted. */
export interface Change {
  readonly name: string;
  config?(config: Config): void;
  folder?(path: string): void;
}

/** A server of its own, which says that it was started. */
const program = (mark: string) =>
  `import { appendFileSync } from "node:fs"; appendFileSync("../ran", "${mark} " + process.pid + "\\n");
   process.argv.splice(2, Infinity, "stdio", "led"); await import(${JSON.stringify(pathToFileURL(entry).href)});`;
/** The path is computed: trust covers files that are named, and this one changes with each run. */
const helper = (mark: string) =>
  `import { appendFileSync } from "node:fs"; appendFileSync(new URL(["..", "..", "ran"].join("/"), import.meta.url), "${mark}\\n");`;

const modules = "node_modules/pressmark-source";
const foreign = (mark: string) => `process.getBuiltinModule("node:fs").appendFileSync("../ran", "${mark}\\n");
  export default { name: "foreign", summary: "x", scheme: "foreign", options: (z) => z.looseObject({}),
    open: async () => ({ list: async () => ({ items: [{ path: "${mark}" }] }), read: async () => [{ body: { text: "x" } }] }) };`;

export const changes: readonly Change[] = [
  {
    name: "another root for hidden names",
    config: ({ mounts }) => void (mounts!["h"] = { ...(mounts!["h"] as object), root: "other" }),
  },
  {
    name: "another database",
    config: ({ mounts }) => void (mounts!["db"] = { ...(mounts!["db"] as object), path: "two.sqlite" }),
  },
  {
    name: "all of the environment",
    config: ({ mounts }) => void (mounts!["c"] = { source: "config", root: ".", env: true, show: ["*"] }),
  },
  { name: "another program", folder: (path) => writeFileSync(join(path, "server.mjs"), program("canary-program")) },
  {
    name: "another import of a source",
    folder: (path) => writeFileSync(join(path, "lib/helper.mjs"), helper("canary-import")),
  },
  {
    name: "another program in a package",
    folder: (path) => writeFileSync(join(path, `${modules}-kept/index.js`), foreign("canary-package")),
  },
  {
    name: "one more package",
    config: ({ mounts }) => void (mounts!["k2"] = { source: "pressmark-source-new", search: false }),
  },
  {
    name: "another variable",
    config: ({ mounts }) => void (mounts!["m"] = { source: "memory", resources: { x: "${env:CANARY_VARIABLE}" } }),
  },
  {
    name: "another content of a file that is referred to",
    folder: (path) => writeFileSync(join(path, "note.txt"), "canary-note"),
  },
  {
    name: "another end of a link",
    folder(path) {
      rmSync(join(path, "link"));
      symlinkSync("../outside", join(path, "link"));
    },
  },
  {
    name: "another key to be sent",
    config({ search }) {
      const { embeddings } = search as { embeddings: object };
      search!["embeddings"] = { ...embeddings, apiKey: "${env:CANARY_VARIABLE}" };
    },
  },
  {
    name: "an ignored folder",
    config: ({ mounts }) => void (mounts!["b"] = { source: "file", root: "build", scheme: "b" }),
  },
  {
    name: "one more program",
    config: ({ mounts }) =>
      void (mounts!["q"] = { source: "mcp", command: process.execPath, args: ["second.mjs"], cwd: "." }),
  },
  {
    name: "one more reference",
    config: ({ mounts }) =>
      void (mounts!["r"] = {
        source: "memory",
        resources: { x: "${env:CANARY_VARIABLE}", y: "${file:../outside/o.md}", z: "${file:.env}" },
      }),
  },
  {
    name: "a folder elsewhere",
    config: ({ mounts }) => void (mounts!["out"] = { source: "file", root: "../outside", scheme: "out" }),
  },
  {
    name: "a shared database and a bus",
    config: (config) => void (config["server"] = { state: "${env:CANARY_STATE}", bus: "${env:CANARY_BUS}" }),
  },
];

/** What would hold a canary, if it were served. */
export const addresses = [
  "h://h/.canary-name.md",
  "db://db/t/rows",
  "config://env",
  "config://effective",
  "memory://m/x",
  "memory://m/n",
  "l://l/o.md",
  "b://b/i.md",
  "memory://r/x",
  "memory://r/y",
  "memory://r/z",
  "out://out/o.md",
];

export async function createFoundFolder(): Promise<FoundFolder> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-found-")));
  const path = join(root, "project");
  const sent: string[] = [];
  const endpoint: Server = createServer((request, response) => {
    sent.push(JSON.stringify(request.headers));
    request.setEncoding("utf8").on("data", (text: string) => sent.push(text));
    request.on("end", () => response.writeHead(500).end("{}"));
  });
  endpoint.listen(0, "127.0.0.1");
  await once(endpoint, "listening");
  const { port } = endpoint.address() as AddressInfo;
  /** Stands for a database and a bus of a stranger. */
  const engine = createTcpServer((socket) => {
    sent.push("canary-connection");
    socket.destroy();
  });
  engine.listen(0, "127.0.0.1");
  await once(engine, "listening");
  const enginePort = (engine.address() as AddressInfo).port;
  for (const name of [
    "docs",
    "kept",
    "led",
    "other",
    "build",
    "lib",
    "../outside",
    "../home",
    `${modules}-kept`,
    `${modules}-new`,
  ])
    mkdirSync(join(path, name), { recursive: true });
  const files: Readonly<Record<string, string>> = {
    "docs/a.md": "harmless words",
    "kept/.granted-name.md": "granted-hidden",
    "led/g.md": "granted-link",
    "other/.canary-name.md": "canary-hidden",
    "build/i.md": "canary-ignored",
    ".env": "canary-env-file",
    ".gitignore": "build/\n",
    "../outside/o.md": "canary-outside",
    "note.txt": "granted-note",
    "server.mjs": program("granted-program"),
    "second.mjs": program("canary-second-program"),
    "lib/helper.mjs": helper("granted-import"),
    "own.mjs": `import "./lib/helper.mjs";
      export default { name: "own", summary: "x", scheme: "own", options: (z) => z.looseObject({}),
        open: async () => ({ list: async () => ({ items: [{ path: "granted-entry" }] }), read: async () => [{ body: { text: "x" } }] }) };`,
    [`${modules}-kept/index.js`]: foreign("granted-package"),
    [`${modules}-kept/package.json`]: '{"version":"1.0.0","type":"module"}',
    [`${modules}-new/index.js`]: foreign("canary-new-package"),
    [`${modules}-new/package.json`]: '{"version":"1.0.0","type":"module"}',
    "../ran": "",
  };
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  for (const [name, row] of [
    ["one.sqlite", "granted-row"],
    ["two.sqlite", "canary-row"],
  ] as const) {
    const database = new DatabaseSync(join(path, name));
    database.exec(`create table t (v text); insert into t values ('${row}')`);
    database.close();
  }
  symlinkSync("led", join(path, "link"));
  const base: Config = {
    mounts: {
      docs: { source: "file", root: "docs" },
      h: { source: "file", root: "kept", hidden: true, scheme: "h" },
      db: { source: "sqlite", path: "one.sqlite", rows: true, scheme: "db" },
      c: { source: "config", root: ".", env: ["PUBLIC_*"], show: ["PUBLIC_*"] },
      p: { source: "mcp", command: process.execPath, args: ["server.mjs"], cwd: ".", search: false },
      o: { source: "./own.mjs", search: false },
      k: { source: "pressmark-source-kept", search: false },
      m: { source: "memory", resources: { x: "${env:PUBLIC_NAME}", n: "${file:note.txt}" } },
      l: { source: "file", root: "link", hidden: true, scheme: "l" },
    },
    search: { embeddings: { url: `http://127.0.0.1:${port}/v1`, model: "m", apiKey: "${env:PUBLIC_NAME}" } },
  };
  const env = {
    PATH: process.env["PATH"],
    HOME: join(root, "home"),
    XDG_STATE_HOME: join(root, "state"),
    XDG_CACHE_HOME: join(root, "cache"),
    PUBLIC_NAME: "granted-variable",
    CANARY_VARIABLE: "canary-variable",
    CANARY_STATE: `postgres://canary@127.0.0.1:${enginePort}/canary`,
    CANARY_BUS: `nats://127.0.0.1:${enginePort}`,
    PRESSMARK_LOG: "info",
  };
  const config = structuredClone(base);
  const running = new Set<ChildProcess>();

  function write(): void {
    writeFileSync(join(path, "pressmark.config.json"), JSON.stringify(config));
  }

  function launch(words: readonly string[]) {
    const child = spawn(process.execPath, [entry, ...words], { cwd: path, env, stdio: "pipe" });
    const heard = { out: "", err: "" };
    const listeners = new Set<() => void>();
    for (const name of ["out", "err"] as const)
      child[name === "out" ? "stdout" : "stderr"].setEncoding("utf8").on("data", (text: string) => {
        heard[name] += text;
        for (const listener of listeners) listener();
      });
    running.add(child);
    const ended = once(child, "close").finally(() => running.delete(child));
    return { child, heard, listeners, ended };
  }

  write();
  return {
    path,
    change(all) {
      for (const each of all) {
        each.config?.(config);
        each.folder?.(path);
      }
      write();
    },
    async run(words, input = "") {
      const { child, heard, ended } = launch(words);
      child.stdin.end(input);
      await ended;
      return heard;
    },
    start(words) {
      const { child, heard, listeners, ended } = launch(words);
      return {
        get said() {
          return heard.out + heard.err;
        },
        until(text) {
          const isSaid = () => this.said.includes(text);
          return new Promise((resolve, reject) => {
            const look = () => isSaid() && resolve();
            listeners.add(look);
            void ended.then(() => reject(new Error(`it ended before it said ${JSON.stringify(text)}: ${this.said}`)));
            look();
          });
        },
        async stop() {
          child.kill("SIGTERM");
          await ended;
        },
      };
    },
    deeds: () => readFileSync(join(root, "ran"), "utf8") + sent.join("\n"),
    async [Symbol.asyncDispose]() {
      for (const child of running) child.kill("SIGKILL");
      endpoint.closeAllConnections();
      endpoint.close();
      engine.close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
