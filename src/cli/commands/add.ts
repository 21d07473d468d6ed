/** `pressmark add`: tells a host of this server. */
import { join } from "node:path";
import { invalid, ResourceError } from "../../errors.ts";
import { type HostName, hostNames, type HostScope, scopes } from "../../config/hosts/hosts.ts";
import type { SettingsChange } from "../../config/hosts/settings.ts";
import { tokenReference } from "../../config/hosts/token-reference.ts";
import { lineDiff } from "../../lib/line-diff.ts";
import { defineCommand, flag, one, UsageError, valueFlag } from "../command.ts";
import { confirm } from "../confirm.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "add",
  summary: "Write Pressmark into the settings of a host",
  more: "Shows the change before it is made, leaves everything else in the file as it is, and keeps a copy of what was there. The host starts Pressmark itself (--stdio) unless it is to ask a server that runs (--http).",
  examples: ["pressmark add claude-code", "pressmark add codex --scope user", "pressmark add vscode --http --yes"],
  takes: { host: one("the host to tell", hostNames) },
  flags: {
    scope: valueFlag<HostScope>("SCOPE", "for this project, or for this user everywhere", {
      initial: "project",
      initially: "project",
      offer: scopes,
      parse: toScope,
    }),
    stdio: flag("let the host start it; so it is unless said"),
    http: flag("let the host ask the server that pressmark serve runs"),
    yes: flag("do not ask", { short: "y" }),
  },
  async run({ host: name, flags: { scope, stdio, http, yes } }, world) {
    if (stdio && http) throw new UsageError("a host is told one way; say --stdio or --http, not both");
    const { findInstalledHosts } = await import("../../server/installed-hosts.ts");
    const { stdioConnection } = await import("../../config/hosts/connection.ts");
    const { planChange, writeChange } = await import("../../config/hosts/settings.ts");
    const { whileAlone } = await import("../../config/while-alone.ts");
    const { files, here, state, port, tokenVariable } = await findInstalledHosts(world.folder, world.env);
    if (http && port === 0)
      throw invalid("server.port of the config is 0, so the address is another each time; choose a port first");
    const host = files.find((each) => each.host === name && each.scope === scope);
    if (!host) throw invalid(`${name} keeps no settings for the scope ${scope}`);

    const connection = http ? { kind: "http" as const, url: here.url, tokenVariable } : stdioConnection(host, here);
    const alone = <T>(work: () => T | Promise<T>) => whileAlone(host.file, state, work);
    const write = (change: SettingsChange) => writeChange(change, join(state, "backups"));

    async function plan(): Promise<SettingsChange | undefined> {
      const change = planChange(host!, connection);
      if (change.after === change.before) {
        await print(world.out, `${host!.title} knows Pressmark already: ${plain(host!.file)}\n`);
        return undefined;
      }
      const isNew = change.before === undefined ? " (new)" : "";
      await print(world.out, `${plain(host!.file)}${isNew}\n${shown(change.before ?? "", change.after)}`);
      return change;
    }

    let backup: string | undefined;
    if (yes) {
      // No one is asked, so that others need not wait for long: they see what was written.
      const isWritten = await alone(async () => {
        const change = await plan();
        if (change) backup = write(change);
        return change !== undefined;
      });
      if (!isWritten) return;
    } else {
      const change = await plan();
      if (!change) return;
      if (!(await confirm(`Write this for ${host.title}?`, yes, world)))
        throw new ResourceError("cancelled", "nothing was written");
      backup = await alone(() => write(change));
    }
    const kept = backup === undefined ? "" : `; what was there before is kept in ${plain(backup)}`;
    const next = http ? ` Start the server with "pressmark serve".${toSay(host.host, tokenVariable)}` : "";
    await print(
      world.out,
      `wrote ${plain(host.file)}${kept}. Start ${host.title} anew, or let it read its settings again.${next}\n`,
    );
  },
});

/** How the host comes by the token, where callers must send one. */
function toSay(host: HostName, variable: string | undefined): string {
  if (variable === undefined) return "";
  if (host === "vscode") return " VS Code will ask you for the token.";
  if (tokenReference(host, variable)) return ` The host takes the token from ${variable}, so set that where it starts.`;
  return " This host knows no reference to a token: add the header Authorization: Bearer to its settings by hand.";
}

function shown(before: string, after: string): string {
  return lineDiff(before, after)
    .split("\n")
    .map((line) => `  ${plain(line)}`.trimEnd())
    .join("\n");
}

function toScope(text: string): HostScope {
  const scope = scopes.find((each) => each === text);
  if (scope === undefined) throw new UsageError(`takes ${scopes.join(" or ")}`);
  return scope;
}
