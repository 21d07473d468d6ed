/** `pressmark trust`: grants permissions to a config that was found. */
import { dirname, resolve } from "node:path";
import type { Permission } from "../../config/trust.ts";
import { quote, ResourceError } from "../../errors.ts";
import { defineCommand, flag, optional } from "../command.ts";
import { confirm } from "../confirm.ts";
import { plain, print } from "../print.ts";
import { recordEvent } from "../record-event.ts";

/** Longest list that a person can be expected to read before answering. */
const maxShown = 20_000;

export default defineCommand({
  name: "trust",
  summary: "Grant the permissions that a folder's config asks for",
  more: "A config that was found, and not named with --config, may not run a program, read the environment, reach beyond its own folder, serve hidden or ignored files, or accept connections from other machines until it is trusted. This command shows the permissions that it asks for, then stores your consent. Trust covers exactly what was shown: when a mount, a section, or a program that it names changes, that part is left out and asked for again.",
  examples: ["pressmark trust", "pressmark trust ../other-project --yes", "pressmark trust --forget"],
  takes: { folder: optional("Folder of the config, or a folder below it. Default: the current folder", "folders") },
  flags: {
    yes: flag("Do not ask for confirmation", { short: "y" }),
    forget: flag("Revoke the trust"),
  },
  async run({ folder = ".", flags: { yes, forget } }, world) {
    const { findConfig } = await import("../../config/find-config.ts");
    const { grantPermissions, examinePermissions } = await import("../../config/grant-permissions.ts");
    const { createTrustStore } = await import("../../config/trust.ts");
    const { stateFolder, systemPathsOf } = await import("../../lib/system-paths.ts");
    const systemPaths = systemPathsOf(world.env);
    const state = stateFolder(systemPaths);
    const from = resolve(world.folder, folder);
    const file = findConfig(from, systemPaths.home);
    if (file === undefined)
      throw new ResourceError("not-found", `no config in ${quote(from)} or above; there is nothing to trust`);

    const around = { from: world.folder, env: world.env, stateFolder: state };
    async function record(detail: string): Promise<void> {
      const { loadConfig } = await import("../../config/load-config.ts");
      // No server runs with a config that cannot be loaded.
      const loaded = await loadConfig({ file: file!, named: false }, around).catch(() => undefined);
      if (!loaded || "untrusted" in loaded) return;
      const event = { what: "trust", caller: "local", outcome: "allowed", detail } as const;
      const { withShared } = await import("../config-state.ts");
      const recorded = { server: loaded.config.server, file: file! };
      if (!recorded.server.audit) return;
      await withShared(recorded, world, (shared) => recordEvent({ ...recorded, shared }, state, event));
    }
    if (forget) {
      const had = createTrustStore(state).forget(file);
      if (had) await record("revoked");
      return print(world.out, `${plain(file)} ${had ? "is no longer trusted" : "was not trusted"}\n`);
    }
    const { permissions: requested, faulty } = await examinePermissions(file, around);
    const problems = faulty.flatMap((mount) => mount.problems);
    for (const problem of problems)
      await print(world.err, `pressmark: ${plain(problem)}; the mount cannot be trusted before this is fixed\n`);
    if (requested.length === 0 && problems.length > 0)
      throw new ResourceError("invalid", "nothing else needs trust; fix the problems, then run this command again");
    if (requested.length === 0)
      return print(world.out, `${plain(file)} asks for nothing beyond its own folder, so it needs no trust\n`);
    const rows = requested.flatMap(rowsOf).join("");
    if (rows.length > maxShown)
      throw new ResourceError(
        "denied",
        `${plain(file)} asks for too much to be shown (${rows.length} characters, of at most ${maxShown}), so it cannot be trusted; pass it with --config instead`,
      );
    await print(world.out, `${plain(file)}\n${rows}`);
    if (requested.every(({ isGranted }) => isGranted)) return;
    if (requested.every(({ isGranted, refused }) => isGranted || refused !== undefined))
      throw new ResourceError(
        "denied",
        "the parts that are not trusted yet cannot be trusted; pass the config with --config instead",
      );
    await confirm(`Trust the config of ${plain(dirname(file))}?`, yes, world, "nothing was trusted");
    await grantPermissions(file, requested, around);
    const granted = requested.filter(({ isGranted, refused }) => !isGranted && refused === undefined);
    await record(`granted ${granted.map(({ part }) => part).join(", ")}`);
    await print(world.out, `trusted; revoke it with "pressmark trust --forget"\n`);
  },
});

/** The config's text comes first, so that it cannot hide the reasons below it. */
function rowsOf({ part, shown, reasons, isGranted, refused, outdated }: Permission): string[] {
  const state = isGranted ? "trusted" : refused !== undefined ? "refused" : outdated !== undefined ? "changed" : "new";
  const why =
    refused === undefined ? outdated : `it ${refused}, so it cannot be trusted; pass the config with --config instead`;
  return [
    `  ${state.padEnd(7)}  ${plain(part)}\n`,
    ...(refused === undefined ? shown.map((line) => `             ${plain(line)}\n`) : []),
    ...(refused === undefined ? reasons.map((reason) => `           → ${plain(reason)}\n`) : []),
    ...(why === undefined ? [] : [`           ! ${plain(why)}\n`]),
  ];
}
