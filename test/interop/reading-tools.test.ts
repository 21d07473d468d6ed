/** The tools of a served folder, called by the official clients of both lines, which hold answers against the tools' own schemas. */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type HttpServer, startHttp } from "../../src/server/start-http.ts";
import { overHttp as v1OverHttp, visitV1 } from "./sdk-v1.ts";
import { overHttp, visitV2 } from "./sdk-v2.ts";

let root: string;
let folder: string;
let server: HttpServer;
const uri = (name: string) => pathToFileURL(join(folder, name)).href;

beforeAll(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "pressmark-tools-")));
  folder = join(root, "印刷所");
  await mkdir(join(folder, "docs"), { recursive: true });
  await writeFile(join(folder, "README.md"), "# The press\n");
  await writeFile(join(folder, "docs", "手順.md"), "一\n二\n三\n");
  server = await start();
});
afterAll(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});

function start(options: { readonly tools?: boolean } = {}): Promise<HttpServer> {
  const env = { XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache"), HOME: root };
  const err = { write: () => true };
  return startHttp({ folders: [folder], from: root, env, err, allowedHosts: [], version: "1", port: 0, ...options });
}

interface Answer {
  readonly content: readonly { readonly type: string; readonly text?: string; readonly resource?: unknown }[];
  readonly structuredContent?: unknown;
  readonly isError?: boolean;
}

interface Caller extends AsyncDisposable {
  names(): Promise<readonly string[]>;
  call(name: string, args: Record<string, unknown>): Promise<Answer>;
  instructions(): string | undefined;
}

/** Who leaves ends their session: a server that closes waits a while for those who did not. */
async function leave(transport: unknown): Promise<void> {
  await (transport as { terminateSession(): Promise<void> }).terminateSession();
}

const clients: readonly { readonly who: string; open(): Promise<Caller> }[] = [
  ...(["auto", "legacy"] as const).map((mode) => ({
    who: `the second line, ${mode}`,
    async open(): Promise<Caller> {
      const transport = overHttp(new URL(server.url));
      const { client } = await visitV2(transport, mode);
      return {
        names: async () => (await client.listTools()).tools.map(({ name }) => name),
        call: async (name, args) => (await client.callTool({ name, arguments: args })) as Answer,
        instructions: () => client.getInstructions(),
        async [Symbol.asyncDispose]() {
          await leave(transport);
          await client.close();
        },
      };
    },
  })),
  {
    who: "the first line",
    async open(): Promise<Caller> {
      const transport = v1OverHttp(new URL(server.url));
      const { client } = await visitV1(transport);
      return {
        names: async () => (await client.listTools()).tools.map(({ name }) => name),
        call: async (name, args) => (await client.callTool({ name, arguments: args })) as Answer,
        instructions: () => client.getInstructions(),
        async [Symbol.asyncDispose]() {
          await leave(transport);
          await client.close();
        },
      };
    },
  },
];

describe.for(clients)("the client of $who", ({ open }) => {
  const ask = async () => {
    await using client = await open();
    return client.instructions();
  };

  it("is told what is here, and what to read first", async () => {
    // The first who asks may be too early for it.
    await expect.poll(ask).toContain(`"README.md" (${uri("README.md")})`);
    const said = await ask();
    expect(said).toContain('"印刷所"');
    expect(said).toContain("search_resources");
    expect(said?.length).toBeLessThanOrEqual(1500);
  });

  it("lists, reads on from range to range, and is helped on when it is wrong", async () => {
    await using client = await open();
    expect(await client.names()).toEqual(["search_resources", "list_resources", "read_resource", "gather_context"]);
    const listed = await client.call("list_resources", { glob: "docs/*" });
    expect(listed.structuredContent).toMatchObject({ resources: [{ uri: uri("docs/手順.md"), name: "手順.md" }] });
    const read = await client.call("read_resource", { uri: uri("docs/手順.md"), lines: "2-2" });
    expect(read.content[0]?.text).toContain('and lines "3-3"');
    expect(read.content[1]).toEqual({ type: "text", text: "二\n" });
    const wrong = await client.call("read_resource", { uri: uri("docs/手順書.md") });
    expect(wrong.isError).toBe(true);
    expect(wrong.content[0]?.text).toContain(`did you mean ${uri("docs/手順.md")} ?`);
    expect(await client.call("search_resources", {})).toMatchObject({ isError: true });
  });
});

describe("a server without tools", () => {
  it("has none, and does not speak of any", async () => {
    const bare = await start({ tools: false });
    try {
      await using visitor = await visitV2(overHttp(new URL(bare.url)), "auto");
      expect(visitor.client.getServerCapabilities()).not.toHaveProperty("tools");
      expect(visitor.client.getInstructions()).not.toContain("search_resources");
    } finally {
      await bare.close();
    }
  });

  it("offers only those that its config names", async () => {
    await writeFile(join(folder, "pressmark.config.yaml"), "server: { tools: [read_resource] }\n");
    const some = await start();
    try {
      await using visitor = await visitV2(overHttp(new URL(some.url)), "auto");
      expect((await visitor.client.listTools()).tools.map(({ name }) => name)).toEqual(["read_resource"]);
    } finally {
      await some.close();
      await rm(join(folder, "pressmark.config.yaml"));
    }
  });
});
