/** `pressmark restore`: reads the records and logs of the shared state from a backup. */
import { open } from "node:fs/promises";
import { resolve } from "node:path";
import type { Readable } from "node:stream";
import { ResourceError } from "../../errors.ts";
import { withMembers } from "../../lib/with-members.ts";
import { defineCommand, flag, one, textFlag } from "../command.ts";
import { withStateDatabase } from "../open-state-database.ts";

export default defineCommand({
  name: "restore",
  summary: "Read the shared state from a backup",
  more: "For server.state. Creates the tables if they are missing. Restores everything or nothing: a file that is damaged or incomplete changes nothing. The schema must be empty, unless --replace is given. The search index is built again by the instances.",
  examples: ["pressmark restore state.jsonl", "pressmark restore state.jsonl --replace"],
  takes: { file: one("File that pressmark backup has written; - for standard input", "files") },
  flags: {
    replace: flag("Remove the records and logs that are there"),
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
  },
  run: ({ file, flags }, world) =>
    withStateDatabase(flags.config, world, async ({ database }) => {
      const { sharedMigrations } = await import("../../server/shared-migrations.ts");
      const { migrate, readMigrations } = await import("../../state/migrate.ts");
      const { checkFirstLine, restoreBackup } = await import("../../state/backup.ts");
      const { keyKind } = await import("../../server/cursor-key.ts");
      const { keepOAuthKeys } = await import("../../auth/builtin/shared-oauth-store.ts");
      const input = file === "-" ? world.input : await openFile(resolve(world.folder, file));
      try {
        const lines = linesOf(input);
        const { value: first = "" } = (await lines.next()) as { readonly value?: string };
        checkFirstLine(first);
        const { applied } = await readMigrations(database, sharedMigrations);
        const isNew = applied.length === 0;
        // Not in the transaction below: instances that start would wait until the whole input is read.
        if (!isNew) await migrate(database, sharedMigrations);
        // Instances that run read the keys for cursors and sign-ins only when they start.
        const options = { replace: flags.replace, keep: [keyKind], merges: [keepOAuthKeys] };
        const { records, entries } = await database.transaction(async (sql) => {
          const inside = withMembers(database, { transaction: (work) => work(sql) });
          // A damaged file leaves no tables behind.
          if (isNew) await migrate(inside, sharedMigrations);
          return restoreBackup(inside, withFirst(first, lines), options);
        });
        if (!world.isQuiet) world.err.write(`pressmark: restored ${records} records and ${entries} log entries\n`);
      } finally {
        input.destroy();
      }
    }),
});

async function openFile(path: string): Promise<Readable> {
  try {
    return (await open(path)).createReadStream();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    throw new ResourceError("not-found", `${JSON.stringify(path)} cannot be read (${code}); check its name`, { cause });
  }
}

async function* withFirst(first: string, others: AsyncIterable<string>): AsyncGenerator<string> {
  yield first;
  yield* others;
}

async function* linesOf(input: Readable): AsyncGenerator<string> {
  let rest = "";
  for await (const chunk of input.setEncoding("utf8") as AsyncIterable<string>) {
    const lines = `${rest}${chunk}`.split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
