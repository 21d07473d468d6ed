/** `pressmark migrate`: brings the tables of the shared database to this version, and moves the state of this machine into it. */
import type { Migration } from "../../state/migrations.ts";
import { defineCommand, flag, textFlag } from "../command.ts";
import { print } from "../print.ts";
import { withStateDatabase } from "../open-state-database.ts";

export default defineCommand({
  name: "migrate",
  summary: "Update the tables of the shared database",
  more: "For server.state. Instances add what they need by themselves when they start; what only older versions use is removed by this command alone, after the last older instance has stopped. --from-embedded copies tokens, sets, the cursor key, sign-ins and the audit log of this machine into the shared state. It can be repeated, replaces nothing, and removes no file.",
  examples: ["pressmark migrate --dry-run", "pressmark migrate", "pressmark migrate --from-embedded"],
  flags: {
    "dry-run": flag("Show what is pending, and change nothing"),
    "from-embedded": flag("Also copy the state of this machine into the shared state"),
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
  },
  run: ({ flags }, world) =>
    withStateDatabase(flags.config, world, async ({ database, runtime, stateFolder, file }) => {
      const { sharedMigrations } = await import("../../server/shared-migrations.ts");
      const { migrate, readMigrations } = await import("../../state/migrate.ts");
      const { checkVersions } = await import("../../state/instances.ts");
      const { isContract } = await import("../../state/migrations.ts");
      const { pending } = await readMigrations(database, sharedMigrations);
      if (pending.length === 0) await print(world.out, `nothing is pending in the schema ${database.schema}\n`);
      if (flags["dry-run"])
        return print(
          world.out,
          pending
            .map((each) => `pending ${titleOf(each)}${isContract(each) ? " (older versions stop working)" : ""}\n`)
            .join(""),
        );
      const done = await migrate(database, sharedMigrations, {
        withContract: true,
        check: (sql) => checkVersions(sql, world.version),
      });
      await print(world.out, done.map((each) => `applied ${titleOf(each)}\n`).join(""));
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

function titleOf({ area, number, title }: Migration): string {
  return `${area} ${number}: ${title}`;
}
