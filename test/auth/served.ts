/** A server that accepts tokens of a test provider, and requests to it. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type HttpServer, startHttp } from "../../src/server/start-http.ts";

export const publicUrl = "https://mcp.example.com";
export const resource = `${publicUrl}/mcp`;

export interface ServedSettings {
  /** Members of the issuer, of `server`, and of the whole config. */
  readonly issuer?: Readonly<Record<string, unknown>>;
  readonly server?: Readonly<Record<string, unknown>>;
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface Message {
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

export interface TestServer {
  readonly root: string;
  /** Path of the config. */
  readonly config: string;
  readonly url: string;
  readonly logged: readonly string[];
  /** Writes the config again. */
  configure(settings: ServedSettings): void;
  /** Sends a stateless request of the newest revision. */
  ask(token?: string, message?: Message): Promise<Response>;
  close(): Promise<void>;
  /** Closes it, and removes its files. */
  remove(): Promise<void>;
}

export const listMessage: Message = { jsonrpc: "2.0", id: 1, method: "resources/list" };
const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

export async function serveWith(
  provider: { readonly issuer: string },
  first: ServedSettings = {},
): Promise<TestServer> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-oauth-")));
  const folder = join(root, "team");
  const file = join(folder, "pressmark.config.json");
  const logged: string[] = [];

  function configure({ issuer, server: more, config }: ServedSettings): void {
    const auth = [{ issuer: provider.issuer, ...issuer }];
    const text = { mounts: { docs: { source: "file", root: "." } }, ...config, server: { publicUrl, auth, ...more } };
    writeFileSync(file, JSON.stringify(text));
  }

  mkdirSync(folder);
  writeFileSync(join(folder, "a.md"), "tea\n");
  configure(first);
  let server: HttpServer | undefined = await startHttp({
    folders: [],
    config: file,
    from: root,
    env: { HOME: root, XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache") },
    err: { write: (line: string) => Boolean(logged.push(line)) },
    allowedHosts: [],
    version: "1",
    port: 0,
  });
  const { url } = server;

  async function close(): Promise<void> {
    await server?.close();
    server = undefined;
  }

  return {
    root,
    config: file,
    url,
    logged,
    configure,
    ask(token, message = listMessage) {
      const name = message.params?.["name"] ?? message.params?.["uri"];
      return fetch(url, {
        method: "POST",
        headers: {
          "Content-Type": "application/json",
          Accept: "application/json, text/event-stream",
          "MCP-Protocol-Version": "2026-07-28",
          "Mcp-Method": message.method,
          ...(typeof name === "string" && { "Mcp-Name": name }),
          ...(token !== undefined && { Authorization: `Bearer ${token}` }),
        },
        body: JSON.stringify({ ...message, params: { ...message.params, _meta: meta } }),
      });
    },
    close,
    async remove() {
      await close();
      rmSync(root, { recursive: true, force: true });
    },
  };
}
