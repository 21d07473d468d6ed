/** `pressmark add`: adds this server to the settings of a host. */
import { join } from "node:path";
import { invalid } from "../../errors.ts";
import { type HostName, hostNames, scopes } from "../../config/hosts/hosts.ts";
import type { SettingsChange } from "../../config/hosts/settings.ts";
import { tokenReference } from "../../config/hosts/token-reference.ts";
import { lineDiff } from "../../lib/line-diff.ts";
import { choiceFlag, defineCommand, flag, one, UsageError } from "../command.ts";
import { confirm } from "../confirm.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "add",
  summary: "Add Pressmark to the settings of a host",
  more: "Shows the change before writing it, leaves the rest of the file unchanged, and keeps a backup of the old file. The host starts Pressmark itself (--stdio), or connects to a running server (--http).",
  examples: ["pressmark add claude-code", "pressmark add codex --scope user", "pressmark add vscode --http --yes"],
  takes: { host: one("Host to configure", hostNames) },
  flags: {
    scope: choiceFlag("SCOPE", "This project, or all projects of this user", { choices: scopes, initial: "project" }),
    stdio: flag("Let the host start Pressmark. This is the default"),
    http: flag("Let the host connect to the server that pressmark serve runs"),
    yes: flag("Do not ask for confirmation", { short: "y" }),
  },
  async run({ host: name, flags: { scope, stdio, http, yes } }, world) {
    if (stdio && http) throw new UsageError("choose --stdio or --http, not both");
    const { findInstalledHosts } = await import("../../server/installed-hosts.ts");
    const { stdioConnection } = await import("../../config/hosts/connection.ts");
    const { planChange, writeChange } = await import("../../config/hosts/settings.ts");
    const { whileAlone } = await import("../../config/while-alone.ts");
    const { files, here, state, port, tokenVariable } = await findInstalledHosts(world.folder, world.env);
    if (http && port === 0)
      throw invalid("server.port in the config is 0, so the address changes at every start; choose a fixed port first");
    const host = files.find((each) => each.host === name && each.scope === scope);
    if (!host) throw invalid(`${name} has no settings for the scope ${scope}`);

    const connection = http ? { kind: "http" as const, url: here.url, tokenVariable } : stdioConnection(host, here);
    const alone = <T>(work: () => T | Promise<T>) => whileAlone(host.file, state, work);
    const write = (change: SettingsChange) => writeChange(change, join(state, "backups"));

    async function plan(): Promise<SettingsChange | undefined> {
      const change = planChange(host!, connection);
      if (change.after === change.before) {
        await print(world.out, `${host!.title} is already configured: ${plain(host!.file)}\n`);
        return undefined;
      }
      const isNew = change.before === undefined ? " (new)" : "";
      await print(world.out, `${plain(host!.file)}${isNew}\n${shown(change.before ?? "", change.after)}`);
      return change;
    }

    let backup: string | undefined;
    if (yes) {
      // Inside the lock nobody is asked, so that it is held only briefly.
      const isWritten = await alone(async () => {
        const change = await plan();
        if (change) backup = write(change);
        return change !== undefined;
      });
      if (!isWritten) return;
    } else {
      const change = await plan();
      if (!change) return;
      await confirm(`Write this for ${host.title}?`, yes, world, "nothing was written");
      backup = await alone(() => write(change));
    }
    const saved = backup === undefined ? "" : `; the old file is saved as ${plain(backup)}`;
    const next = http ? ` Start the server with "pressmark serve".${toSay(host.host, tokenVariable)}` : "";
    await print(
      world.out,
      `wrote ${plain(host.file)}${saved}. Restart ${host.title}, or let it reload its settings.${next}\n`,
    );
  },
});

/** How the host gets the token, if callers must send one. */
function toSay(host: HostName, variable: string | undefined): string {
  if (variable === undefined) return "";
  if (host === "vscode") return " VS Code will ask you for the token.";
  if (tokenReference(host, variable))
    return ` The host reads the token from ${variable}: set that variable where the host starts.`;
  return " This host cannot read a token from a variable: add the header Authorization: Bearer to its settings by hand.";
}

function shown(before: string, after: string): string {
  return lineDiff(before, after)
    .split("\n")
    .map((line) => `  ${plain(line)}`.trimEnd())
    .join("\n");
}
