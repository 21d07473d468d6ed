/** Generates the pages that are derived from declarations. */
import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { allCommands } from "../src/cli/commands/index.ts";
import { reference } from "../src/cli/reference.ts";
import { configJsonSchema } from "../src/config/json-schema.ts";
import { withOptions, withTables } from "../src/config/reference.ts";
import type { SourceDefinition } from "../src/source.ts";
import { analysisJsonSchema } from "../src/sources/analysis/json-schema.ts";
import { sources } from "../src/sources/index.ts";

const root = dirname(import.meta.dirname);
const docs = join(root, "docs");
await writeFile(join(docs, "cli.md"), reference(await allCommands()));

const page = join(docs, "configuration.md");
await writeFile(page, await withTables(await readFile(page, "utf8")));

for (const [name, load] of Object.entries(sources)) {
  const file = `docs/sources/${name}.md`;
  try {
    const { default: definition } = await load();
    const before = await readFile(join(root, file), "utf8");
    await writeFile(join(root, file), await withOptions(before, definition as SourceDefinition));
  } catch (cause) {
    throw new Error(`${file} cannot be filled in; CONTRIBUTING.md says what it contains`, { cause });
  }
}

const schemas = { "pressmark.schema.json": await configJsonSchema(), "analysis.schema.json": analysisJsonSchema() };
for (const [name, schema] of Object.entries(schemas)) {
  const file = join(docs, name);
  await writeFile(file, JSON.stringify(schema, undefined, 2));
  execFileSync(process.execPath, [join(root, "node_modules/oxfmt/bin/oxfmt"), file], { stdio: "inherit" });
}
