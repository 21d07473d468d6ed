/** The real server over the project, visited with the official client, as a host would. */
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { startHttp } from "../../src/server/start-http.ts";
import { asRecord, at, type ToolChoice } from "./dialects.ts";
import { writeProject } from "./project.ts";

export interface Outcome {
  readonly text: string;
  readonly isError: boolean;
}

/** What a host knows of a server it is connected to. */
export interface Visit {
  readonly server: string;
  readonly instructions: string;
  readonly resources: readonly { readonly uri: string; readonly name: string }[];
  readonly tools: readonly ToolChoice[];
  call(name: string, args: Readonly<Record<string, unknown>>): Promise<Outcome>;
  read(uri: string): Promise<Outcome>;
}

export interface Shop extends AsyncDisposable {
  /** As it is served without tools: bare resources, and instructions that speak of them alone. */
  readonly plain: Visit;
  readonly withTools: Visit;
  /** The path in the project of a URI. */
  pathOf(uri: string): string | undefined;
  /** Whether everything could be searched when the visit began. */
  readonly isSearchable: boolean;
}

export async function openShop(): Promise<Shop> {
  const root = await realpath(await mkdtemp(join(tmpdir(), "pressmark-activation-")));
  const folder = join(root, "kappan");
  await writeProject(folder);
  const env = { HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") };
  const base = `${pathToFileURL(folder).href}/`;
  await using opening = new AsyncDisposableStack();
  opening.defer(() => rm(root, { recursive: true, force: true }));

  async function open(tools: boolean): Promise<Visit> {
    const server = await startHttp({
      folders: [folder],
      from: root,
      env,
      err: process.stderr,
      host: "127.0.0.1",
      port: 0,
      allowedHosts: [],
      version: "0",
      tools,
    });
    opening.defer(() => server.close());
    return visit(server.url, base);
  }

  const plain = await open(false);
  const withTools = await open(true);
  const isSearchable = await untilIndexed(withTools);
  const everything = opening.move();
  return {
    plain,
    withTools,
    isSearchable,
    pathOf: (uri) =>
      uri.startsWith(base) ? decodeURIComponent(uri.slice(base.length).split("?", 1)[0] ?? "") : undefined,
    [Symbol.asyncDispose]: () => everything.disposeAsync(),
  };
}

/** A visit is over with its server: the client holds nothing that it would have to give back. */
async function visit(url: string, base: string): Promise<Visit> {
  const client = new Client({ name: "activation", version: "0" }, { versionNegotiation: { mode: "auto" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const offered = client.getServerCapabilities()?.tools ? (await client.listTools()).tools : [];
  const { resources } = await client.listResources();
  return {
    server: client.getServerVersion()?.name ?? "pressmark",
    instructions: client.getInstructions() ?? "",
    resources: resources.filter(({ uri }) => uri.startsWith(base)).map(({ uri, name }) => ({ uri, name })),
    tools: offered.map(({ name, description = "", inputSchema }) => ({
      name,
      description,
      schema: { ...inputSchema },
    })),
    async call(name, args) {
      try {
        const { content, isError = false } = await client.callTool({ name, arguments: { ...args } });
        return { text: sayContent(content), isError };
      } catch (cause) {
        return { text: sayError(cause), isError: true };
      }
    },
    async read(uri) {
      try {
        const { contents } = await client.readResource({ uri });
        return {
          text: contents.map((content) => ("text" in content ? content.text : "[binary]")).join("\n"),
          isError: false,
        };
      } catch (cause) {
        return { text: sayError(cause), isError: true };
      }
    },
  };
}

/** A result as hosts hand it to a model. */
function sayContent(content: unknown): string {
  return (Array.isArray(content) ? content : [])
    .map((block: unknown) => {
      switch (at(block, "type")) {
        case "text":
          return String(at(block, "text"));
        case "resource": {
          const { uri, text = "[binary]" } = asRecord(at(block, "resource"));
          return `${String(uri)}\n${String(text)}`;
        }
        case "resource_link":
          return "";
        default:
          return `[${String(at(block, "type"))}]`;
      }
    })
    .filter((text) => text !== "")
    .join("\n");
}

function sayError(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Asks until the index has all of the project, or for half a minute. */
async function untilIndexed({ call }: Visit): Promise<boolean> {
  for (const began = performance.now(); performance.now() - began < 30_000;) {
    const { text, isError } = await call("search_resources", { query: "kappan" });
    if (isError) return false;
    if (!text.includes("of the index is ready")) return true;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}
