/** The built program puts what matches a query first, from whichever mount, and tells it from what is similar. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

const program = join(import.meta.dirname, "..", "..", "bin", "pressmark.js");
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "pressmark-matching-"));
  mkdirSync(join(folder, "docs"));
  writeFileSync(join(folder, "docs", "node.md"), "# Node\n\nA node has a CPU, and counts its seconds in total.\n");
  writeFileSync(join(folder, "docs", "use.md"), "Graph of node_cpu_seconds_total: 再設定の手順を見る。\n");
  const config = {
    mounts: {
      docs: { source: "file", root: "docs" },
      facts: { source: "memory", resources: { "series/node_cpu_seconds_total": "node_cpu_seconds_total by mode" } },
    },
  };
  writeFileSync(join(folder, "pressmark.json"), JSON.stringify(config));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("the resource with the name of the query precedes its uses, and those what is only similar", async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [program, "search", "--config", "pressmark.json", "--json", "node_cpu_seconds_total"],
    {
      cwd: folder,
      env: { ...process.env, XDG_CACHE_HOME: join(folder, "cache"), XDG_STATE_HOME: join(folder, "state") },
    },
  );
  const hits = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { resource: { uri: string }; isMatch: boolean });
  expect(hits.map(({ resource, isMatch }) => [resource.uri.split("/").at(-1), isMatch])).toEqual([
    ["node_cpu_seconds_total", true],
    ["use.md", true],
    ["node.md", false],
  ]);
});
