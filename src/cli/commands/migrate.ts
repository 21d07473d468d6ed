/** `pressmark migrate`: brings the tables of the shared database to this version, and moves the state of this machine into it. */
import { resolve } from "node:path";
import { quote } from "../../errors.ts";
import { realPath } from "../../lib/real-path.ts";
import type { Migration } from "../../state/migrations.ts";
import { type CommandContext, defineCommand, flag, textFlag, UsageError } from "../command.ts";
import { type StateDatabase, withStateDatabase } from "../open-state-database.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "migrate",
  summary: "Update the tables of the shared database",
  more: "For server.state. Instances add what they need by themselves when they start; what only older versions use is removed by this command alone, after the last older instance has stopped. It also drops mounts from the search index that neither this config nor a running instance names. --from-embedded copies tokens, sets, the cursor key, sign-ins and the audit log of this machine into the shared state. It can be repeated, replaces nothing, and removes no file. What is stored belongs to the path of a config: if the config was moved or renamed, name its old path with --from-config.",
  examples: [
    "pressmark migrate --dry-run",
    "pressmark migrate",
    "pressmark migrate --from-embedded",
    "pressmark migrate --from-embedded --from-config /srv/old/pressmark.config.yaml",
  ],
  flags: {
    "dry-run": flag("Show what is pending and what is stored on this machine, and change nothing"),
    "from-embedded": flag("Also copy the state of this machine into the shared state"),
    "from-config": textFlag("FILE", "With --from-embedded: path of the config when the state was stored", "files"),
    config: textFlag("FILE", "Config file to use instead of the nearest one", "files"),
  },
  async run({ flags }, world) {
    const isMove = flags["from-embedded"];
    const former = flags["from-config"];
    if (former !== undefined && !isMove) throw new UsageError("--from-config needs --from-embedded");
    await withStateDatabase(flags.config, world, async (opened) => {
      const { database, runtime, stateFolder, file } = opened;
      const { sharedMigrations } = await import("../../server/shared-migrations.ts");
      const { migrate, readMigrations } = await import("../../state/migrate.ts");
      const { checkVersions } = await import("../../state/instances.ts");
      const { isContract } = await import("../../state/migrations.ts");
      const { configsWithState, countEmbedded } = await import("../../server/embedded-state.ts");
      const { pending } = await readMigrations(database, sharedMigrations);
      if (pending.length === 0) await print(world.out, `nothing is pending in the schema ${database.schema}\n`);
      const config = former === undefined ? file : realPath(resolve(world.folder, former));
      const counts = isMove ? await countEmbedded({ stateFolder, config, runtime }) : {};
      if (isMove && Object.values(counts).every((count) => count === 0))
        world.err.write(`pressmark: ${nothingStored(config, stateFolder, configsWithState(stateFolder))}\n`);
      if (flags["dry-run"]) {
        const lines = [
          ...pending.map(
            (each) => `pending ${titleOf(each)}${isContract(each) ? " (older versions stop working)" : ""}`,
          ),
          ...Object.entries(counts).map(([what, count]) => `${what}: ${count} on this machine`),
        ];
        await print(world.out, lines.map((line) => `${line}\n`).join(""));
        // Without pending migrations the tables exist.
        if (pending.length === 0) await dropUnnamed(opened, world, true);
        return;
      }
      const done = await migrate(database, sharedMigrations, {
        withContract: true,
        check: (sql) => checkVersions(sql, world.version),
      });
      await print(world.out, done.map((each) => `applied ${titleOf(each)}\n`).join(""));
      await dropUnnamed(opened, world, false);
      if (!isMove) return;
      const { createPostgresStore } = await import("../../state/postgres-store.ts");
      const { moveEmbedded } = await import("../../server/move-embedded.ts");
      const store = createPostgresStore({ database, runtime });
      try {
        const all = await moveEmbedded({ store, database, stateFolder, config, runtime });
        for (const { what, moved, present, leftOut } of all) {
          const lines = [`${moved} copied${present > 0 ? `, ${present} already there` : ""}`, ...leftOut];
          await print(world.out, lines.map((line) => `${what}: ${line}\n`).join(""));
        }
      } finally {
        await store.close();
      }
    });
  },
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

function nothingStored(config: string, stateFolder: string, others: readonly string[]): string {
  const advice =
    others.length === 0
      ? "run it as the user and with the state folder (XDG_STATE_HOME) of the server"
      : `name the config of the server with --from-config; tokens or sets are stored for ${others.map(shown).join(", ")}`;
  return `nothing is stored for the config ${shown(config)} in ${shown(stateFolder)}; ${advice}`;
}

function shown(path: string): string {
  return JSON.stringify(plain(path));
}

function titleOf({ area, number, title }: Migration): string {
  return `${area} ${number}: ${title}`;
}
