/** The command as a process of its own, straight from its source. */
import { runProcess } from "../../src/cli/run.ts";

await runProcess({ version: "1.2.3" });
