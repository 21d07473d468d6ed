/** `pressmark trust`: lets a config that was found do what it asks for. */
import { dirname, resolve } from "node:path";
import type { Permission } from "../../config/trust.ts";
import { quote, ResourceError } from "../../errors.ts";
import { defineCommand, flag, optional } from "../command.ts";
import { confirm } from "../confirm.ts";
import { plain, print } from "../print.ts";

/** Nobody reads more than this before they answer. */
const maxShown = 20_000;

export default defineCommand({
  name: "trust",
  summary: "Let the config of a folder do what it asks for",
  more: "A config that was found, and not named with --config, may not run a program, read the environment, reach beyond its own folder, serve what is hidden or ignored, or open a door to other machines until it is trusted. This shows what it asks for, then remembers that it may. Trust is for what was shown: when a mount or a section changes, or a program that it names, it is left out and asked for again.",
  examples: ["pressmark trust", "pressmark trust ../other-project --yes", "pressmark trust --forget"],
  takes: { folder: optional("the folder of the config, or one below it; the current one unless said", "folders") },
  flags: {
    yes: flag("do not ask", { short: "y" }),
    forget: flag("take the trust back"),
  },
  async run({ folder = ".", flags: { yes, forget } }, world) {
    const { findConfig } = await import("../../config/find-config.ts");
    const { grantPermissions, permissionsAsked } = await import("../../config/grant-permissions.ts");
    const { createTrustStore } = await import("../../config/trust.ts");
    const { homeFolder, stateFolder } = await import("../../server/state-folder.ts");
    const home = homeFolder(world.env);
    const state = stateFolder({ platform: process.platform, home, env: world.env });
    const from = resolve(world.folder, folder);
    const file = findConfig(from, home);
    if (file === undefined)
      throw new ResourceError(
        "not-found",
        `there is no config in ${quote(from)} or above it, so there is nothing to trust`,
      );

    if (forget) {
      const had = createTrustStore(state).forget(file);
      return print(world.out, `${plain(file)} ${had ? "is trusted no longer" : "was not trusted"}\n`);
    }
    const around = { from: world.folder, env: world.env, stateFolder: state };
    const asked = await permissionsAsked(file, around);
    if (asked.length === 0)
      return print(world.out, `${plain(file)} asks for nothing beyond its own folder, so it needs no trust\n`);
    const rows = asked.flatMap(rowsOf).join("");
    if (rows.length > maxShown)
      throw new ResourceError(
        "denied",
        `${plain(file)} asks for too much to be shown (${rows.length} characters, of at most ${maxShown}), so it cannot be trusted; name it with --config`,
      );
    await print(world.out, `${plain(file)}\n${rows}`);
    if (asked.every(({ isGranted }) => isGranted)) return;
    if (asked.every(({ isGranted, refused }) => isGranted || refused !== undefined))
      throw new ResourceError("denied", "what is not trusted yet cannot be trusted; name the config with --config");
    if (!(await confirm(`Trust the config of ${plain(dirname(file))}?`, yes, world)))
      throw new ResourceError("cancelled", "nothing was trusted");
    await grantPermissions(file, asked, around);
    await print(world.out, `trusted; "pressmark trust --forget" takes it back\n`);
  },
});

/** What is written comes first, so that nothing can be put in front of what acts. */
function rowsOf({ part, shown, reasons, isGranted, refused, outdated }: Permission): string[] {
  const state = isGranted ? "trusted" : refused !== undefined ? "refused" : outdated !== undefined ? "changed" : "new";
  const why =
    refused === undefined ? outdated : `it ${refused}, so it cannot be trusted; name the config with --config`;
  return [
    `  ${state.padEnd(7)}  ${plain(part)}\n`,
    ...(refused === undefined ? shown.map((line) => `             ${plain(line)}\n`) : []),
    ...(refused === undefined ? reasons.map((reason) => `           → ${plain(reason)}\n`) : []),
    ...(why === undefined ? [] : [`           ! ${plain(why)}\n`]),
  ];
}
