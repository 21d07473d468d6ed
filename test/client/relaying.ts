/** A server whose config mounts other MCP servers with their tools and prompts, and clients of it. */
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  Client as OlderClient,
  type ClientOptions as OlderClientOptions,
} from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport as OlderTransportType } from "@modelcontextprotocol/sdk/shared/transport.js";
import { expect, onTestFinished, vi } from "vitest";
import { type AuditEntry, auditFolder, readAuditLog } from "../../src/server/audit-log.ts";
import { type HttpServer, startHttp } from "../../src/server/start-http.ts";
import { createTokenStore } from "../../src/server/token-store.ts";

export const ownerToken = "0123456789abcdef0123456789abcdef";

export interface RelayingServer {
  readonly url: string;
  readonly logged: readonly string[];
  /** Writes another config, which the server loads. */
  reload(config: object): void;
  tokenOf(caller: string): Promise<string>;
  audit(): Promise<AuditEntry[]>;
}

/** Ends with the test, or when `atEnd` calls back. */
export async function serveConfig(
  config: object,
  atEnd: (close: () => void | Promise<void>) => void = onTestFinished,
): Promise<RelayingServer> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-relayed-")));
  atEnd(() => rmSync(root, { recursive: true, force: true }));
  const file = join(root, "pressmark.config.yaml");
  const write = (value: object) => writeFileSync(file, JSON.stringify(value));
  write(config);
  const state = join(root, "state", "pressmark");
  const logged: string[] = [];
  const server: HttpServer = await startHttp({
    folders: [],
    config: file,
    from: root,
    env: { XDG_STATE_HOME: join(root, "state"), XDG_CACHE_HOME: join(root, "cache"), HOME: root },
    err: { write: (line: string) => Boolean(logged.push(line)) },
    allowedHosts: [],
    version: "1",
    port: 0,
  });
  atEnd(() => server.close());
  return {
    url: server.url,
    logged,
    reload: write,
    tokenOf: async (caller) => (await createTokenStore(state, file).create(caller, Date.now())).token,
    async audit() {
      const entries: AuditEntry[] = [];
      for await (const entry of readAuditLog(auditFolder(state, file))) entries.push(entry);
      return entries;
    },
  };
}

interface VisitOptions extends Pick<ClientOptions, "capabilities"> {
  readonly token?: string;
  readonly prepare?: (client: Client) => void;
  readonly atEnd?: (close: () => void | Promise<void>) => void;
}

const headersOf = (token: string | undefined) => ({
  requestInit: { headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } },
});

/** A client of the newer era. */
export async function visit(
  url: string,
  { token, prepare, capabilities, atEnd = onTestFinished }: VisitOptions = {},
): Promise<Client> {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: { pin: "2026-07-28" } }, ...(capabilities && { capabilities }) },
  );
  prepare?.(client);
  await client.connect(new StreamableHTTPClientTransport(new URL(url), headersOf(token)));
  atEnd(() => client.close());
  return client;
}

/** Waits for a tool: a program that starts slowly has none in the first list. */
export async function toolsWith(
  wanted: string,
  client: { listTools(): Promise<{ tools: readonly { readonly name: string }[] }> },
): Promise<string[]> {
  return vi.waitFor(
    async () => {
      const names = (await client.listTools()).tools.map(({ name }) => name);
      expect(names).toContain(wanted);
      return names;
    },
    { timeout: 15_000 },
  );
}

interface OlderVisitOptions extends OlderClientOptions {
  readonly token?: string;
  readonly prepare?: (client: OlderClient) => void;
}

/** A client of the older era, of the SDK's first line. */
export async function visitOlder(
  url: string,
  { token, prepare, capabilities = {} }: OlderVisitOptions = {},
): Promise<OlderClient> {
  const client = new OlderClient({ name: "test", version: "1" }, { capabilities });
  prepare?.(client);
  await client.connect(new OlderTransport(new URL(url), headersOf(token)) as OlderTransportType);
  onTestFinished(() => client.close());
  return client;
}
