/** A real server behind every transport, and the lines that reach it: one for each transport that a revision has. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { z } from "zod";
import type { Policy } from "../../src/access/policy.ts";
import { stack } from "../../src/layer.ts";
import { standardLayers, type StandardOptions } from "../../src/layers/standard.ts";
import { createProtocol } from "../../src/protocol/create-protocol.ts";
import type { Prompt } from "../../src/protocol/prompts.ts";
import { createReadingTools } from "../../src/protocol/tools/reading-tools.ts";
import type { Tool } from "../../src/protocol/tools.ts";
import type { Protocol } from "../../src/protocol/protocol.ts";
import type { Caller } from "../../src/resources.ts";
import { createResources, type LocalResources } from "../../src/router/create-resources.ts";
import type { Mount } from "../../src/router/route.ts";
import type { SetConfig } from "../../src/config/sets.ts";
import { createResourcesWithSets } from "../../src/server/sets/test-sets.ts";
import { createSetPrompts } from "../../src/server/sets/set-prompts.ts";
import { createRuntime } from "../../src/server/runtime.ts";
import type { Runtime } from "../../src/source.ts";
import file from "../../src/sources/file.ts";
import { createMemory, type Memory, type MemoryTemplate, type MemoryValue } from "../../src/sources/memory.ts";
import skills from "../../src/sources/skills.ts";
import { listen, type ListenOptions } from "../../src/transport/listen.ts";
import { serveStdio } from "../../src/transport/stdio.ts";
import { revisions, type Revision } from "../wire/schemas.ts";
import { httpLine } from "./line/http-line.ts";
import type { Line, LineTransport } from "./line/line.ts";
import { sseLine } from "./line/sse-line.ts";
import { stdioLine } from "./line/stdio-line.ts";

/** One way to reach the server. */
export interface Leg {
  readonly transport: LineTransport;
  readonly revision: Revision;
}

/** Every revision over stdio; Streamable HTTP since it exists; HTTP with SSE where it was the way. */
export const legs: readonly Leg[] = [
  ...revisions.map((revision): Leg => ({ transport: "stdio", revision })),
  ...revisions.filter((each) => each >= "2025-03-26").map((revision): Leg => ({ transport: "http", revision })),
  { transport: "sse", revision: "2024-11-05" },
  { transport: "sse", revision: "2024-10-07" },
];
export const legacyLegs = legs.filter(({ revision }) => revision !== "2026-07-28");
export const modernLegs = legs.filter(({ revision }) => revision === "2026-07-28");

export interface ServerRequest {
  readonly sampleContents?: Readonly<Record<string, MemoryValue>>;
  readonly templates?: readonly MemoryTemplate[];
  readonly pageSize?: number;
  /** Whether a fresh folder is mounted beside the memory. */
  readonly folder?: boolean;
  /** Path → text of what is in a folder of skills, which is mounted at skill://. */
  readonly skills?: Readonly<Record<string, string>>;
  readonly layers?: StandardOptions;
  readonly tools?: readonly Tool[];
  /** Whether what is here can be searched, listed and read through tools, as the command offers them. */
  readonly readingTools?: boolean;
  readonly prompts?: readonly Prompt[];
  /** Named sets of resources, each a prompt and a resource, as the command offers them. */
  readonly sets?: readonly SetConfig[];
  readonly http?: Partial<ListenOptions>;
}

export interface TestServer extends AsyncDisposable {
  /** At memory://house/. */
  readonly memory: Memory;
  /** Only where it was asked for. */
  readonly folder: string;
  readonly folderBase: string;
  /** Only where skills were asked for. */
  readonly skillsFolder: string;
  readonly resources: LocalResources;
  /** What the config says of sets from now on; only where sets were asked for. */
  configure(sets: readonly SetConfig[]): void;
  readonly edge: Protocol;
  /** The endpoint of both eras. */
  readonly url: string;
  /** The stream of HTTP with SSE. */
  readonly sseUrl: string;
  /** What was written to the log. */
  readonly log: readonly string[];
  /** A line of this caller: "reader" may not see what lies below `secrets`, "owner" may. */
  line(leg: Leg, caller?: string): Promise<Line>;
}

export const base = "memory://house/";

/** Hides what lies below `secrets` from everyone but the owner, in every mount. */
const policy: Policy = {
  maySee: (caller, _mount, { path }) => caller.id === "owner" || (path !== "secrets" && !path.startsWith("secrets/")),
};

export async function openTestServer(ask: ServerRequest = {}): Promise<TestServer> {
  const { sampleContents = {}, templates = [], pageSize = 50 } = ask;
  const log: string[] = [];
  const runtime = createRuntime({ write: (line: unknown) => log.push(String(line)) > 0 });
  const memory = createMemory(sampleContents, { templates });
  const folder = ask.folder ? await realpath(await mkdtemp(join(tmpdir(), "pressmark-e2e-"))) : "";
  const skillsFolder = ask.skills ? await realpath(await mkdtemp(join(tmpdir(), "pressmark-e2e-"))) : "";
  const mounts: Mount[] = [
    { name: "house", base, source: stack(memory.source, { name: "house" }, standardLayers(runtime, ask.layers)) },
    ...(ask.folder ? [await mountFolder(folder, runtime)] : []),
    ...(ask.skills ? [await mountSkills(skillsFolder, ask.skills, runtime)] : []),
  ];
  const built = {
    mounts,
    policy,
    runtime,
    pageSize,
    cursorKey: Uint8Array.from({ length: 32 }, (_, index) => index),
  };
  let { sets = [] } = ask;
  const chosen = ask.sets
    ? createResourcesWithSets({ ...built, configured: () => ({ sets, folder: "/", server: { zed: true } }) })
    : undefined;
  const resources = chosen?.resources ?? createResources(built);
  const seenBy = (caller: Caller) => mounts.filter(({ name }) => policy.maySee(caller, name, { path: "" }));
  const reading = ask.readingTools ? createReadingTools({ resources, server: "pressmark", mounts: seenBy }) : [];
  const edge = createProtocol({
    resources,
    server: { name: "pressmark", version: "1.2.3" },
    instructions: "Read what you need.",
    tools: [...reading, ...(ask.tools ?? [])],
    prompts: chosen ? createSetPrompts({ ...chosen, others: ask.prompts ?? [] }) : (ask.prompts ?? []),
    log: runtime.log,
  });
  const listening = await listen(edge, {
    port: 0,
    graceMs: 200,
    identify: ({ headers }) => ({ id: String(headers["x-caller"] ?? "reader") }),
    ...ask.http,
  });
  const sseUrl = new URL("/sse", listening.url).href;
  const lines: Line[] = [];

  async function open({ transport, revision }: Leg, caller: string): Promise<Line> {
    switch (transport) {
      case "http":
        return httpLine(revision, listening.url, { headers: { "X-Caller": caller } });
      case "sse":
        return sseLine(revision, sseUrl, { headers: { "X-Caller": caller } });
      case "stdio": {
        const input = new PassThrough();
        const output = new PassThrough();
        const served = serveStdio(edge, { input, output, caller: { id: caller } });
        return stdioLine(revision, {
          input,
          output,
          async close() {
            input.end();
            await served;
          },
        });
      }
    }
  }

  return {
    memory,
    folder,
    skillsFolder,
    folderBase: mounts[1]?.base ?? "",
    resources,
    configure(next) {
      sets = next;
      chosen?.sets.changed();
    },
    edge,
    url: listening.url,
    sseUrl,
    log,
    async line(leg, caller = "reader") {
      const line = await open(leg, caller);
      lines.push(line);
      return line;
    },
    async [Symbol.asyncDispose]() {
      for (const line of lines) await line.close();
      await listening.close();
      await resources.close();
      for (const each of [folder, skillsFolder]) if (each !== "") await rm(each, { recursive: true, force: true });
    },
  };
}

async function mountSkills(root: string, texts: Readonly<Record<string, string>>, runtime: Runtime): Promise<Mount> {
  for (const [path, text] of Object.entries(texts)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  const source = await skills.open({ root }, runtime);
  return { name: "skills", base: "skill://", source: stack(source, { name: "skills" }, standardLayers(runtime)) };
}

async function mountFolder(root: string, runtime: Runtime): Promise<Mount> {
  const options = file.options(z).parse({ root });
  const source = await file.open(options, runtime);
  const folderBase = file.base?.(options);
  if (folderBase === undefined) throw new Error("a folder has no base");
  return { name: "folder", base: folderBase, source: stack(source, { name: "folder" }, standardLayers(runtime)) };
}
