/** `pressmark config`: shows the resolved config. */
import { resolve } from "node:path";
import type { FaultyMount } from "../../config/config.ts";
import { ResourceError } from "../../errors.ts";
import { defineCommand, flag, optional } from "../command.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "config",
  summary: "Show the resolved config",
  more: "Checks the config and shows it with all defaults filled in. Values from a reference such as ${env:NAME} are shown as dots. The exit code is 2 if a mount has problems, which are printed.",
  examples: ["pressmark config", "pressmark config --json | jq .mounts"],
  takes: { file: optional("Config file. Default: the nearest one in this folder or above", "files") },
  flags: { json: flag("Print JSON, with the permissions that it asks for") },
  async run({ file: named, flags: { json } }, world) {
    const { findConfig } = await import("../../config/find-config.ts");
    const { loadConfig, trustCommand } = await import("../../config/load-config.ts");
    const { asksFor, leftOut, notUsed } = await import("../../config/trust.ts");
    const { stateFolder, systemPathsOf } = await import("../../lib/system-paths.ts");
    const systemPaths = systemPathsOf(world.env);
    const file = named === undefined ? findConfig(world.folder, systemPaths.home) : resolve(world.folder, named);
    if (file === undefined)
      throw new ResourceError("not-found", `no config in this folder or above; "pressmark init" writes one`);

    const state = stateFolder(systemPaths);
    const origin = { file, named: named !== undefined };
    const loaded = await loadConfig(origin, { from: world.folder, env: world.env, stateFolder: state });
    if ("untrusted" in loaded)
      throw new ResourceError(
        "denied",
        `${file} ${asksFor(loaded.untrusted)}, ${notUsed(loaded.untrusted)}; review it, then run: ${trustCommand(file, world.folder)}`,
      );
    const { shown, permissions, withheld, faulty } = loaded.config;
    if (json) {
      const asks = permissions.flatMap(({ reasons, isGranted }) =>
        reasons.map((reason) => ({ asks: reason, trusted: isGranted })),
      );
      await print(
        world.out,
        `${JSON.stringify({ file, ...shown, asks, faulty: faulty.map(({ name, problems }) => ({ name, problems })) }, undefined, 2)}\n`,
      );
      return refuseFaulty(file, faulty);
    }
    const { stringify } = await import("yaml");
    await print(world.out, `# ${plain(file)}\n${stringify(shown)}`);
    for (const permission of withheld)
      await print(
        world.err,
        `pressmark: it ${plain(`${asksFor(permission)}, ${leftOut(permission)}`)}; run: ${trustCommand(file, world.folder)}\n`,
      );
    await refuseFaulty(file, faulty);
  },
});

/** The exit code tells whether all mounts can be used. */
async function refuseFaulty(file: string, faulty: readonly FaultyMount[]): Promise<void> {
  const problems = faulty.flatMap((mount) => (mount.isExpected ? [] : mount.problems));
  if (problems.length === 0) return;
  const { ConfigError } = await import("../../config/problem.ts");
  throw new ConfigError(file, problems);
}
