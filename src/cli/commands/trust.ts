/** `pressmark trust`: lets a config that was found do what it asks for. */
import { dirname, resolve } from "node:path";
import { quote, ResourceError } from "../../errors.ts";
import { defineCommand, flag, optional } from "../command.ts";
import { confirm } from "../confirm.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "trust",
  summary: "Let the config of a folder do what it asks for",
  more: "A config that was found, and not named with --config, may not run a program, reach beyond its own folder or open a door to other machines until it is trusted. This shows what it asks for, then remembers that it may. Trust is for what was shown: when the config asks for more, or a config in TypeScript changes, it is asked for again.",
  examples: ["pressmark trust", "pressmark trust ../other-project --yes", "pressmark trust --forget"],
  takes: { folder: optional("the folder of the config, or one below it; the current one unless said", "folders") },
  flags: {
    yes: flag("do not ask", { short: "y" }),
    forget: flag("take the trust back"),
  },
  async run({ folder = ".", flags: { yes, forget } }, world) {
    const { findConfig } = await import("../../config/find-config.ts");
    const { permissionsAsked } = await import("../../config/load-config.ts");
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

    const store = createTrustStore(state);
    if (forget) {
      const had = store.forget(file);
      return print(world.out, `${plain(file)} ${had ? "is trusted no longer" : "was not trusted"}\n`);
    }
    const asked = await permissionsAsked(file, { from: world.folder, env: world.env, stateFolder: state });
    if (asked.length === 0)
      return print(world.out, `${plain(file)} asks for nothing beyond its own folder, so it needs no trust\n`);
    const granted = store.granted(file);
    const rows = asked.map(
      ({ key, sentence }) => `  ${granted.has(key) ? "trusted" : "new    "}  ${plain(sentence)}\n`,
    );
    await print(world.out, `${plain(file)}\n${rows.join("")}`);
    if (asked.every(({ key }) => granted.has(key)) && asked.length === granted.size) return;
    if (!(await confirm(`Trust the config of ${plain(dirname(file))}?`, yes, world)))
      throw new ResourceError("cancelled", "nothing was trusted");
    store.grant(file, asked);
    await print(world.out, `trusted; "pressmark trust --forget" takes it back\n`);
  },
});
