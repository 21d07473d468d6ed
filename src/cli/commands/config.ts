/** `pressmark config`: what the config comes to. */
import { resolve } from "node:path";
import { ResourceError } from "../../errors.ts";
import { defineCommand, flag, optional } from "../command.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "config",
  summary: "Show what the config comes to",
  more: "Checks the config that counts here and shows it with everything that was left out filled in. What came from a reference such as ${env:NAME} is shown as dots.",
  examples: ["pressmark config", "pressmark config --json | jq .mounts"],
  takes: { file: optional("a config; the nearest one upwards from here unless said", "files") },
  flags: { json: flag("as JSON, with what it asks to be trusted with") },
  async run({ file: named, flags: { json } }, world) {
    const { findConfig } = await import("../../config/find-config.ts");
    const { loadConfig, trustCommand } = await import("../../config/load-config.ts");
    const { asksFor, leftOut, notUsed } = await import("../../config/trust.ts");
    const { homeFolder, stateFolder } = await import("../../server/state-folder.ts");
    const home = homeFolder(world.env);
    const file = named === undefined ? findConfig(world.folder, home) : resolve(world.folder, named);
    if (file === undefined)
      throw new ResourceError("not-found", `there is no config here or above; "pressmark init" writes one`);

    const state = stateFolder({ platform: process.platform, home, env: world.env });
    const origin = { file, named: named !== undefined };
    const loaded = await loadConfig(origin, { from: world.folder, env: world.env, stateFolder: state });
    if ("untrusted" in loaded)
      throw new ResourceError(
        "denied",
        `${file} ${asksFor(loaded.untrusted)}, ${notUsed(loaded.untrusted)}; look at it, then type: ${trustCommand(file, world.folder)}`,
      );
    const { shown, permissions, withheld } = loaded.config;
    if (json) {
      const asks = permissions.flatMap(({ reasons, isGranted }) =>
        reasons.map((reason) => ({ asks: reason, trusted: isGranted })),
      );
      return print(world.out, `${JSON.stringify({ file, ...shown, asks }, undefined, 2)}\n`);
    }
    const { stringify } = await import("yaml");
    await print(world.out, `# ${plain(file)}\n${stringify(shown)}`);
    for (const permission of withheld)
      await print(
        world.err,
        `pressmark: it ${plain(`${asksFor(permission)}, ${leftOut(permission)}`)}; type: ${trustCommand(file, world.folder)}\n`,
      );
  },
});
