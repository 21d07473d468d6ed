/** The server that is attacked: a real folder and a memory behind every transport, with something in it that must not get out. */
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openPolicy } from "../../src/access/policy.ts";
import { stack } from "../../src/layer.ts";
import { standardLayers } from "../../src/layers/standard.ts";
import { createProtocol } from "../../src/protocol/create-protocol.ts";
import type { Protocol } from "../../src/protocol/protocol.ts";
import type { Prompt } from "../../src/protocol/prompts.ts";
import { createReadingTools } from "../../src/protocol/tools/reading-tools.ts";
import type { Tool } from "../../src/protocol/tools.ts";
import { createWatchQuota, type WatchQuotaOptions } from "../../src/protocol/watch-quota.ts";
import { createResources } from "../../src/router/create-resources.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import file from "../../src/sources/file.ts";
import { createMemory, type Memory, type MemoryTemplate } from "../../src/sources/memory.ts";
import { listen, type Listening, type ListenOptions } from "../../src/transport/listen.ts";

export interface TestServerOptions {
  readonly pageSize?: number;
  readonly watchQuota?: WatchQuotaOptions;
  readonly listen?: Partial<ListenOptions>;
}

export interface TestServer extends AsyncDisposable {
  readonly edge: Protocol;
  readonly memory: Memory;
  /** The folder's real path. */
  readonly folder: string;
  /** The folder's URI, with a slash at its end. */
  readonly base: string;
  readonly port: number;
  readonly listening: Listening;
  readonly log: readonly string[];
}

export const memoryBase = "memory://house/";

/** What every caller can read at any time, by URI below the folder's base. */
export const open = { name: "open.txt", text: "Anyone may read this.\n" } as const;

/** What no one may get, by any spelling. */
export const secret = "the secret that must not get out";

const greeting: MemoryTemplate = {
  template: "greetings/{name}{?tone,volume}",
  name: "greeting",
  read: ({ name, tone = "plain" }) => [{ body: { text: `Hello, ${name}, ${tone}\n` }, mimeType: "text/plain" }],
  complete: (_variable, value) => ["ada", "alan", "grace"].filter((name) => name.startsWith(value)),
};

const count: Tool = {
  name: "count",
  description: "Counts its arguments",
  inputSchema: { type: "object" },
  call: async (args) => ({ content: [{ type: "text", text: String(Object.keys(args).length) }] }),
};

const greet: Prompt = {
  name: "greet",
  arguments: [{ name: "who", required: true }],
  get: async ({ who = "" }) => ({
    messages: [{ role: "user", content: { type: "text", text: `greet ${who.length}` } }],
  }),
  complete: async (_argument, value) => ({ values: ["ada", "alan"].filter((name) => name.startsWith(value)) }),
};

async function put(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

/** Beside the folder lies what links and dots would lead to. */
export async function build(): Promise<{ readonly above: string; readonly folder: string }> {
  const above = await realpath(await mkdtemp(join(tmpdir(), "pressmark-hostile-")));
  const folder = join(above, "served");
  await put(join(above, "outside.txt"), secret);
  await put(join(above, "served-too", "outside.txt"), secret);
  for (const name of [".env", ".ENV", "id_rsa", ".git/config", ".hidden/inner.txt", "keys/server.pem", "keys/ID_RSA"])
    await put(join(folder, name), secret);
  await put(join(folder, "node_modules", "other", "index.js"), secret);
  await put(join(folder, open.name), open.text);
  for (let at = 0; at < 12; at++) await put(join(folder, "shelf", `page-${10 + at}.txt`), `page ${at}\n`);
  await put(join(folder, "shelf", "deep", "leaf.md"), "# leaf\n");
  await symlink(join(above, "outside.txt"), join(folder, "link-out.txt"));
  await symlink(above, join(folder, "folder-out"));
  await symlink("../outside.txt", join(folder, "link-up.txt"));
  await symlink(".env", join(folder, "link-to-env.txt"));
  await symlink("/proc/self/environ", join(folder, "link-to-proc.txt"));
  await symlink("link-loop.txt", join(folder, "link-loop.txt"));
  return { above, folder };
}

export async function openTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { above, folder } = await build();
  const served = await serve(folder, options);
  return {
    ...served,
    async [Symbol.asyncDispose]() {
      await served.close();
      await rm(above, { recursive: true, force: true });
    },
  };
}

type Served = Omit<TestServer, typeof Symbol.asyncDispose> & { close(): Promise<void> };

/** As the command puts it together, with a memory, one more tool and a prompt beside the folder. */
export async function serve(folder: string, options: TestServerOptions = {}): Promise<Served> {
  const log: string[] = [];
  const runtime = createRuntime({ write: (line: unknown) => log.push(String(line)) > 0 });
  const sampleContents = Object.fromEntries(
    Array.from({ length: 12 }, (_, at) => [`room-${10 + at}/note.txt`, `note ${at}\n`]),
  );
  const memory = createMemory(sampleContents, { templates: [greeting] });
  const fileOptions = { root: folder, maxBytes: 5 * 1024 * 1024 };
  const base = file.base?.(fileOptions) ?? "";
  const layered = (name: string, source: Memory["source"]) => stack(source, { name }, standardLayers(runtime));
  const mounts = [
    { name: "folder", base, source: layered("folder", await file.open(fileOptions, runtime)) },
    { name: "house", base: memoryBase, source: layered("house", memory.source) },
  ];
  const resources = createResources({
    mounts,
    policy: openPolicy,
    runtime,
    pageSize: options.pageSize ?? 1000,
    cursorKey: Uint8Array.from({ length: 32 }, (_, at) => at),
  });
  const edge = createProtocol({
    resources,
    server: { name: "pressmark", version: "1.2.3" },
    tools: [count, ...createReadingTools({ resources, server: "pressmark", mounts: () => mounts })],
    prompts: [greet],
    log: runtime.log,
    ...(options.watchQuota && { watchQuota: createWatchQuota(options.watchQuota) }),
  });
  const listening = await listen(edge, { port: 0, graceMs: 100, log: runtime.log, ...options.listen });
  return {
    edge,
    memory,
    folder,
    base,
    port: listening.port,
    listening,
    log,
    async close() {
      await listening.close();
      await resources.close();
    },
  };
}
