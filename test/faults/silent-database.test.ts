/** A server whose shared database no longer responds ends when it is told to, and says what it could not store. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { withDeadline } from "../../src/lib/with-deadline.ts";
import { createWireClient } from "../../src/transport/test-client.ts";
import { missingFor, type PostgresServer, startPostgres } from "../live/postgres.ts";
import { signalFamily } from "../live/signal-family.ts";
import { createScratch, startServe } from "./pressmark-process.ts";

const missing = missingFor("npm");
const scratch = createScratch();
let postgres: PostgresServer;

beforeAll(async () => {
  if (missing !== undefined) return;
  postgres = await startPostgres("npm");
  mkdirSync(join(scratch.folder, "docs"));
  writeFileSync(join(scratch.folder, "docs", "a.md"), "# a\n");
  const settings = {
    server: { state: postgres.url("postgres"), audit: true, token: "owner-token-0123456789abcdef" },
    mounts: { docs: { source: "file", root: "docs" } },
  };
  writeFileSync(join(scratch.folder, "team.yaml"), JSON.stringify(settings));
});
afterAll(async () => {
  await postgres?.close();
  scratch.remove();
});

describe.skipIf(missing)("a server whose database does not respond", () => {
  it("ends when it is told to, and says how many events of the audit log are missing", async () => {
    const server = await startServe(["--config", "team.yaml"], { cwd: scratch.folder, env: scratch.env });
    const client = createWireClient(server.port);
    const headers = { Authorization: "Bearer owner-token-0123456789abcdef" };
    const [line] = readFileSync(join(postgres.folder, "data/postmaster.pid"), "utf8").split("\n");
    const isIndexed = async (): Promise<boolean> => {
      const database = await postgres.connect("postgres");
      const { rowCount } = await database.query(
        "select from pressmark.search_documents where exists (select from pressmark.search_notes where value = '1')",
      );
      await database.end();
      return rowCount === 1;
    };
    try {
      const session = await client.initialize("2025-11-25", headers);
      await vi.waitFor(async () => expect(await isIndexed()).toBe(true), { timeout: 30_000 });
      signalFamily(Number(line), "SIGSTOP");
      const uri = pathToFileURL(join(scratch.folder, "docs", "a.md")).href;
      const body = { jsonrpc: "2.0", id: 1, method: "resources/read", params: { uri } };
      const read = await client.ask({ headers: { ...headers, "Mcp-Session-Id": session }, body });
      expect(read.json()).toMatchObject({ result: { contents: [{ text: "# a\n" }] } });
      client.close();
      server.child.kill("SIGTERM");
      const late = () =>
        new Error(`serve did not end although its database does not respond; its log: ${server.errors}`);
      const code = await withDeadline(50_000, new AbortController().signal, late, () => server.exited);
      expect(code).toBe(0);
      expect(server.errors).toMatch(/the shared database does not respond; .* expire/);
      expect(server.errors).not.toMatch(/thread|takes long/);
      expect(server.errors).toMatch(/events? (?:is|are) missing in the audit log, because the server stopped/);
    } finally {
      signalFamily(Number(line), "SIGCONT");
      server.child.kill("SIGKILL");
    }
  });
});
