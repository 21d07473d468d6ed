/** `pressmark init`: writes a config for the current project. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { invalid, ResourceError } from "../../errors.ts";
import { defineCommand, flag } from "../command.ts";
import { confirm } from "../confirm.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "init",
  summary: "Write a config for the project in this folder",
  more: "Detects git, documentation, skills, databases and services that .env and compose files name, SQLite files and settings, shows what it found, and writes a commented pressmark.config.yaml. It serves what the folder serves without a config. Passwords and URLs of databases are written as references, never as values; if settings hold secrets, it turns on masking (redact: true).",
  examples: ["pressmark init", "pressmark init --yes"],
  flags: {
    yes: flag("Do not ask for confirmation", { short: "y" }),
    force: flag("Replace an existing config"),
  },
  async run({ flags: { yes, force } }, world) {
    const { configIn } = await import("../../config/find-config.ts");
    const { draftConfig } = await import("../../config/draft-config.ts");
    const { settingsWithSecrets } = await import("../../config/settings-secrets.ts");
    const { survey } = await import("../../config/survey.ts");
    const { createRuntime, logLevel } = await import("../../server/runtime.ts");
    const { writeChange } = await import("../../config/hosts/settings.ts");
    const { whileAlone } = await import("../../config/while-alone.ts");
    const { stateFolder, systemPathsOf } = await import("../../lib/system-paths.ts");
    const project = world.folder;
    const existing = configIn(project);
    const file = join(project, "pressmark.config.yaml");
    if (existing !== undefined && !(force && existing === file))
      throw invalid(
        existing === file
          ? "pressmark.config.yaml exists already; --force replaces it"
          : `${relative(project, existing)} exists already, and a folder can have only one config; remove it first`,
      );

    const before = existing === undefined ? undefined : readFileSync(file, "utf8");
    const findings = await survey(project, createRuntime(world.err, logLevel(world.env)));
    const rows = findings.map(({ what, where }) => `  ${what}  ${plain(where)}\n`);
    await print(world.out, rows.length === 0 ? "Found files.\n" : `Found:\n${rows.join("")}`);
    const secretsIn = await settingsWithSecrets(project, findings);
    const text = await draftConfig({ project, findings, secretsIn, schema: installedSchema(project) });
    await print(world.out, `\n${text}\n`);
    await confirm("Write this to pressmark.config.yaml?", yes, world, "nothing was written");
    const state = stateFolder(systemPathsOf(world.env));
    let backup: string | undefined;
    try {
      backup = await whileAlone(file, state, () =>
        writeChange({ file, before, after: text, mode: 0o666 }, join(state, "backups")),
      );
    } catch (cause) {
      if (cause instanceof ResourceError) throw cause;
      const message = "pressmark.config.yaml cannot be written; check the permissions of this folder";
      throw new ResourceError("denied", message, { cause });
    }
    const saved = backup === undefined ? "" : `; the old file is saved as ${plain(backup)}`;
    await print(
      world.out,
      `wrote pressmark.config.yaml${saved}; "pressmark serve" serves it, "pressmark doctor" checks it\n`,
    );
  },
});

const schemaPath = "node_modules/pressmark/docs/pressmark.schema.json";

/** The schema of the Pressmark that the project has installed, as a relative path: other machines have it there too. */
function installedSchema(project: string): string | undefined {
  for (let [folder, up] = [project, "./"]; ; [folder, up] = [dirname(folder), up === "./" ? "../" : `${up}../`]) {
    if (existsSync(join(folder, schemaPath))) return up + schemaPath;
    if (folder === dirname(folder)) return undefined;
  }
}
