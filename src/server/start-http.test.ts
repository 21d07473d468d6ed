import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HttpServerOptions, startHttp } from "./start-http.ts";

let root: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "pressmark-start-")));
  mkdirSync(join(root, "docs"));
  writeFileSync(join(root, "docs/a.md"), "A");
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

function options(more: Partial<HttpServerOptions> = {}): HttpServerOptions {
  const env = { XDG_STATE_HOME: join(root, "state"), HOME: root };
  return { folders: [], from: root, env, err: { write: () => true }, allowedHosts: [], version: "1", ...more };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe("a server with a config", () => {
  it("listens at the config's address, unless overridden", async () => {
    const port = await freePort();
    writeFileSync(join(root, "pressmark.config.yaml"), `server: { host: "::1", port: ${port} }\n`);
    const server = await startHttp(options({ host: "127.0.0.1" }));
    try {
      expect(server.url).toBe(`http://127.0.0.1:${port}/mcp`);
      expect(server.config).toBe(join(root, "pressmark.config.yaml"));
    } finally {
      await server.close();
    }
    const other = await startHttp(options({ host: "127.0.0.1", port: 0 }));
    try {
      expect(other.url).not.toContain(`:${port}/`);
    } finally {
      await other.close();
    }
  });

  it("accepts the host names and origins of a config that was named", async () => {
    const file = join(root, "team.yaml");
    writeFileSync(
      file,
      "mounts: { docs: { source: file, root: docs } }\nserver: { allowedHosts: [files.example], allowedOrigins: ['https://app.example'] }\n",
    );
    const server = await startHttp(options({ config: file, port: 0 }));
    try {
      const ask = (origin: string) => fetch(server.url, { method: "OPTIONS", headers: { Origin: origin } });
      expect((await ask("https://app.example")).status).toBeLessThan(300);
      expect((await ask("https://other.example")).status).toBe(403);
      expect(server.mounts.map(({ name }) => name)).toEqual(["docs"]);
    } finally {
      await server.close();
    }
  });

  it("that cannot be used is not started, and nothing stays open", async () => {
    writeFileSync(join(root, "pressmark.config.yaml"), "server: { prot: 1 }\n");
    await expect(startHttp(options({ port: 0 }))).rejects.toThrow('server.prot: unknown option; did you mean "port"?');
  });
});
