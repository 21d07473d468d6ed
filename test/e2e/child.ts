/** The command as a process of its own, straight from its source. */
import { run } from "../../src/cli/run.ts";

await run({ version: "1.2.3" });
