/** Generates the pages that are derived from declarations. */
import { execFileSync } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { allCommands } from "../src/cli/commands/index.ts";
import { reference } from "../src/cli/reference.ts";
import { configJsonSchema } from "../src/config/json-schema.ts";
import { withTables } from "../src/config/reference.ts";
import { analysisJsonSchema } from "../src/sources/analysis/json-schema.ts";
import { apiReport } from "./api-report.ts";

const root = dirname(import.meta.dirname);
const docs = join(root, "docs");
await writeFile(join(docs, "cli.md"), reference(await allCommands()));

const page = join(docs, "configuration.md");
await writeFile(page, await withTables(await readFile(page, "utf8")));

const schemas = { "pressmark.schema.json": await configJsonSchema(), "analysis.schema.json": analysisJsonSchema() };
for (const [name, schema] of Object.entries(schemas)) {
  const file = join(docs, name);
  await writeFile(file, JSON.stringify(schema, undefined, 2));
  execFileSync(process.execPath, [join(root, "node_modules/oxfmt/bin/oxfmt"), file], { stdio: "inherit" });
}

const api = join(root, "api");
await rm(api, { recursive: true, force: true });
await mkdir(api);
for (const [name, text] of apiReport().pages) await writeFile(join(api, name), text);
