/** Who takes part, how each is started, and what each can be asked. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";
import { smallBytes } from "./fixture.ts";
import type { Era } from "./questions.ts";

export type Transport = "http" | "stdio";

export interface Stand {
  readonly folder: string;
  readonly pageSize: number;
  /** A free port, for those who cannot choose one themselves. */
  readonly port: number;
}

export interface Start {
  /** Absent for Node. */
  readonly program?: string | undefined;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** Sent with each request, as a bearer token. */
  readonly token?: string;
}

export interface Contestant {
  readonly name: string;
  readonly eras: readonly Era[];
  /** Whether it can give a list in pages. */
  readonly pages: boolean;
  /** Whether it serves `subscriptions/listen`. */
  readonly listens: boolean;
  /** Whether it serves the files of the fixture; else the URI that it is asked for, and the bytes behind it. */
  readonly own?: { readonly uri: string; readonly bytes: number };
  /** What share of the requests of a round it is given: a slow one needs fewer for the same certainty. */
  readonly share: number;
  /** How many times as large as the first page later ones become; they stay as large unless said. */
  readonly growth?: number;
  command(transport: Transport, stand: Stand): Start;
}

const here = dirname(fileURLToPath(import.meta.url));
const built = join(here, "results", "contestants");
const packages = join(here, "..", "node_modules");
export const walkScript = join(built, "walk.js");
export const gitScript = join(built, "git.js");

/** Plain JavaScript, so that nobody's start-up or memory holds a TypeScript compiler. */
export async function buildContestants(): Promise<void> {
  const folder = join(here, "contestants");
  await build({
    input: readdirSync(folder).map((file) => join(folder, file)),
    platform: "node",
    // Packages stay where they are, as they would in a server of their user's.
    external: (id) => !id.startsWith(".") && !id.startsWith("/"),
    output: { dir: built, format: "esm", entryFileNames: "[name].js" },
  });
}

function own(script: string): Contestant["command"] {
  return (transport, { folder, pageSize }) => ({ args: [join(built, script), transport, folder, String(pageSize)] });
}

function pressmark(transport: Transport, { folder, pageSize }: Stand): Start {
  const start = [
    join(here, "..", "bin", "pressmark.js"),
    ...(transport === "stdio" ? ["stdio"] : ["serve", "--port", "0"]),
  ];
  if (pageSize === 1000) return { args: [...start, folder] };
  // The size of pages is said in a config, which must be trusted before it serves another folder than its own.
  const cwd = join(dirname(folder), "configs", `${basename(folder)}-${pageSize}`);
  const state = join(dirname(folder), "state");
  const env = { XDG_STATE_HOME: state, XDG_CACHE_HOME: state };
  const config = { mounts: { files: { source: "file", root: folder } }, server: { pageSize } };
  mkdirSync(cwd, { recursive: true });
  writeFileSync(join(cwd, "pressmark.config.json"), JSON.stringify(config));
  execFileSync(process.execPath, [start[0]!, "trust", cwd, "--yes"], { env: { ...process.env, ...env } });
  return { args: start, env, cwd };
}

/** Answers every request the same; what any server that starts Node and listens has to pay. */
const nothingHttp =
  'require("node:http").createServer((q,r)=>{q.resume();r.writeHead(200,{"content-type":"application/json"});' +
  'r.end(\'{"jsonrpc":"2.0","id":1,"result":{}}\')})' +
  '.listen(0,"127.0.0.1",function(){console.log(`http://127.0.0.1:${this.address().port}/mcp`)})';

const everythingDocs = join(packages, "@modelcontextprotocol", "server-everything", "dist");

export const contestants: readonly Contestant[] = [
  { name: "bare", eras: ["modern", "legacy"], pages: true, listens: true, share: 1, command: own("bare.js") },
  {
    name: "pressmark",
    eras: ["modern", "legacy"],
    pages: true,
    listens: true,
    share: 1,
    growth: 20,
    command: pressmark,
  },
  { name: "sdk v2", eras: ["modern", "legacy"], pages: true, listens: true, share: 0.25, command: own("sdk-v2.js") },
  { name: "sdk v1", eras: ["legacy"], pages: true, listens: false, share: 0.25, command: own("sdk-v1.js") },
  {
    name: "fastmcp",
    eras: ["legacy"],
    pages: false,
    listens: false,
    share: 0.25,
    command: (transport, { folder, port }) => ({
      args: [join(built, "fastmcp.js"), transport, folder, String(port)],
    }),
  },
  {
    name: "server-everything",
    eras: ["legacy"],
    pages: false,
    listens: false,
    // It serves documents of its own; this is the one nearest to 1 KiB.
    own: { uri: "demo://resource/static/document/extension.md", bytes: 900 },
    share: 0.25,
    command: (transport, { port }) => ({
      args: [join(everythingDocs, "index.js"), transport === "stdio" ? "stdio" : "streamableHttp"],
      env: { PORT: String(port) },
    }),
  },
];

/** Serves files through tools: the same reads in other words. */
export const filesystemServer: Contestant = {
  name: "server-filesystem",
  eras: ["legacy"],
  pages: false,
  listens: false,
  share: 0.25,
  command: (_, { folder }) => ({
    args: [join(packages, "@modelcontextprotocol", "server-filesystem", "dist", "index.js"), folder],
  }),
};

/** The measure of start-up: `node -e` with a listening server and nothing else. */
export const nothing: Contestant = {
  name: "node -e",
  eras: ["modern"],
  pages: false,
  listens: false,
  own: { uri: "none:", bytes: 0 },
  share: 1,
  command: () => ({ args: ["-e", nothingHttp] }),
};

export function bytesOf(contestant: Contestant, bytes: number): number {
  return contestant.own && bytes === smallBytes ? contestant.own.bytes : bytes;
}
