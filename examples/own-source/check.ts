import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { textOf, visit } from "../visit.ts";

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));
// A config that is named with --config is trusted by being named.
const client = await visit(at("../../bin/pressmark.js"), "stdio", "--config", at("pressmark.config.yaml"));
const { resources } = await client.listResources();
const days = resources.filter(({ uri }) => uri.startsWith("almanac://days/"));
assert.equal(days.length, 365);
assert.equal(await textOf(client, "almanac://days/11-15"), "Sunday, November 15, 2026 / 2026年11月15日日曜日\n");
for (const { uri } of days) await textOf(client, uri);
await assert.rejects(textOf(client, "almanac://days/02-29"), /not found/i);

await client.close();
execFileSync(process.execPath, ["--test", at("almanac.test.ts")], { stdio: ["ignore", "ignore", "inherit"] });
console.log("own-source: all is as it should be");
