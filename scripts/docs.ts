/** Writes the pages that come from declarations. */
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { allCommands } from "../src/cli/commands/index.ts";
import { reference } from "../src/cli/reference.ts";

const docs = join(dirname(import.meta.dirname), "docs");
await writeFile(join(docs, "cli.md"), reference(await allCommands()));
