/** `pressmark init`: a config for the project at hand. */
import { readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { invalid, ResourceError } from "../../errors.ts";
import { defineCommand, flag } from "../command.ts";
import { confirm } from "../confirm.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "init",
  summary: "Write a config for the project in this folder",
  more: "Looks at what the folder holds (git, documentation, skills, services, settings of databases and Prometheus), shows what it found, and writes pressmark.config.yaml with comments. Shows and writes names, never values; where settings hold secrets, it has them masked (redact: true).",
  examples: ["pressmark init", "pressmark init --yes"],
  flags: {
    yes: flag("do not ask", { short: "y" }),
    force: flag("replace the config that is there"),
  },
  async run({ flags: { yes, force } }, world) {
    const { configIn } = await import("../../config/find-config.ts");
    const { draftConfig, isServable } = await import("../../config/draft-config.ts");
    const { packageFolder } = await import("../../config/package-folder.ts");
    const { settingsWithSecrets } = await import("../../config/settings-secrets.ts");
    const { survey } = await import("../../config/survey.ts");
    const { writeChange } = await import("../../config/hosts/settings.ts");
    const { whileAlone } = await import("../../config/while-alone.ts");
    const { stateFolder, systemPathsOf } = await import("../../lib/system-paths.ts");
    const project = world.folder;
    const existing = configIn(project);
    const file = join(project, "pressmark.config.yaml");
    if (existing !== undefined && !(force && existing === file))
      throw invalid(
        existing === file
          ? "pressmark.config.yaml is there already; --force replaces it"
          : `${relative(project, existing)} is there already, and a folder has one config; remove it first`,
      );

    const before = existing === undefined ? undefined : readFileSync(file, "utf8");
    const findings = survey(project);
    const rows = findings.map((finding) => {
      const note = isServable(finding) ? "" : "  (not served yet)";
      return `  ${finding.what}  ${plain(finding.where)}${note}\n`;
    });
    await print(world.out, rows.length === 0 ? "Found files.\n" : `Found:\n${rows.join("")}`);
    const secretsIn = await settingsWithSecrets(project, findings);
    const text = await draftConfig({ project, findings, secretsIn, schema: schemaFor(project, packageFolder()) });
    await print(world.out, `\n${text}\n`);
    if (!(await confirm("Write this to pressmark.config.yaml?", yes, world)))
      throw new ResourceError("cancelled", "nothing was written");
    const state = stateFolder(systemPathsOf(world.env));
    let backup: string | undefined;
    try {
      backup = await whileAlone(file, state, () =>
        writeChange({ file, before, after: text, mode: 0o666 }, join(state, "backups")),
      );
    } catch (cause) {
      if (cause instanceof ResourceError) throw cause;
      throw new ResourceError("denied", "pressmark.config.yaml cannot be written; check who may write to this folder", {
        cause,
      });
    }
    const kept = backup === undefined ? "" : `; what was there before is kept in ${plain(backup)}`;
    await print(
      world.out,
      `wrote pressmark.config.yaml${kept}; "pressmark serve" serves it, "pressmark doctor" checks it\n`,
    );
  },
});

/** From within the project where it is there, so that the line is true on other machines. */
function schemaFor(project: string, installed: string): string {
  const schema = join(installed, "docs", "pressmark.schema.json");
  const way = relative(project, schema).split(sep).join("/");
  return way.startsWith("../") ? schema : `./${way}`;
}
