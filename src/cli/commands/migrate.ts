/** `pressmark migrate`: brings the tables of the shared database to this version, and moves the state of this machine into it. */
import { quote } from "../../errors.ts";
import type { Migration } from "../../state/migrations.ts";
import { type CommandContext, defineCommand, flag, textFlag } from "../command.ts";
import { print } from "../print.ts";
import { type StateDatabase, withStateDatabase } from "../open-state-database.ts";

export default defineCommand({
  name: "migrate",
  summary: "Update the tables of the shared database",
  more: "For server.state. Instances add what they need by themselves when they start; what only older versions use is removed by this command alone, after the last older instance has stopped. It also drops mounts from the search index that neither this config nor a running instance names. --from-embedded copies tokens, sets, the cursor key, sign-ins and the audit log of this machine into the shared state. It can be repeated, replaces nothing, and removes no file.",
  examples: ["pressmark migrate --dry-run", "pressmark migrate", "pressmark migrate --from-embedded"],
  flags: {
    "dry-run": flag("Show what is pending, and change nothing"),
    "from-embedded": flag("Also copy the state of this machine into the shared state"),
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
  },
  run: ({ flags }, world) =>
    withStateDatabase(flags.config, world, async (opened) => {
      const { database, runtime, stateFolder, file } = opened;
      const { sharedMigrations } = await import("../../server/shared-migrations.ts");
      const { migrate, readMigrations } = await import("../../state/migrate.ts");
      const { checkVersions } = await import("../../state/instances.ts");
      const { isContract } = await import("../../state/migrations.ts");
      const { pending } = await readMigrations(database, sharedMigrations);
      if (pending.length === 0) await print(world.out, `nothing is pending in the schema ${database.schema}\n`);
      if (flags["dry-run"]) {
        for (const each of pending)
          await print(
            world.out,
            `pending ${titleOf(each)}${isContract(each) ? " (older versions stop working)" : ""}\n`,
          );
        // Without pending migrations the tables exist.
        return pending.length === 0 ? dropUnnamed(opened, world, true) : undefined;
      }
      const done = await migrate(database, sharedMigrations, {
        withContract: true,
        check: (sql) => checkVersions(sql, world.version),
      });
      await print(world.out, done.map((each) => `applied ${titleOf(each)}\n`).join(""));
      await dropUnnamed(opened, world, false);
      if (!flags["from-embedded"]) return;
      const { createPostgresStore } = await import("../../state/postgres-store.ts");
      const { moveEmbedded } = await import("../../server/move-embedded.ts");
      const store = createPostgresStore({ database, runtime });
      try {
        for (const { what, moved, present } of await moveEmbedded({
          store,
          database,
          stateFolder,
          config: file,
          runtime,
        }))
          await print(world.out, `${what}: ${moved} copied${present > 0 ? `, ${present} already there` : ""}\n`);
      } finally {
        await store.close();
      }
    }),
});

/** Mounts that left the config may contain what should not stay in the database. */
async function dropUnnamed(state: StateDatabase, { out }: CommandContext, isDry: boolean): Promise<void> {
  const { dropUnnamedMounts } = await import("../../server/drop-unnamed-mounts.ts");
  for await (const { name, state: reached } of dropUnnamedMounts({ ...state, isDry })) {
    const mount = `the mount ${quote(name)}, which no running instance names,`;
    const line = {
      pending: `pending: drop ${mount} from the search index`,
      dropped: `dropped ${mount} from the search index`,
      held: `kept ${mount} because one still indexes it; try again in a minute`,
    };
    await print(out, `${line[reached]}\n`);
  }
}

function titleOf({ area, number, title }: Migration): string {
  return `${area} ${number}: ${title}`;
}
