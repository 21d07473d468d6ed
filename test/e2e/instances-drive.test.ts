/** Two processes of `pressmark serve`, as on two machines, share a listing of Google Drive through a real PostgreSQL. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { startFakeDrive } from "../../src/testing/fakes/gdrive.ts";
import { createWireClient } from "../../src/transport/test-client.ts";
import { createScratch, startServe } from "../faults/pressmark-process.ts";
import { missingFor, startPostgres } from "../live/postgres.ts";

const token = "owner-token-0123456789abcdef";
const owner = { Authorization: `Bearer ${token}` };

describe.skipIf(missingFor("npm"))("two instances with one database", () => {
  it.each([
    ["with one ledger for all threads of an instance", false],
    ["with a ledger in memory for each thread", true],
  ])("request the files of Drive once, %s", async (_how, isInMemory) => {
    const postgres = await startPostgres("npm");
    onTestFinished(() => postgres.close());
    const drive = await startFakeDrive();
    onTestFinished(() => drive.close());
    for (const id of ["a", "b", "c"]) drive.document(id, `# ${id}`, { name: id });
    const project = createScratch();
    onTestFinished(project.remove);
    const settings = {
      server: { state: `${postgres.url("postgres")}?schema=drive`, token },
      mounts: { drive: { source: "gdrive", anonymous: true, rootUrl: drive.rootUrl, pollMs: 1000 } },
    };
    writeFileSync(join(project.folder, "team.yaml"), JSON.stringify(settings));

    async function startInstance() {
      const { folder, env, remove } = createScratch();
      onTestFinished(remove);
      // A file in place of the folder of ledgers: they cannot be stored.
      mkdirSync(join(folder, "cache", "pressmark"), { recursive: true });
      if (isInMemory) writeFileSync(join(folder, "cache", "pressmark", "gdrive"), "");
      const { child, exited, port } = await startServe(["--config", "team.yaml"], { cwd: project.folder, env });
      const client = createWireClient(port);
      onTestFinished(async () => {
        client.close();
        child.kill("SIGTERM");
        await exited;
      });
      const headers = { ...owner, "Mcp-Session-Id": await client.initialize("2025-11-25", owner) };
      return async (method: string, params: object = {}): Promise<string> =>
        (await client.ask({ headers, body: { jsonrpc: "2.0", id: 1, method, params } })).text;
    }

    const instances = await Promise.all([startInstance(), startInstance()]);
    for (const text of await Promise.all(instances.map((request) => request("resources/list"))))
      for (const id of ["a", "b", "c"]) expect(text).toContain(`gdrive://file/${id}`);
    drive.document("d", "# zebra", { name: "d" });
    const search = { name: "search_resources", arguments: { query: "zebra" } };
    for (const request of [...instances, await startInstance()])
      await expect.poll(() => request("tools/call", search), { timeout: 30_000 }).toContain("gdrive://file/d");
    expect(drive.asked.filter((line) => line.startsWith("GET /drive/v3/files?"))).toHaveLength(1);
  });
});
