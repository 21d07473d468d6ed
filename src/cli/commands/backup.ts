/** `pressmark backup`: writes the records and logs of the shared state to a file. */
import { open, rm } from "node:fs/promises";
import { resolve } from "node:path";
import { lastingFailure, ResourceError } from "../../errors.ts";
import { type CommandContext, defineCommand, one, textFlag } from "../command.ts";
import { withStateDatabase } from "../open-state-database.ts";
import { print } from "../print.ts";

export default defineCommand({
  name: "backup",
  summary: "Write the shared state to a file",
  more: "For server.state. The file has all tokens (as hashes), sets, sessions, sign-ins and keys, and the audit log, as JSON lines with a checksum: keep it as secret as the database. Not part of it are the search index, which is built again, results of the source analysis (save their schema with pg_dump), the config, and contents. Instances may run meanwhile; the file shows one moment.",
  examples: ["pressmark backup state.jsonl", "pressmark backup - | gzip > state.jsonl.gz"],
  takes: { file: one("File to write, which must not exist; - for standard output", "files") },
  flags: { config: textFlag("FILE", "Config file to use instead of the nearest one", "files") },
  run: ({ file, flags }, world) =>
    withStateDatabase(flags.config, world, async ({ database, runtime }) => {
      const { writeBackup } = await import("../../state/backup.ts");
      const facts = { pressmark: world.version, made: new Date(runtime.now()).toISOString() };
      const target = await openTarget(file, world);
      try {
        const { records, entries } = await writeBackup(database, target.write, facts);
        await target.finish();
        if (!world.isQuiet) world.err.write(`pressmark: saved ${records} records and ${entries} log entries\n`);
      } catch (cause) {
        await target.discard();
        throw cause;
      }
    }),
});

interface BackupTarget {
  write(line: string): Promise<void>;
  finish(): Promise<void>;
  discard(): Promise<void>;
}

async function openTarget(file: string, { folder, out }: CommandContext): Promise<BackupTarget> {
  if (file === "-")
    return { write: (line) => print(out, line), finish: async () => undefined, discard: async () => undefined };
  const path = resolve(folder, file);
  // Readable only by its owner: it contains keys.
  const handle = await open(path, "wx", 0o600).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "EEXIST")
      throw new ResourceError("invalid", `${JSON.stringify(path)} exists; choose another name, or remove it`);
    throw lastingFailure(`${JSON.stringify(path)} cannot be created (${cause.code}); check the folder`, cause);
  });
  return {
    write: async (line) => void (await handle.appendFile(line)),
    async finish() {
      await handle.sync();
      await handle.close();
    },
    async discard() {
      await handle.close();
      await rm(path, { force: true });
    },
  };
}
